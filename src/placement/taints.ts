// Behaviour of component-helpers/scheduling/corev1 FindMatchingUntoleratedTaint, v0.36.3, with its default feature gates.
import type { WireTaint } from '../wire/node-types.ts';
import type { Pod } from '../wire/types.ts';

export type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];
export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

type Taints = readonly WireTaint[] | null | undefined;
type Tolerations = readonly Toleration[] | null | undefined;

/** The first taint with one of these effects that no toleration tolerates. */
export function findUntoleratedTaint(
  taints: Taints,
  tolerations: Tolerations,
  effects: readonly TaintEffect[],
): WireTaint | undefined {
  return taints?.find((taint) => effects.includes(taint.effect as TaintEffect) && !isTolerated(taint, tolerations));
}

/** True where one of the tolerations tolerates the taint. */
export function isTolerated(taint: WireTaint, tolerations: Tolerations): boolean {
  return tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;
}

/** An empty effect or key stands for all of them. The operators `Lt` and `Gt` tolerate nothing: their feature gate is off. */
export function tolerates({ key, operator, value, effect }: Toleration, taint: WireTaint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '');
}
