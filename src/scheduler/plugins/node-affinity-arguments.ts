// Rules of ValidateNodeAffinityArgs, pkg/scheduler/apis/config/validation, v1.36.3.

import {
  type GivenNodeSelectorTerm,
  type GivenPreferredTerm,
  type NodePreference,
  type NodeTest,
  parseNodePreference,
  parseNodeSelectorTerm,
} from '../../api/selectors/node-selector.ts';
import { invalidOption, StatusManagerError } from '../../base/errors.ts';
import { requireKnownOptions } from '../../base/options.ts';

/** The node affinity that a profile adds to that of every pod. */
export interface AddedAffinity {
  readonly required: NodeTest | undefined;
  readonly preferred: NodePreference | undefined;
}

type Members = Readonly<Record<string, unknown>>;

const requiredName = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredName = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Throws ERR_INVALID_OPTION for unknown members, and for terms that break a rule. */
export function nodeAffinityArguments(args: unknown): AddedAffinity {
  const { addedAffinity } = members('NodeAffinityArgs', args ?? {}, ['apiVersion', 'kind', 'addedAffinity']);
  const path = 'NodeAffinityArgs.addedAffinity';
  const { [requiredName]: required, [preferredName]: preferred } = members(path, addedAffinity ?? {}, [
    requiredName,
    preferredName,
  ]);
  return {
    required: required == null ? undefined : asOption(() => requiredTest(`${path}.${requiredName}`, required)),
    preferred: preferred == null ? undefined : asOption(() => preference(`${path}.${preferredName}`, preferred)),
  };
}

function requiredTest(path: string, required: unknown): NodeTest {
  const { nodeSelectorTerms } = members(path, required, ['nodeSelectorTerms']);
  const terms = objects(`${path}.nodeSelectorTerms`, nodeSelectorTerms ?? []) as readonly GivenNodeSelectorTerm[];
  const tests = terms.map((term, index) => parseNodeSelectorTerm(`${path}.nodeSelectorTerms[${index}]`, term));
  return (node) => tests.some((test) => test(node));
}

function preference(path: string, preferred: unknown): NodePreference | undefined {
  const terms = objects(path, preferred);
  for (const [index, term] of terms.entries()) {
    const { weight, preference: selector } = members(`${path}[${index}]`, term, ['weight', 'preference']);
    if (!Number.isInteger(weight)) throw invalidOption(`${path}[${index}].weight`, 'an integer', weight);
    members(`${path}[${index}].preference`, selector, ['matchExpressions', 'matchFields']);
  }
  return terms.length === 0 ? undefined : parseNodePreference(path, terms as readonly unknown[] as readonly GivenPreferredTerm[]);
}

function members(name: string, value: unknown, known: readonly string[]): Members {
  if (Array.isArray(value)) throw invalidOption(name, 'an object', value);
  requireKnownOptions(name, value, known);
  return value as Members;
}

function objects(name: string, value: unknown): readonly object[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)) return value;
  throw invalidOption(name, 'a list of objects', value);
}

/** The rules of selectors speak of arguments of a call; here they are options. */
function asOption<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatusManagerError) throw new StatusManagerError('ERR_INVALID_OPTION', error.message, { cause: error });
    throw error;
  }
}
