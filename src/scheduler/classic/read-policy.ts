import { ManifestFault } from '../../api/manifest/invalid-manifest.ts';
import { type ManifestValue, NumberText, readManifest } from '../../api/manifest/read-manifest.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { oneOfOption } from '../../base/options.ts';
import type { Policy, PredicatePolicy, PriorityPolicy } from './policy.ts';
import {
  booleanAt,
  checkEntries,
  listAt,
  policyObjectAt,
  policyTextAt,
  predicateArgument,
  priorityArgument,
  wholeAt,
} from './policy-checks.ts';
import { policyExtenders } from './policy-extenders.ts';

const largestWeight = 2 ** 31 - 1;
const versions = ['v1', 'kubescheduler.config.k8s.io/v1'] as const;
const members = [
  'kind',
  'apiVersion',
  'predicates',
  'priorities',
  'hardPodAffinitySymmetricWeight',
  'alwaysCheckAllPredicates',
  'extenders',
];

/**
 * Reads a policy file: its text, JSON or YAML, or the object that it holds. Whether there are predicates and priorities of the
 * names in it is checked when a profile is made of it, because that depends on what is registered.
 *
 * Throws ERR_INVALID_OPTION for a text that is neither JSON nor YAML, a member that is not known or has the wrong type, a weight
 * that is no whole number from 1 to 2147483647, an argument or an extender that breaks a rule, and entries that contradict one another. The
 * message names the place, the rule, the value and its type.
 *
 * @example
 * ```ts
 * import { readPolicy } from 'pod-status-manager/scheduler';
 *
 * const policy = readPolicy(`
 * kind: Policy
 * apiVersion: v1
 * predicates:
 *   - name: PodFitsResources
 * priorities:
 *   - name: LeastRequestedPriority
 *     weight: 2
 * `);
 * console.log(policy.priorities?.[0]?.weight); // 2
 * ```
 */
export function readPolicy(source: string | Policy): Policy {
  const value: unknown = typeof source === 'string' ? readPolicyText(source) : source;
  const { kind, apiVersion, predicates, priorities, hardPodAffinitySymmetricWeight, alwaysCheckAllPredicates, extenders } =
    policyObjectAt('policy', value, members);
  const path = 'policy.hardPodAffinitySymmetricWeight';
  const policy: Policy = {
    ...(kind !== undefined && { kind: oneOfOption('policy.kind', kind as 'Policy', ['Policy']) }),
    ...(apiVersion !== undefined && { apiVersion: oneOfOption('policy.apiVersion', apiVersion as 'v1', versions) }),
    ...(predicates !== undefined && { predicates: listAt('policy.predicates', predicates, predicateAt) }),
    ...(priorities !== undefined && { priorities: listAt('policy.priorities', priorities, priorityAt) }),
    ...(extenders !== undefined && { extenders: policyExtenders('policy.extenders', extenders) }),
    ...(hardPodAffinitySymmetricWeight !== undefined && {
      hardPodAffinitySymmetricWeight: wholeAt(path, hardPodAffinitySymmetricWeight, 0, 100),
    }),
    ...(alwaysCheckAllPredicates !== undefined && {
      alwaysCheckAllPredicates: booleanAt('policy.alwaysCheckAllPredicates', alwaysCheckAllPredicates),
    }),
  };
  checkEntries(policy);
  return policy;
}

function predicateAt(path: string, value: unknown): PredicatePolicy {
  const { name, argument } = policyObjectAt(path, value, ['name', 'argument']);
  return {
    name: policyTextAt(`${path}.name`, name),
    ...(argument !== undefined && { argument: predicateArgument(`${path}.argument`, argument) }),
  };
}

function priorityAt(path: string, value: unknown): PriorityPolicy {
  const { name, weight, argument } = policyObjectAt(path, value, ['name', 'weight', 'argument']);
  return {
    name: policyTextAt(`${path}.name`, name),
    weight: wholeAt(`${path}.weight`, weight, 1, largestWeight),
    ...(argument !== undefined && { argument: priorityArgument(`${path}.argument`, argument) }),
  };
}

/** Reads a policy file's text, JSON or YAML, into plain values. Throws ERR_INVALID_OPTION for a text that is neither. */
function readPolicyText(text: string): unknown {
  try {
    return plain(readManifest(text));
  } catch (cause) {
    if (!(cause instanceof ManifestFault)) throw cause;
    const says = cause.message.replace('the manifest', '`policy`');
    throw new StatusManagerError('ERR_INVALID_OPTION', says, { cause });
  }
}

function plain(value: ManifestValue): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map ? Object.fromEntries([...value].map(([key, member]) => [key, plain(member)])) : value;
}
