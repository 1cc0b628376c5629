// Behaviour of component-helpers/scheduling/corev1/nodeaffinity, v0.36.3.
import type { WireNode } from '../../wire/node-types.ts';
import type { Pod } from '../../wire/types.ts';

type Affinity = NonNullable<NonNullable<NonNullable<Pod['spec']>['affinity']>['nodeAffinity']>;
type Selector = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>;
type Term = Selector['nodeSelectorTerms'][number];
type Requirement = NonNullable<Term['matchExpressions']>[number];

/** True when the node has the labels that the pod's selector and its required affinity ask for. */
export function matchesNodeAffinity({ spec }: Pod, node: WireNode): boolean {
  const { name = '', labels = {} } = node.metadata ?? {};
  const selector = Object.entries(spec?.nodeSelector ?? {});
  if (!selector.every(([key, value]) => labels[key] === value)) return false;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required == null) return true;
  return required.nodeSelectorTerms.some((term) => matchesTerm(term, labels, name));
}

/** A term without requirements matches no node. */
function matchesTerm(term: Term, labels: Readonly<Record<string, string>>, nodeName: string): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => meets(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => meets(requirement, requirement.key === 'metadata.name' ? nodeName : undefined))
  );
}

function meets({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  if (operator === 'NotIn') return value === undefined || !values.includes(value);
  if (value === undefined) return false;
  if (operator === 'In') return values.includes(value);
  const [bound = ''] = values;
  if (!isWhole(value) || !isWhole(bound)) return false;
  if (operator === 'Gt') return BigInt(value) > BigInt(bound);
  return operator === 'Lt' && BigInt(value) < BigInt(bound);
}

function isWhole(text: string): boolean {
  return /^[+-]?\d+$/.test(text);
}
