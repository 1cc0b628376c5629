// Behaviour of component-helpers/scheduling/corev1 FindMatchingUntoleratedTaint, v0.36.3, with its default feature gates.
import type { Pod, WireTaint } from '../json/types.ts';

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
  const isMany = (taints?.length ?? 0) > fewTaints && (tolerations?.length ?? 0) > fewTaints;
  const tolerated = isMany ? toleratedByIndex(tolerations ?? []) : (taint: WireTaint) => isTolerated(taint, tolerations);
  return taints?.find((taint) => effects.includes(taint.effect as TaintEffect) && !tolerated(taint));
}

/** For lists that are no longer than this an index would cost more than the look at each pair. */
const fewTaints = 16;

/** {@link isTolerated} for many taints: what a toleration tolerates is found by its key, effect and value. */
function toleratedByIndex(tolerations: readonly Toleration[]): (taint: WireTaint) => boolean {
  const known = new Set<string>();
  for (const { key, operator, value, effect } of tolerations) {
    if (operator && operator !== 'Exists' && operator !== 'Equal') continue;
    known.add(indexOf(key || anything, effect || anything, operator === 'Exists' ? anything : (value ?? '')));
  }
  return ({ key, effect, value }) =>
    [key, anything].some((k) => [effect, anything].some((e) => [value ?? '', anything].some((v) => known.has(indexOf(k, e, v)))));
}

/** Stands for every key, effect or value. */
const anything = null;

function indexOf(...parts: readonly (string | null | undefined)[]): string {
  return JSON.stringify(parts);
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
