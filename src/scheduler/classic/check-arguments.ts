// Rules of pkg/scheduler/apis/config/validation and framework/plugins/legacy_registry.go, v1.22.17.
import { invalidOption } from '../../base/errors.ts';
import { booleanAt, labelAt, listAt, type Members, objectAt, textAt, wholeAt } from './check-values.ts';
import type { PredicatePolicy, PriorityPolicy, UtilizationPoint, WeightedResource } from './policy.ts';

const largestInt32 = 2 ** 31 - 1;

export function predicateArgument(path: string, value: unknown): NonNullable<PredicatePolicy['argument']> {
  const { serviceAffinity, labelsPresence } = oneOf(path, value, ['serviceAffinity', 'labelsPresence']);
  if (serviceAffinity !== undefined) {
    const at = `${path}.serviceAffinity`;
    const { labels } = objectAt(at, serviceAffinity, ['labels']);
    return { serviceAffinity: { labels: labelsAt(`${at}.labels`, labels) } };
  }
  const at = `${path}.labelsPresence`;
  const { labels, presence = false } = objectAt(at, labelsPresence, ['labels', 'presence']);
  return { labelsPresence: { labels: labelsAt(`${at}.labels`, labels), presence: booleanAt(`${at}.presence`, presence) } };
}

export function priorityArgument(path: string, value: unknown): NonNullable<PriorityPolicy['argument']> {
  const names = ['serviceAntiAffinity', 'labelPreference', 'requestedToCapacityRatioArguments'];
  const { serviceAntiAffinity, labelPreference, requestedToCapacityRatioArguments } = oneOf(path, value, names);
  if (serviceAntiAffinity !== undefined) {
    const at = `${path}.serviceAntiAffinity`;
    const { label } = objectAt(at, serviceAntiAffinity, ['label']);
    return { serviceAntiAffinity: { label: labelAt(`${at}.label`, label) } };
  }
  if (labelPreference !== undefined) {
    const at = `${path}.labelPreference`;
    const { label, presence = false } = objectAt(at, labelPreference, ['label', 'presence']);
    return { labelPreference: { label: labelAt(`${at}.label`, label), presence: booleanAt(`${at}.presence`, presence) } };
  }
  return { requestedToCapacityRatioArguments: ratioAt(`${path}.${names[2]}`, requestedToCapacityRatioArguments) };
}

/** An argument has exactly one of these members. */
function oneOf(path: string, value: unknown, names: readonly string[]): Members {
  const members = objectAt(path, value, names);
  if (Object.keys(members).length === 1) return members;
  const got = Object.keys(members).join(' and ');
  throw invalidOption(path, `an object with exactly one of ${names.join(', ')}${got === '' ? '' : ` (it has ${got})`}`, value);
}

function labelsAt(path: string, value: unknown): string[] {
  const labels = listAt(path, value, labelAt);
  if (labels.length === 0) throw invalidOption(path, 'a list with at least one label', value);
  return labels;
}

function ratioAt(path: string, value: unknown): { shape: UtilizationPoint[]; resources: WeightedResource[] } {
  const { shape, resources = [] } = objectAt(path, value, ['shape', 'resources']);
  const points = listAt(`${path}.shape`, shape, pointAt);
  if (points.length === 0) throw invalidOption(`${path}.shape`, 'a list with at least one point', shape);
  const unsorted = points.findIndex((point, index) => index > 0 && point.utilization <= (points[index - 1]?.utilization ?? 0));
  if (unsorted >= 0) {
    const at = `${path}.shape[${unsorted}].utilization`;
    throw invalidOption(at, 'greater than that of the point before it', points[unsorted]?.utilization);
  }
  return { shape: points, resources: listAt(`${path}.resources`, resources, resourceAt) };
}

function pointAt(path: string, value: unknown): UtilizationPoint {
  const { utilization = 0, score = 0 } = objectAt(path, value, ['utilization', 'score']);
  return {
    utilization: wholeAt(`${path}.utilization`, utilization, 0, 100),
    score: wholeAt(`${path}.score`, score, 0, 10),
  };
}

function resourceAt(path: string, value: unknown): WeightedResource {
  const { name, weight } = objectAt(path, value, ['name', 'weight']);
  return { name: textAt(`${path}.name`, name), weight: wholeAt(`${path}.weight`, weight, 1, largestInt32) };
}
