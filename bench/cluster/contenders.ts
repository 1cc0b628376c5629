import { goTool } from '../../test/support/go-tools.ts';
import { runJson, runScript } from '../support/run-json.ts';

/**
 * Who does the work: this manager; the Go manager as the kubelet configures it (protobuf); the Go manager with JSON; or bare
 * patches, 16 at once and computed by Go, which show the most the apiserver can do.
 */
export type Contender = 'ours' | 'goProtobuf' | 'goJson' | 'raw';

/** The Go manager twice, the one that bars are judged against first. */
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
  /** Pods at once, where it is not the default. Ours alone. */
  readonly concurrency?: number;
}

/** What a worker and the peer print. */
export interface WorkerOutput {
  readonly seconds: readonly number[];
  readonly cpuSeconds: readonly number[];
  readonly p50ms: number;
  readonly p99ms: number;
}

interface PeerOutput extends WorkerOutput {
  /** How many answers came in each content type. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface Address {
  readonly url: string;
  readonly token: string;
}

/** Lets a contender do the work in a process of its own. */
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
  if (others.length > 0) throw new Error(`The peer was to use ${contentType}, and was answered with ${others.join(', ')}`);
  return output;
}

function flags(dashes: string, values: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`${dashes}${name}`, String(value)]);
}
