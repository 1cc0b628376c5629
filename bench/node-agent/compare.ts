import { fileURLToPath } from 'node:url';
import { Kit } from '../../test/support/kit.ts';
import { median, percentile, rounded } from '../support/statistics.ts';
import { type Agent, agents, commandOf, pauseImage } from './agents.ts';
import { type RequestCounts, requestsIn } from './requests.ts';
import type { ScriptOutput } from './script.ts';

export interface AgentRun {
  /** From the start of the agent until its node is Ready. */
  readonly readyMs: number;
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

/** One agent in a kit of its own. */
async function measure(agent: Agent, size: ScriptSize): Promise<AgentRun> {
  await using kit = await Kit.start({ audited: true });
  const args = { command: commandOf(agent, kit.run), log: `${kit.run}/log/agent.log`, image: pauseImage, ...size };
  const output = await runInKit<ScriptOutput>(kit, 'script.ts', args);
  return summarize(output, await kit.read('audit.log'), size);
}

/** Runs a script of this folder in the kit with these flags, and resolves with the JSON of its last line. */
export async function runInKit<T>(kit: Kit, name: string, args: Readonly<Record<string, unknown>>): Promise<T> {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const flags = Object.entries(args).map(([flag, value]) => `--${flag}=${value}`);
  const text = await kit.enter([process.execPath, '--max-old-space-size=256', script, ...flags]);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as T;
}

function summarize(
  { readyMs, single, burst, cpuSeconds, rest }: ScriptOutput,
  auditLog: string,
  { singles }: ScriptSize,
): AgentRun {
  const requests = requestsIn(auditLog, single.namespace);
  const byPods = (value: (row: ScriptOutput['rest'][number]) => number) =>
    Object.fromEntries(rest.map((row) => [row.pods, value(row)]));
  return {
    readyMs,
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
