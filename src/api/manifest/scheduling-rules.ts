// Behaviour of pkg/apis/core/validation for affinity, tolerations and topology spread, v1.36.3.
import { check } from './invalid-manifest.ts';
import type { ManifestPodSpec } from './pod-types.ts';
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabels,
  checkLabelValue,
  checkOneOf,
  checkOptionalOneOf,
  checkPresent,
  checkQualifiedName,
  checkRange,
  checkUnique,
} from './text-rules.ts';

export type ManifestToleration = NonNullable<ManifestPodSpec['tolerations']>[number];
type Affinity = NonNullable<ManifestPodSpec['affinity']>;
type NodeAffinity = NonNullable<Affinity['nodeAffinity']>;
type NodeSelectorTerm = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'][number];
type NodeSelectorRequirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];
type PodAffinity = NonNullable<Affinity['podAffinity']>;
type PodAffinityTerm = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number];
type Selector = PodAffinityTerm['labelSelector'];

export function checkTolerations(path: string, tolerations: readonly ManifestToleration[]): void {
  for (const [index, { key, operator = 'Equal', value = '', effect, tolerationSeconds }] of tolerations.entries()) {
    const place = `${path}[${index}]`;
    checkOneOf(`${place}.operator`, operator, key === undefined ? ['Exists'] : ['Exists', 'Equal']);
    if (key !== undefined) checkQualifiedName(`${place}.key`, key);
    checkOptionalOneOf(`${place}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']);
    if (tolerationSeconds !== undefined) checkOneOf(`${place}.effect`, effect, ['NoExecute']);
    if (operator === 'Equal') checkLabelValue(`${place}.value`, value);
    else check(value === '', `${place}.value`, 'empty for the operator Exists', value);
  }
}

export function checkAffinity({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity): void {
  if (nodeAffinity) checkNodeAffinity('spec.affinity.nodeAffinity', nodeAffinity);
  if (podAffinity) checkPodAffinity('spec.affinity.podAffinity', podAffinity);
  if (podAntiAffinity) checkPodAffinity('spec.affinity.podAntiAffinity', podAntiAffinity);
}

function checkNodeAffinity(path: string, affinity: NodeAffinity): void {
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  const place = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  if (required) check(terms.length > 0, place, 'a list that is not empty', terms);
  for (const [index, term] of terms.entries()) checkNodeTerm(`${place}[${index}]`, term, true);
  for (const [index, { weight, preference }] of (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const preferred = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    checkRange(`${preferred}.weight`, weight, 1, 100);
    checkNodeTerm(`${preferred}.preference`, preference, false);
  }
}

function checkNodeTerm(path: string, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm, checkValues: boolean): void {
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const place = `${path}.matchExpressions[${index}]`;
    checkOneOf(`${place}.operator`, operator, ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']);
    const fits = { In: values.length > 0, NotIn: values.length > 0, Gt: values.length === 1, Lt: values.length === 1 }[operator];
    check(fits ?? values.length === 0, `${place}.values`, `as many as ${operator} needs`, values.length);
    checkQualifiedName(`${place}.key`, key);
    if (checkValues) for (const [at, value] of values.entries()) checkLabelValue(`${place}.values[${at}]`, value);
  }
  for (const [index, requirement] of matchFields.entries()) checkNodeField(`${path}.matchFields[${index}]`, requirement);
}

function checkNodeField(path: string, { key, operator, values = [] }: NodeSelectorRequirement): void {
  checkOneOf(`${path}.operator`, operator, ['In', 'NotIn']);
  check(values.length === 1, `${path}.values`, 'a single value', values.length);
  checkOneOf(`${path}.key`, key, ['metadata.name']);
  for (const [at, value] of values.entries()) checkDnsSubdomain(`${path}.values[${at}]`, value);
}

function checkPodAffinity(path: string, affinity: PodAffinity): void {
  for (const [index, term] of (affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    checkPodTerm(`${path}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`, term);
  }
  for (const [index, { weight, podAffinityTerm }] of (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const place = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    checkRange(`${place}.weight`, weight, 1, 100);
    checkPodTerm(`${place}.podAffinityTerm`, podAffinityTerm);
  }
}

function checkPodTerm(path: string, term: PodAffinityTerm): void {
  checkSelector(`${path}.labelSelector`, term.labelSelector);
  checkSelector(`${path}.namespaceSelector`, term.namespaceSelector);
  for (const [index, namespace] of (term.namespaces ?? []).entries()) checkDnsLabel(`${path}.namespaces[${index}]`, namespace);
  checkMatchKeys(path, term.matchLabelKeys, term.mismatchLabelKeys, term.labelSelector);
  checkPresent(`${path}.topologyKey`, term.topologyKey);
  checkQualifiedName(`${path}.topologyKey`, term.topologyKey);
}

/** Keys whose values the pod's own labels give; each stands in one place only. */
function checkMatchKeys(
  path: string,
  matchKeys: readonly string[] = [],
  mismatchKeys: readonly string[] = [],
  selector: Selector,
): void {
  const keys = [...matchKeys, ...mismatchKeys];
  if (keys.length > 0)
    check(selector !== undefined, `${path}.labelSelector`, 'given beside matchLabelKeys and mismatchLabelKeys', undefined);
  for (const key of keys) checkQualifiedName(`${path}.matchLabelKeys`, key);
  const [matched, mismatched] = [new Set(matchKeys), new Set(mismatchKeys)];
  for (const key of matchKeys) check(!mismatched.has(key), `${path}.matchLabelKeys`, 'free of keys of mismatchLabelKeys', key);
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key } of selector?.matchExpressions ?? []) {
    check(!(matched.has(key) && seen.has(key)), `${path}.matchLabelKeys`, 'free of keys of the labelSelector', key);
    seen.add(key);
  }
}

export function checkTopologySpread(constraints: NonNullable<ManifestPodSpec['topologySpreadConstraints']>): void {
  const seen = new Set<string>();
  for (const [index, constraint] of constraints.entries()) {
    const path = `spec.topologySpreadConstraints[${index}]`;
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
    check(maxSkew > 0, `${path}.maxSkew`, 'at least 1', maxSkew);
    checkPresent(`${path}.topologyKey`, topologyKey);
    checkOneOf(`${path}.whenUnsatisfiable`, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']);
    checkUnique(path, seen, `${topologyKey} ${whenUnsatisfiable}`);
    if (minDomains !== undefined) {
      check(
        minDomains > 0 && whenUnsatisfiable === 'DoNotSchedule',
        `${path}.minDomains`,
        'at least 1, for DoNotSchedule',
        minDomains,
      );
    }
    checkOptionalOneOf(`${path}.nodeAffinityPolicy`, constraint.nodeAffinityPolicy, ['Honor', 'Ignore']);
    checkOptionalOneOf(`${path}.nodeTaintsPolicy`, constraint.nodeTaintsPolicy, ['Honor', 'Ignore']);
    checkMatchKeys(path, constraint.matchLabelKeys, [], constraint.labelSelector);
    checkSelector(`${path}.labelSelector`, constraint.labelSelector);
  }
}

// Behaviour of k8s.io/apimachinery/pkg/apis/meta/v1/validation ValidateLabelSelector, v0.36.3.

interface ManifestSelector {
  readonly matchLabels?: { readonly [key: string]: string };
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

function checkSelector(path: string, selector: ManifestSelector | undefined): void {
  checkLabels(`${path}.matchLabels`, selector?.matchLabels);
  for (const [index, { key, operator, values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const place = `${path}.matchExpressions[${index}]`;
    checkOneOf(`${place}.operator`, operator, ['In', 'NotIn', 'Exists', 'DoesNotExist']);
    const needsValues = operator === 'In' || operator === 'NotIn';
    check(values.length > 0 === needsValues, `${place}.values`, `as many as ${operator} needs`, values.length);
    checkQualifiedName(`${place}.key`, key);
    for (const [at, value] of values.entries()) checkLabelValue(`${place}.values[${at}]`, value);
  }
}
