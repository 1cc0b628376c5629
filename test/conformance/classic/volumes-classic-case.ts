import type { RecordedReservation } from '../volumes/volumes-case.ts';
import type { ClassicCase, ClassicOutcome } from './classic-case.ts';

export interface VolumesClassicOutcome {
  readonly judged: ClassicOutcome & { readonly error?: string };
  /** By the node's name: each node where the pod fits, if the policy binds volumes. */
  readonly reserved?: Readonly<Record<string, RecordedReservation>>;
}

/** A recording of how a scheduler with a policy file judged the nodes for a pod with volumes, and what it would take on each. */
export interface VolumesClassicCase extends Omit<ClassicCase, 'out'> {
  readonly out: VolumesClassicOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function volumesClassicProblem(value: unknown): string | undefined {
  const { policy, nodes, pods, pod, out } = value as Partial<VolumesClassicCase>;
  if (policy === undefined) return 'a volumesClassic case without a policy';
  if (!Array.isArray(nodes) || !Array.isArray(pods)) return 'a volumesClassic case without nodes and pods';
  if (typeof pod !== 'object' || pod === null) return 'a volumesClassic case without a pod';
  if (typeof out?.judged !== 'object' || out.judged === null) return 'a volumesClassic case without a judgement';
  return undefined;
}
