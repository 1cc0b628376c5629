import { fileURLToPath } from 'node:url';
import { Kit } from '../../test/support/kit.ts';
import { median, percentile, rounded } from '../support/statistics.ts';
import { type Agent, agents, commandOf } from './agents.ts';
import { type RequestCounts, requestsIn } from './requests.ts';
import type { ScriptOutput } from './script.ts';

export interface AgentRun {
  readonly startP50Ms: number;
  readonly startP99Ms: number;
  readonly goneP50Ms: number;
  readonly burstStartP50Ms: number;
  readonly burstStartP99Ms: number;
  readonly burstGoneP50Ms: number;
  readonly requestsALife: number;
  readonly cpuSeconds: number;
  /** By the number of pods. */
  readonly memoryMiB: Readonly<Record<number, number>>;
  readonly restCpuSecondsAMinute: Readonly<Record<number, number>>;
  /** Requests of one pod life by what they did. */
  readonly requests: RequestCounts;
}

export interface ScriptSize {
  readonly singles: number;
  readonly burst: number;
  readonly many: number;
}

const script = fileURLToPath(new URL('script.ts', import.meta.url));
const image = 'registry.k8s.io/pause:3.10.2';

/** One agent in a kit of its own. */
async function measure(agent: Agent, size: ScriptSize): Promise<AgentRun> {
  await using kit = await Kit.start({ audited: true });
  const args = { command: commandOf(agent, kit.run), log: `${kit.run}/log/agent.log`, image, ...size };
  const flags = Object.entries(args).map(([name, value]) => `--${name}=${value}`);
  const text = await kit.enter([process.execPath, '--max-old-space-size=256', script, ...flags]);
  const output = JSON.parse(text.trim().split('\n').at(-1) ?? '') as ScriptOutput;
  return summarize(output, await kit.read('audit.log'), size);
}

function summarize({ single, burst, cpuSeconds, rest }: ScriptOutput, auditLog: string, { singles }: ScriptSize): AgentRun {
  const requests = requestsIn(auditLog, single.namespace);
  const byPods = (value: (row: ScriptOutput['rest'][number]) => number) =>
    Object.fromEntries(rest.map((row) => [row.pods, value(row)]));
  return {
    startP50Ms: median(single.startMs),
    startP99Ms: percentile(single.startMs, 0.99),
    goneP50Ms: median(single.goneMs),
    burstStartP50Ms: median(burst.startMs),
    burstStartP99Ms: percentile(burst.startMs, 0.99),
    burstGoneP50Ms: median(burst.goneMs),
    requestsALife: requests.total / singles,
    cpuSeconds: cpuSeconds.single + cpuSeconds.burst,
    memoryMiB: byPods(({ memoryMiB }) => memoryMiB),
    restCpuSecondsAMinute: byPods(({ cpuSecondsAMinute }) => cpuSecondsAMinute),
    requests: {
      total: requests.total / singles,
      kinds: Object.fromEntries(Object.entries(requests.kinds).map(([kind, count]) => [kind, rounded(count / singles)])),
    },
  };
}

/** Agents in turn, `rounds` times, so that other work on the machine meets each of them. */
export async function compareAgents(chosen: readonly Agent[], size: ScriptSize, rounds: number) {
  const runs: Record<Agent, AgentRun[]> = { kubelet: [], ours: [] };
  for (let round = 0; round < rounds; round++) {
    const turn = round % 2 === 0 ? chosen : chosen.toReversed();
    for (const agent of turn) {
      runs[agent].push(await measure(agent, size));
      process.stderr.write(`${agent}: round ${round + 1} of ${rounds}\n`);
    }
  }
  return Object.fromEntries(agents.filter((agent) => runs[agent].length > 0).map((agent) => [agent, mediansOf(runs[agent])]));
}

function mediansOf(runs: readonly AgentRun[]): AgentRun {
  const [first] = runs;
  if (first === undefined) throw new Error('Nothing was measured');
  const merged = (values: readonly unknown[]): unknown => {
    if (typeof values[0] === 'number') return rounded(median(values as number[]));
    const keys = Object.keys(values[0] as object);
    return Object.fromEntries(
      keys.map((key) => [key, merged(values.map((value) => (value as Record<string, unknown>)[key] ?? 0))]),
    );
  };
  return merged(runs) as AgentRun;
}
