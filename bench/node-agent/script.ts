// Inside the kit: starts an agent, plays the same pods with each agent, and prints what it measured as JSON.
import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { AdminClient } from '../../test/support/admin-client.ts';
import { type Usage, usageOf } from '../support/usage.ts';
import { AgentPods } from './agent-pods.ts';
import { type StartedAgent, startAgent } from './started-agent.ts';

const { values } = parseArgs({
  options: {
    command: { type: 'string', default: '' },
    log: { type: 'string', default: '/dev/null' },
    image: { type: 'string', default: '' },
    singles: { type: 'string', default: '20' },
    burst: { type: 'string', default: '30' },
    many: { type: 'string', default: '100' },
    rest: { type: 'string', default: '5' },
  },
});

/** The JSON that is printed. Times are milliseconds. */
export interface ScriptOutput {
  /** From the start of the agent until its node is Ready. */
  readonly readyMs: number;
  /** One pod after the other: from the request that creates it until the watch says Ready. */
  readonly single: { readonly namespace: string; readonly startMs: readonly number[]; readonly goneMs: readonly number[] };
  /** All at once. */
  readonly burst: { readonly namespace: string; readonly startMs: readonly number[]; readonly goneMs: readonly number[] };
  /** Processor seconds of the agent for one pod after the other, and for all at once. */
  readonly cpuSeconds: { readonly single: number; readonly burst: number };
  /** At rest with so many pods: memory, and processor seconds a minute. */
  readonly rest: readonly { readonly pods: number; readonly memoryMiB: number; readonly cpuSecondsAMinute: number }[];
}

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(process.env.KUBECONFIG ?? '');
const admin = new AdminClient(kubeConfig);

/** Processor seconds while something happens. */
async function cpuOf(pid: number, act: () => Promise<void>): Promise<number> {
  const before = await usageOf(pid);
  await act();
  return (await usageOf(pid)).cpuSeconds - before.cpuSeconds;
}

async function atRest(pid: number, pods: number): Promise<ScriptOutput['rest'][number]> {
  // what a start leaves to do shortly afterwards does not count as rest
  await wait(5);
  const seconds = Number(values.rest);
  const before = await usageOf(pid);
  await wait(seconds);
  const after: Usage = await usageOf(pid);
  return { pods, memoryMiB: after.memoryMiB, cpuSecondsAMinute: ((after.cpuSeconds - before.cpuSeconds) * 60) / seconds };
}

function wait(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

async function play({ pid, readyMs }: StartedAgent): Promise<ScriptOutput> {
  const { image } = values;
  const [singles, burst, many] = [values.singles, values.burst, values.many].map(Number) as [number, number, number];
  // the first pod is not measured: it makes cgroups and connections
  await using first = await AgentPods.open(admin, image);
  await first.oneAtATime(1);
  const rest = [await atRest(pid, 0)];
  await using alone = await AgentPods.open(admin, image);
  const singleCpu = await cpuOf(pid, () => alone.oneAtATime(singles));
  await using together = await AgentPods.open(admin, image);
  let burstCpu = await cpuOf(pid, () => together.start(burst));
  rest.push(await atRest(pid, burst));
  burstCpu += await cpuOf(pid, () => together.end());
  await using crowd = await AgentPods.open(admin, image);
  await crowd.start(many);
  rest.push(await atRest(pid, many));
  return { readyMs, single: alone.times, burst: together.times, cpuSeconds: { single: singleCpu, burst: burstCpu }, rest };
}

const agent = await startAgent(values.command, values.log, admin);
const output = await play(agent);
await agent.stop();
await admin.close();
console.log(JSON.stringify(output));
process.exit(0);
