// Behaviour of component-helpers/scheduling/corev1 FindMatchingUntoleratedTaint, v0.36.3.
import type { WireNode, WireTaint } from '../../wire/node-types.ts';
import type { Pod } from '../../wire/types.ts';

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

/** True when every taint of the node that ends pods is tolerated by the pod. */
export function toleratesNode({ spec }: Pod, node: WireNode): boolean {
  const ending = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  return ending.every((taint) => (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint)));
}

function tolerates({ key = '', operator, value = '', effect = '' }: Toleration, taint: WireTaint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === undefined || operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}
