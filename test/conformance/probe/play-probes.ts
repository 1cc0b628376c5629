import { isDeepStrictEqual } from 'node:util';
import type { WirePod, WirePodStatus } from '../../../src/index.ts';
import { settle } from '../../../src/testing/fakes/fake-clock.ts';
import type { ProbeCase, ProbeExpectation, ProbeStep } from './probe-case.ts';
import { ScriptedAgent } from './scripted-agent.ts';

export interface PlayedProbes {
  readonly outcomes: readonly ProbeExpectation[];
  /** The timers that are left when every probe has been stopped. */
  readonly leftTimers: number;
}

/** Plays the case with our probe manager. Resolves to what each step led to, in the form of the recording. */
export async function playProbes({ steps }: ProbeCase): Promise<PlayedProbes> {
  const agent = new ScriptedAgent();
  const containerIDs = new Set<string>();
  const outcomes: ProbeExpectation[] = [];
  let pod: WirePod | undefined;
  let before: Readonly<Record<string, string>> = {};
  for (const step of steps) {
    if (step.op === 'add') pod = step.pod;
    if (step.op === 'status') for (const { containerID } of containersOf(step.status)) containerIDs.add(containerID ?? '');
    const containers = await perform(step, agent, pod);
    const [runs, updates, events] = [agent.takeRuns(), agent.takeUpdates(), agent.takeEvents()];
    const results = agent.results(containerIDs);
    outcomes.push({
      ...(runs.length > 0 && { runs }),
      ...(updates.length > 0 && { updates }),
      ...(events.length > 0 && { events }),
      ...(!isDeepStrictEqual(results, before) && { results }),
      ...(containers !== undefined && { containers }),
    });
    before = results;
  }
  await agent.manager.stop();
  return { outcomes, leftTimers: agent.clock.pendingTimers };
}

async function perform(step: ProbeStep, agent: ScriptedAgent, pod: WirePod | undefined): Promise<ProbeExpectation['containers']> {
  const { manager, clock } = agent;
  let containers: ProbeExpectation['containers'];
  if (step.op === 'add') manager.addPod(step.pod);
  else if (step.op === 'status') agent.status = step.status;
  else if (step.op === 'noStatus') agent.status = undefined;
  else if (step.op === 'answer') agent.answers.set(step.probe, step.answer);
  else if (step.op === 'advance') await clock.advance(step.seconds * 1000 + 1);
  else if (step.op === 'cleanup') manager.cleanupPods(new Set(step.keep ? [pod?.metadata?.uid ?? ''] : []));
  else if (pod !== undefined) {
    if (step.op === 'remove') manager.removePod(pod);
    else if (step.op === 'stopLivenessAndStartup') manager.stopLivenessAndStartup(pod);
    else if (agent.status !== undefined) containers = updatedStatus(agent, pod, agent.status);
  }
  await settle();
  return containers;
}

function updatedStatus({ manager }: ScriptedAgent, pod: WirePod, status: WirePodStatus): ProbeExpectation['containers'] {
  const updated = manager.updatePodStatus({ ...pod, status }, structuredClone(status));
  const entries = containersOf(updated).map(({ name, started, ready }) => [name, [started ?? false, ready]] as const);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function containersOf({ containerStatuses = [], initContainerStatuses = [] }: WirePodStatus) {
  return [...containerStatuses, ...initContainerStatuses];
}
