import type { Pod, PodStatus } from '../../../src/api/json/types.ts';
import { getPhase } from '../../../src/node/pod-status/get-phase.ts';
import type { Prng } from '../../random/chaos/prng.ts';
import type { KindCase } from '../kinds/case-kind.ts';
import type { Falsified } from '../kinds/falsify-expect.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';

/** What the kubelet calls the phase of a pod with these container statuses. */
export interface PhaseCase extends KindCase {
  readonly pod: Pod;
  /** Those of init containers, too. */
  readonly statuses: NonNullable<PodStatus['containerStatuses']>;
  readonly podIsTerminal: boolean;
  readonly podHasInitialized: boolean;
  readonly out: string;
}

export const phaseKind = replayedKind({ problem: phaseCaseProblem, play: playPhase, judge: judgePhase, falsify: falsifyPhase });

/** What is wrong with the case; undefined when it can be played. */
export function phaseCaseProblem(value: unknown): string | undefined {
  const { pod, statuses, podIsTerminal, podHasInitialized, out } = value as Partial<PhaseCase>;
  if (typeof pod !== 'object' || pod === null) return 'a phase case without a pod';
  if (statuses !== null && !Array.isArray(statuses)) return 'a phase case without statuses';
  if (typeof podIsTerminal !== 'boolean' || typeof podHasInitialized !== 'boolean') return 'a phase case without its two answers';
  return typeof out === 'string' ? undefined : 'a phase case without an outcome';
}

export function playPhase({ pod, statuses, podIsTerminal, podHasInitialized }: PhaseCase): string {
  return getPhase(pod, statuses ?? [], { podIsTerminal, podHasInitialized });
}

export function judgePhase({ out }: PhaseCase, got: string): string[] {
  return out === got ? [] : [`expected ${out}, got ${got}`];
}

/** The case with another phase. */
export function falsifyPhase(original: PhaseCase, prng: Prng): Falsified<PhaseCase> {
  const others = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown', ''].filter((phase) => phase !== original.out);
  const out = prng.pick(others) ?? '';
  return { case: { ...original, out }, lie: `phase ${out}` };
}
