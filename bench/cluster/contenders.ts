import { goTool } from '../../test/support/go-tools.ts';
import { runJson, runScript } from '../support/run-json.ts';

/**
 * The programs that are compared: this manager; the Go manager as the kubelet configures it (protobuf); the Go manager with
 * JSON; and bare patches, sent by a Go program 16 at once, which show the apiserver's limit.
 */
export type Contender = 'ours' | 'goProtobuf' | 'goJson' | 'raw';

/** The Go manager in its two forms. The bars compare with the first. */
export const rivals = ['goProtobuf', 'goJson'] as const;
export type Rival = (typeof rivals)[number];

export const namesOfContenders: Readonly<Record<Contender, string>> = {
  ours: 'pod-status-manager',
  goProtobuf: 'kubelet (Go, protobuf)',
  goJson: 'kubelet (Go, JSON)',
  raw: 'bare patches (Go, protobuf)',
};

export interface Workload {
  readonly mode: 'manager' | 'latency';
  readonly pods: number;
  /** Rounds inside one process; medians are taken over them. */
  readonly repeats: number;
  readonly qps?: number;
  /** Pods at once; without it the default. Only for this manager. */
  readonly concurrency?: number;
}

/** The JSON that a worker and the peer print. */
export interface WorkerOutput {
  readonly seconds: readonly number[];
  readonly cpuSeconds: readonly number[];
  readonly p50ms: number;
  readonly p99ms: number;
}

interface PeerOutput extends WorkerOutput {
  /** The number of answers by content type. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface Address {
  readonly url: string;
  readonly token: string;
}

/** Runs the workload with one contender, in a separate process. */
export async function play(contender: Contender, workload: Workload, { url, token }: Address): Promise<WorkerOutput> {
  const { mode, pods, repeats, qps, concurrency } = workload;
  const shared = { server: url, pods, rounds: repeats, ...(qps !== undefined && { qps }) };
  if (contender === 'ours') {
    process.env.BENCH_TOKEN = token;
    const width = concurrency === undefined ? {} : { concurrency, connections: concurrency };
    return runScript<WorkerOutput>('cluster/worker.ts', flags('--', { ...shared, mode, ...width }));
  }
  const contentType = contender === 'goJson' ? 'json' : 'protobuf';
  const given = { ...shared, token, mode: contender === 'raw' ? 'raw' : mode, 'content-type': contentType };
  const output = await runJson<PeerOutput>(await goTool('peer'), flags('-', given));
  const others = Object.keys(output.answers).filter((type) => !type.endsWith(contentType));
  if (others.length > 0) throw new Error(`Expected the peer to get ${contentType} only, got also ${others.join(', ')}`);
  return output;
}

function flags(dashes: string, values: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`${dashes}${name}`, String(value)]);
}
