import { goTool } from '../../test/support/go-tools.ts';
import { runJson, runScript } from '../support/run-json.ts';
import { median, rounded } from '../support/statistics.ts';
import { difference, type PodRequests, podRequests, total } from './metrics.ts';

export interface Server {
  readonly url: string;
  readonly token: string;
}

/** Who does the work: this manager, the Go manager, or bare patches, 16 at once and computed by Go: the apiserver's ceiling. */
export type Contender = 'ours' | 'go' | 'raw';

export interface Workload {
  readonly mode: 'manager' | 'latency';
  readonly pods: number;
  /** Rounds inside one process; medians are taken over them. */
  readonly repeats: number;
  readonly qps?: number;
  /** Pods at once, where it is not the default. Ours alone. */
  readonly concurrency?: number;
}

export interface Run {
  readonly seconds: number;
  readonly cpuMsAnUpdate: number;
  readonly requestsAnUpdate: number;
  readonly requests: PodRequests;
  readonly p50ms: number;
  readonly p99ms: number;
}

interface WorkerOutput {
  readonly seconds: readonly number[];
  readonly cpuSeconds: readonly number[];
  readonly p50ms: number;
  readonly p99ms: number;
}

/** One run of one contender in a process of its own, with the apiserver's counters read before and after. */
export async function run(
  server: Server,
  contender: Contender,
  { mode, pods, repeats, qps, concurrency }: Workload,
): Promise<Run> {
  const before = await podRequests(server.url, server.token);
  const shared = ['pods', String(pods), 'rounds', String(repeats), ...(qps === undefined ? [] : ['qps', String(qps)])];
  const flags = (dashes: string, more: readonly string[]): string[] =>
    [...shared, ...more].map((word, index) => (index % 2 === 0 ? `${dashes}${word}` : word));
  const width = concurrency === undefined ? [] : ['concurrency', String(concurrency), 'connections', String(concurrency)];
  process.env.BENCH_TOKEN = server.token;
  const output =
    contender === 'ours'
      ? await runScript<WorkerOutput>('cluster/worker.ts', flags('--', ['mode', mode, 'server', server.url, ...width]))
      : await runJson<WorkerOutput>(
          await goTool('peer'),
          flags('-', ['mode', contender === 'raw' ? 'raw' : mode, 'server', server.url, 'token', server.token]),
        );
  const requests = difference(await podRequests(server.url, server.token), before);
  const updates = pods * repeats;
  return {
    seconds: median(output.seconds),
    cpuMsAnUpdate: (median(output.cpuSeconds) * 1000) / pods,
    requestsAnUpdate: total(requests) / updates,
    requests,
    p50ms: output.p50ms,
    p99ms: output.p99ms,
  };
}

export interface Comparison extends Workload {
  /** Medians over the rounds. */
  readonly results: Readonly<Partial<Record<Contender, Run>>>;
  /** Medians of the ratios within one round; undefined for a contender that was not there. */
  readonly goToOursSeconds: number | undefined;
  readonly oursToRawSeconds: number | undefined;
  readonly oursToGoCpu: number | undefined;
  readonly oursToGoP50: number | undefined;
}

/** The contenders in turn, `rounds` times, so that whatever else the machine does hits all of them. */
export async function compare(
  server: Server,
  workload: Workload,
  { contenders, rounds }: { contenders: readonly Contender[]; rounds: number },
): Promise<Comparison> {
  const runs: Record<Contender, Run[]> = { ours: [], go: [], raw: [] };
  for (let round = 0; round < rounds; round++) {
    // each begins as often as the others
    const turn = contenders.map((_, index) => contenders[(index + round) % contenders.length] as Contender);
    for (const contender of turn) runs[contender].push(await run(server, contender, workload));
    process.stderr.write(
      `${workload.mode}, ${workload.pods} pods, qps ${workload.qps ?? '-'}: round ${round + 1} of ${rounds}\n`,
    );
  }
  const ratio = (a: Contender, b: Contender, value: (run: Run) => number): number | undefined =>
    runs[a].length === 0 || runs[b].length === 0
      ? undefined
      : rounded(
          median(
            runs[a].flatMap((one, index) => {
              const other = runs[b][index];
              return other === undefined ? [] : [value(one) / value(other)];
            }),
          ),
        );
  return {
    ...workload,
    results: Object.fromEntries(contenders.map((contender) => [contender, mediansOf(runs[contender])])),
    goToOursSeconds: ratio('go', 'ours', ({ seconds }) => seconds),
    oursToRawSeconds: ratio('ours', 'raw', ({ seconds }) => seconds),
    oursToGoCpu: ratio('ours', 'go', ({ cpuMsAnUpdate }) => cpuMsAnUpdate),
    oursToGoP50: ratio('ours', 'go', ({ p50ms }) => p50ms),
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
