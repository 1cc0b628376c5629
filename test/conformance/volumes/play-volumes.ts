import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import type { Framework } from '../../../src/scheduler/framework/framework.ts';
import { PluginError } from '../../../src/scheduler/framework/plugin-error.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { reservedVolumes } from '../../../src/scheduler/plugins/volumes/volume-binding.ts';
import { claimKeyOf } from '../../../src/scheduler/plugins/volumes/volume-matching.ts';
import { frameworkOf } from '../filter-score/cluster.ts';
import { type JudgedNodes, judgedNodes } from '../filter-score/play-filter-score.ts';
import type { RecordedReservation, VolumesCase, VolumesOutcome } from './volumes-case.ts';

/** Plays the case with our plugins, on each node where the pod fits also what would be taken there. */
export function playVolumes(recorded: VolumesCase): VolumesOutcome {
  const framework = frameworkOf(recorded);
  const pod = createPodInfo(recorded.pod);
  const state = new CycleState();
  let found: JudgedNodes;
  try {
    found = judgedNodes(framework, pod, state);
  } catch (error) {
    return { judged: { order: framework.snapshot().nodes.map(({ name }) => name), error: upstreamWords(error) } };
  }
  const { judged, feasible } = found;
  if (feasible.length === 0) return { judged };
  const reserved = feasible.map(({ name }) => [name, reservation(framework, state, pod, name)] as const);
  return { judged, reserved: Object.fromEntries(reserved) };
}

/** What would be taken for the pod on the node. */
export function reservation(framework: Framework, state: CycleState, pod: PodInfo, nodeName: string): RecordedReservation {
  try {
    framework.binding.reserve(state, pod, nodeName);
    const taken = reservedVolumes(state);
    if (taken === undefined) return { allBound: true };
    const bindings = taken.bindings.map(({ claim, volume, assumed = volume }) => ({
      claim: claimKeyOf(claim),
      volume: volume.metadata?.name ?? '',
      claimRef: assumed.spec?.claimRef,
      ...(assumed.metadata?.annotations && { annotations: assumed.metadata.annotations }),
    }));
    return {
      ...(bindings.length > 0 && { bindings: bindings.toSorted((a, b) => (a.claim < b.claim ? -1 : 1)) }),
      ...(taken.provisions.length > 0 && { provisions: taken.provisions.map(({ claim }) => claimKeyOf(claim)).toSorted() }),
    };
  } catch (error) {
    return { error: upstreamWords(error) };
  } finally {
    framework.binding.unreserve(state, pod, nodeName);
  }
}

/** What kube-scheduler says around the words of a plugin that fails. */
export function upstreamWords(error: unknown): string {
  if (!(error instanceof PluginError)) throw error;
  const { plugin, extensionPoint, cause } = error;
  const words = (cause as Error).message;
  if (extensionPoint === 'preFilter') return `running PreFilter plugin "${plugin}": ${words}`;
  return `running "${plugin}" filter plugin: ${words}`;
}
