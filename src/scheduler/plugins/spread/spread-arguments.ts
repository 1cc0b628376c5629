import { invalidOption } from '../../../base/errors.ts';
import { isLabelKey, labelKeyRule } from '../../../base/names.ts';
import { integerOption, iterableOption, oneOfOption, requireKnownOptions } from '../../../base/options.ts';
import type { WireSpreadConstraint } from './spread-constraint.ts';

/** The arguments of the plugin PodTopologySpread, as a profile has them. */
export interface PodTopologySpreadArguments {
  /** For pods without constraints of their own; only with `List`. Their selector is deduced for each pod. */
  readonly defaultConstraints?: readonly WireSpreadConstraint[];
  /** `System`, the default: pods spread over nodes and, more loosely, over zones. `List`: by `defaultConstraints`. */
  readonly defaultingType?: 'System' | 'List';
}

/** What pods without constraints of their own are spread by. */
export interface SpreadDefaults {
  readonly constraints: readonly WireSpreadConstraint[];
  /** True for the system's: then nodes that lack a topology key are scored by the others. */
  readonly areSystem: boolean;
}

const systemConstraints: readonly WireSpreadConstraint[] = [
  { topologyKey: 'kubernetes.io/hostname', maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
];
const knownArguments = ['apiVersion', 'kind', 'defaultConstraints', 'defaultingType'];
const knownMembers = [
  'maxSkew',
  'topologyKey',
  'whenUnsatisfiable',
  'labelSelector',
  'matchLabelKeys',
  'minDomains',
  'nodeAffinityPolicy',
  'nodeTaintsPolicy',
];
const policies = ['Honor', 'Ignore'] as const;

/** Throws ERR_INVALID_OPTION for arguments that break a rule. */
export function spreadDefaults(args: unknown): SpreadDefaults {
  const name = 'PodTopologySpread';
  requireKnownOptions(name, args ?? {}, knownArguments);
  const { defaultConstraints, defaultingType = 'System' } = (args ?? {}) as PodTopologySpreadArguments;
  oneOfOption(`${name}.defaultingType`, defaultingType, ['System', 'List']);
  const constraints = [...iterableOption(`${name}.defaultConstraints`, defaultConstraints ?? [])];
  if (defaultingType === 'System') {
    if (constraints.length === 0) return { constraints: systemConstraints, areSystem: true };
    throw invalidOption(`${name}.defaultConstraints`, 'empty unless `defaultingType` is "List"', defaultConstraints);
  }
  const pairs = new Set<string>();
  for (const [i, constraint] of constraints.entries()) {
    const at = `${name}.defaultConstraints[${i}]`;
    checkConstraint(at, constraint);
    const pair = `${constraint.topologyKey} ${constraint.whenUnsatisfiable}`;
    if (pairs.has(pair)) {
      throw invalidOption(at, 'the only one with its `topologyKey` and `whenUnsatisfiable`', pair);
    }
    pairs.add(pair);
  }
  return { constraints, areSystem: false };
}

function checkConstraint(at: string, constraint: WireSpreadConstraint): void {
  requireKnownOptions(at, constraint, knownMembers);
  integerOption(`${at}.maxSkew`, constraint.maxSkew, 1);
  if (!isLabelKey(constraint.topologyKey)) throw invalidOption(`${at}.topologyKey`, labelKeyRule, constraint.topologyKey);
  oneOfOption(`${at}.whenUnsatisfiable`, constraint.whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']);
  if (constraint.labelSelector != null) {
    throw invalidOption(`${at}.labelSelector`, 'absent: it is deduced for each pod', constraint.labelSelector);
  }
  if (constraint.minDomains != null) integerOption(`${at}.minDomains`, constraint.minDomains, 1);
  if (constraint.nodeAffinityPolicy != null) oneOfOption(`${at}.nodeAffinityPolicy`, constraint.nodeAffinityPolicy, policies);
  if (constraint.nodeTaintsPolicy != null) oneOfOption(`${at}.nodeTaintsPolicy`, constraint.nodeTaintsPolicy, policies);
}
