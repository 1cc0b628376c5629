// Rules of pkg/scheduler/apis/config/validation, validation_pluginargs.go, and the defaults of apis/config/v1, v1.36.3.

import { invalidOption } from '../../../base/errors.ts';
import { isLabelKey, labelKeyRule } from '../../../base/names.ts';
import { membersOption } from '../../../base/options.ts';
import type { ShapePoint, WeighedResource } from './strategies.ts';

export type ScoringStrategy =
  | { readonly type: 'LeastAllocated' | 'MostAllocated'; readonly resources: readonly WeighedResource[] }
  | {
      readonly type: 'RequestedToCapacityRatio';
      readonly resources: readonly WeighedResource[];
      readonly shape: readonly ShapePoint[];
    };

export interface FitArgs {
  readonly ignoredResources: ReadonlySet<string>;
  readonly ignoredResourceGroups: ReadonlySet<string>;
  readonly scoringStrategy: ScoringStrategy;
}

const strategies = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'];
const defaultResources: readonly WeighedResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** Throws ERR_INVALID_OPTION. */
export function fitArgs(args: unknown): FitArgs {
  const name = 'NodeResourcesFit';
  const { ignoredResources, ignoredResourceGroups, scoringStrategy } = argMembers(name, args, [
    'ignoredResources',
    'ignoredResourceGroups',
    'scoringStrategy',
  ]);
  return {
    ignoredResources: new Set(resourceNames(`${name}.ignoredResources`, ignoredResources, labelKeyRule, isLabelKey)),
    ignoredResourceGroups: new Set(
      resourceNames(`${name}.ignoredResourceGroups`, ignoredResourceGroups, groupRule, isResourceGroup),
    ),
    scoringStrategy: strategyOf(`${name}.scoringStrategy`, scoringStrategy),
  };
}

/** Throws ERR_INVALID_OPTION. */
export function balancedAllocationArgs(args: unknown): readonly WeighedResource[] {
  const name = 'NodeResourcesBalancedAllocation';
  const resources = resourcesOf(`${name}.resources`, argMembers(name, args, ['resources']).resources, 1);
  for (const [index, resource] of resources.entries()) {
    if (resources.findIndex((other) => other.name === resource.name) === index) continue;
    throw invalidOption(`${name}.resources[${index}].name`, 'a resource that is not listed before', resource.name);
  }
  return resources;
}

/** Absent arguments are an empty object. `kind` and `apiVersion` may stand in it, as in a configuration file. */
function argMembers(name: string, args: unknown, known: readonly string[]) {
  return membersOption(name, args ?? {}, ['apiVersion', 'kind', ...known]);
}

const groupRule = 'a name of at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends and no "/"';

function isResourceGroup(text: unknown): text is string {
  return isLabelKey(text) && !text.includes('/');
}

function resourceNames(name: string, value: unknown, rule: string, holds: (text: unknown) => text is string): string[] {
  return listOf(name, value).map((item, index) => {
    if (holds(item)) return item;
    throw invalidOption(`${name}[${index}]`, rule, item);
  });
}

function strategyOf(name: string, value: unknown): ScoringStrategy {
  if (value === undefined || value === null) return { type: 'LeastAllocated', resources: defaultResources };
  const members = membersOption(name, value, ['type', 'resources', 'requestedToCapacityRatio']);
  const { type, requestedToCapacityRatio } = members;
  if (typeof type !== 'string' || !strategies.includes(type)) {
    throw invalidOption(`${name}.type`, `one of ${strategies.map((each) => `"${each}"`).join(', ')}`, type);
  }
  const resources = resourcesOf(`${name}.resources`, members.resources, 100);
  if (type === 'RequestedToCapacityRatio') {
    const ratio = `${name}.requestedToCapacityRatio`;
    const { shape } = membersOption(ratio, requestedToCapacityRatio, ['shape']);
    return { type, resources, shape: shapeOf(`${ratio}.shape`, shape) };
  }
  if (requestedToCapacityRatio !== undefined && requestedToCapacityRatio !== null) {
    const rule = 'absent: only the strategy RequestedToCapacityRatio has it';
    throw invalidOption(`${name}.requestedToCapacityRatio`, rule, requestedToCapacityRatio);
  }
  return { type: type as 'LeastAllocated' | 'MostAllocated', resources };
}

/** An absent or empty list is CPU and memory; an absent weight, or 0, is 1. */
function resourcesOf(name: string, value: unknown, maxWeight: number): readonly WeighedResource[] {
  const resources = listOf(name, value).map((item, index) => {
    const at = `${name}[${index}]`;
    const { name: resource, weight } = membersOption(at, item, ['name', 'weight']);
    if (typeof resource !== 'string') throw invalidOption(`${at}.name`, 'the name of a resource', resource);
    return { name: resource, weight: weight === undefined || weight === 0 ? 1 : integer(`${at}.weight`, weight, 1, maxWeight) };
  });
  return resources.length === 0 ? defaultResources : resources;
}

/** Throws ERR_INVALID_OPTION for points that are no shape: each has a larger utilisation than the one before. */
function shapeOf(name: string, value: unknown): readonly ShapePoint[] {
  const points = listOf(name, value).map((item, index) => {
    const at = `${name}[${index}]`;
    const { utilization = 0, score = 0 } = membersOption(at, item, ['utilization', 'score']);
    return {
      utilization: integer(`${at}.utilization`, utilization, 0, 100),
      score: integer(`${at}.score`, score, 0, 10),
    };
  });
  if (points.length === 0) throw invalidOption(name, 'a list of at least one point', value);
  for (const [index, { utilization }] of points.entries()) {
    const before = points[index - 1]?.utilization ?? -1;
    if (utilization <= before)
      throw invalidOption(`${name}[${index}].utilization`, `more than ${before}, of the point before`, utilization);
  }
  return points;
}

function listOf(name: string, value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw invalidOption(name, 'a list', value);
}

function integer(name: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw invalidOption(name, min === max ? `${min}` : `an integer from ${min} to ${max}`, value);
}
