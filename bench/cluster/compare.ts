import type { KubeConfig } from '@kubernetes/client-node';
import { median, rounded } from '../support/statistics.ts';
import { type Address, type Contender, play, type Rival, rivals, type Workload } from './contenders.ts';
import { difference, type PodRequests, podRequests, total } from './metrics.ts';

export interface Server extends Address {
  kubeConfig(): KubeConfig;
}

export interface Run {
  readonly seconds: number;
  readonly cpuMsAnUpdate: number;
  readonly requestsAnUpdate: number;
  readonly requests: PodRequests;
  readonly p50ms: number;
  readonly p99ms: number;
}

/** One run of one contender, with the apiserver's counters read before and after. */
export async function run(server: Server, contender: Contender, workload: Workload): Promise<Run> {
  const before = await podRequests(server.kubeConfig());
  const output = await play(contender, workload, server);
  const requests = difference(await podRequests(server.kubeConfig()), before);
  return {
    seconds: median(output.seconds),
    cpuMsAnUpdate: (median(output.cpuSeconds) * 1000) / workload.pods,
    requestsAnUpdate: total(requests) / (workload.pods * workload.repeats),
    requests,
    p50ms: output.p50ms,
    p99ms: output.p99ms,
  };
}

/** This manager compared with one rival: medians of the ratios within one round. */
export interface Ratios {
  readonly rivalToOursSeconds: number;
  readonly oursToRivalCpu: number;
  readonly oursToRivalP50: number;
}

export interface Comparison extends Workload {
  /** Medians over the rounds. */
  readonly results: Readonly<Partial<Record<Contender, Run>>>;
  readonly ratios: Readonly<Record<Rival, Ratios>>;
  /** Undefined when bare patches were not measured. */
  readonly oursToRawSeconds: number | undefined;
}

/** Runs the contenders in turn, `rounds` times, so that other work on the machine affects all of them. */
export async function compare(
  server: Server,
  workload: Workload,
  { rounds, withRaw = false }: { rounds: number; withRaw?: boolean },
): Promise<Comparison> {
  const contenders: Contender[] = ['ours', ...rivals, ...(withRaw ? (['raw'] as const) : [])];
  const runs: Record<Contender, Run[]> = { ours: [], goProtobuf: [], goJson: [], raw: [] };
  for (let round = 0; round < rounds; round++) {
    // each contender goes first in as many rounds as the others
    const turn = contenders.map((_, index) => contenders[(index + round) % contenders.length] as Contender);
    for (const contender of turn) runs[contender].push(await run(server, contender, workload));
    process.stderr.write(
      `${workload.mode}, ${workload.pods} pods, qps ${workload.qps ?? '-'}: round ${round + 1} of ${rounds}\n`,
    );
  }
  const ratio = (a: Contender, b: Contender, value: (run: Run) => number): number =>
    rounded(median(runs[a].map((one, round) => value(one) / value(runs[b][round] as Run))));
  const ratiosTo = (rival: Rival): Ratios => ({
    rivalToOursSeconds: ratio(rival, 'ours', ({ seconds }) => seconds),
    oursToRivalCpu: ratio('ours', rival, ({ cpuMsAnUpdate }) => cpuMsAnUpdate),
    oursToRivalP50: ratio('ours', rival, ({ p50ms }) => p50ms),
  });
  return {
    ...workload,
    results: Object.fromEntries(contenders.map((contender) => [contender, mediansOf(runs[contender])])),
    ratios: { goProtobuf: ratiosTo('goProtobuf'), goJson: ratiosTo('goJson') },
    oursToRawSeconds: withRaw ? ratio('ours', 'raw', ({ seconds }) => seconds) : undefined,
  };
}

function mediansOf(runs: readonly Run[]): Run {
  const over = (value: (run: Run) => number): number => rounded(median(runs.map(value)));
  return {
    seconds: over(({ seconds }) => seconds),
    cpuMsAnUpdate: over(({ cpuMsAnUpdate }) => cpuMsAnUpdate),
    requestsAnUpdate: over(({ requestsAnUpdate }) => requestsAnUpdate),
    requests: {
      GET: over(({ requests }) => requests.GET),
      PATCH: over(({ requests }) => requests.PATCH),
      DELETE: over(({ requests }) => requests.DELETE),
    },
    p50ms: over(({ p50ms }) => p50ms),
    p99ms: over(({ p99ms }) => p99ms),
  };
}
