import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import type { NodeInfo } from '../../../src/scheduler/nodes/node-info.ts';
import { reservation, upstreamWords } from '../volumes/play-volumes.ts';
import type { ClassicCase, ClassicOutcome } from './classic-case.ts';
import { classicPodInfo, frameworkOf } from './classic-world.ts';
import { judgedByPolicy } from './play-classic.ts';
import type { VolumesClassicCase, VolumesClassicOutcome } from './volumes-classic-case.ts';

/** Plays the case with the profile of its policy, on each node where the pod fits also what would be taken there. */
export function playVolumesClassic({ out: _out, ...recorded }: VolumesClassicCase): VolumesClassicOutcome {
  const played: ClassicCase = { ...recorded, out: {} };
  const framework = frameworkOf(played);
  const pod = classicPodInfo(recorded.pod);
  const state = new CycleState();
  const { profile } = framework;
  const filters = profile.points?.filter?.map(({ name }) => name) ?? [];
  let found: { readonly judged: ClassicOutcome; readonly feasible: readonly NodeInfo[] };
  try {
    found = judgedByPolicy(played, framework, pod, state);
  } catch (error) {
    const order = framework.snapshot().nodes.map(({ name }) => name);
    return { judged: { filters, weights: Object.fromEntries(profile.weights), order, error: upstreamWords(error) } };
  }
  const { judged, feasible } = found;
  if (feasible.length === 0 || !filters.includes('VolumeBinding')) return { judged };
  const reserved = feasible.map(({ name }) => [name, reservation(framework, state, pod, name)] as const);
  return { judged, reserved: Object.fromEntries(reserved) };
}
