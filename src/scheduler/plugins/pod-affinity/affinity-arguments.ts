import { invalidOption } from '../../../base/errors.ts';
import { optionOfType, requireKnownOptions } from '../../../base/options.ts';

/** The arguments of the plugin InterPodAffinity, as a profile has them. */
export interface InterPodAffinityArguments {
  /** What a required affinity of a pod that is there adds to the score of a node, from 0 to 100. Default: 1. */
  readonly hardPodAffinityWeight?: number;
  /** Pods that are there do not attract or repel a pod that prefers nothing itself. Default: false. */
  readonly ignorePreferredTermsOfExistingPods?: boolean;
}

const known = ['apiVersion', 'kind', 'hardPodAffinityWeight', 'ignorePreferredTermsOfExistingPods'];

/** The arguments with their defaults. Throws ERR_INVALID_OPTION for arguments that break a rule. */
export function affinityArguments(args: unknown): Required<InterPodAffinityArguments> {
  const name = 'InterPodAffinity';
  requireKnownOptions(name, args ?? {}, known);
  const given = (args ?? {}) as InterPodAffinityArguments;
  const weight = given.hardPodAffinityWeight ?? 1;
  if (!Number.isInteger(weight) || weight < 0 || weight > 100) {
    throw invalidOption(`${name}.hardPodAffinityWeight`, 'an integer from 0 to 100', weight);
  }
  const ignores = given.ignorePreferredTermsOfExistingPods ?? false;
  return {
    hardPodAffinityWeight: weight,
    ignorePreferredTermsOfExistingPods: optionOfType(`${name}.ignorePreferredTermsOfExistingPods`, ignores, 'boolean'),
  };
}
