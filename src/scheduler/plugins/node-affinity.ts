// Behaviour of pkg/scheduler/framework/plugins/nodeaffinity, v1.36.3.
import type { WireNode, WirePod } from '../../api/json/types.ts';
import {
  type GivenNodeSelectorTerm,
  type GivenPreferredTerm,
  type NodePreference,
  type NodeTest,
  parseNodePreference,
  parseNodeSelectorTerm,
  requiredNodeAffinity,
} from '../../api/selectors/node-selector.ts';
import { invalidOption, StatusManagerError } from '../../base/errors.ts';
import { membersOption } from '../../base/options.ts';
import { stateKey } from '../framework/cycle-state.ts';
import { withSignature } from '../framework/placed-plugin.ts';
import type { Plugin, PreFilterAnswer, QueueingHint, Rejection } from '../framework/plugin.ts';
import { kept, normalizeScores } from './common.ts';

const notMatched = rejection("node(s) didn't match Pod's node affinity/selector");
const notEnforced = rejection("node(s) didn't match scheduler-enforced node affinity");
const conflict = rejection('pod affinity terms conflict');

/** What was read of a pod's affinity. It does not change within a cycle. */
class Fixed<Value> {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }

  clone(): Fixed<Value> {
    return this;
  }
}

const requiredKey = stateKey<Fixed<NodeTest>>('NodeAffinity, required');
const preferredKey = stateKey<Fixed<NodePreference>>('NodeAffinity, preferred');

/**
 * Rejects nodes that the pod's node selector and required node affinity do not select, and scores the others by what the pod
 * prefers. `addedAffinity` in the arguments, a node affinity as pods have it, holds for every pod beside the pod's own. Throws
 * ERR_INVALID_OPTION for other arguments.
 */
export function nodeAffinity(args?: unknown): Plugin {
  const added = nodeAffinityArguments(args);
  const plugin: Plugin = {
    name: 'NodeAffinity',
    eventsToRegister: () => [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeLabel'],
        hint: (pod, before, after) =>
          afterNodeChange(added.required, pod, before as WireNode | undefined, after as WireNode | undefined),
      },
    ],
    preFilter(state, { pod }) {
      const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      if (required == null && added.required === undefined && pod.spec?.nodeSelector == null) return 'skip';
      state.write(requiredKey, new Fixed(requiredNodeAffinity(pod)));
      return namedNodes(pod);
    },
    filter(state, _pod, { node }) {
      if (added.required !== undefined && !added.required(node)) return notEnforced;
      return kept(state, requiredKey).value(node) ? undefined : notMatched;
    },
    preScore(state, { pod }) {
      const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
      if (preferred == null && added.preferred === undefined) return 'skip';
      state.write(preferredKey, new Fixed(parseNodePreference('preferredDuringSchedulingIgnoredDuringExecution', preferred)));
      return undefined;
    },
    score: (state, _pod, { node }) => (added.preferred?.score(node) ?? 0) + kept(state, preferredKey).value.score(node),
    normalizeScores: (_state, _pod, scores) => normalizeScores(scores),
  };
  return withSignature(plugin, ({ pod: { spec } }) => {
    const { nodeSelector, affinity } = spec ?? {};
    const isFree = nodeSelector == null && affinity?.nodeAffinity == null;
    return isFree ? '' : JSON.stringify([nodeSelector, affinity?.nodeAffinity]);
  });
}

function rejection(reason: string): Rejection {
  return { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
}

/** Where every term asks for nodes by their names, no other node needs to be looked at. */
function namedNodes({ spec }: WirePod): PreFilterAnswer {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const nodeNames = new Set<string>();
  for (const { matchFields } of terms) {
    const lists = (matchFields ?? []).filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    const [first, ...others] = lists.map(({ values }) => values ?? []);
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((list) => list.includes(name))) nodeNames.add(name);
  }
  return nodeNames.size === 0 ? conflict : { nodeNames };
}

/** Helps where the node is selected now, and was not before. */
function afterNodeChange(
  enforced: NodeTest | undefined,
  pod: WirePod,
  before: WireNode | undefined,
  after: WireNode | undefined,
): QueueingHint {
  if (after === undefined || (enforced !== undefined && !enforced(after))) return 'Skip';
  const selects = requiredNodeAffinity(pod);
  return selects(after) && (before === undefined || !selects(before)) ? 'Queue' : 'Skip';
}

// Rules of ValidateNodeAffinityArgs, pkg/scheduler/apis/config/validation, v1.36.3.

/** The node affinity that a profile adds to that of every pod. */
export interface AddedAffinity {
  readonly required: NodeTest | undefined;
  readonly preferred: NodePreference | undefined;
}

const requiredName = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredName = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Throws ERR_INVALID_OPTION for unknown members, and for terms that break a rule. */
function nodeAffinityArguments(args: unknown): AddedAffinity {
  const { addedAffinity } = membersOption('NodeAffinityArgs', args ?? {}, ['apiVersion', 'kind', 'addedAffinity']);
  const path = 'NodeAffinityArgs.addedAffinity';
  const { [requiredName]: required, [preferredName]: preferred } = membersOption(path, addedAffinity ?? {}, [
    requiredName,
    preferredName,
  ]);
  return {
    required: required == null ? undefined : asOption(() => requiredTest(`${path}.${requiredName}`, required)),
    preferred: preferred == null ? undefined : asOption(() => preference(`${path}.${preferredName}`, preferred)),
  };
}

function requiredTest(path: string, required: unknown): NodeTest {
  const { nodeSelectorTerms } = membersOption(path, required, ['nodeSelectorTerms']);
  const terms = objects(`${path}.nodeSelectorTerms`, nodeSelectorTerms ?? []) as readonly GivenNodeSelectorTerm[];
  const tests = terms.map((term, index) => parseNodeSelectorTerm(`${path}.nodeSelectorTerms[${index}]`, term));
  return (node) => tests.some((test) => test(node));
}

function preference(path: string, preferred: unknown): NodePreference | undefined {
  const terms = objects(path, preferred);
  for (const [index, term] of terms.entries()) {
    const { weight, preference: selector } = membersOption(`${path}[${index}]`, term, ['weight', 'preference']);
    if (!Number.isInteger(weight)) throw invalidOption(`${path}[${index}].weight`, 'an integer', weight);
    membersOption(`${path}[${index}].preference`, selector, ['matchExpressions', 'matchFields']);
  }
  return terms.length === 0 ? undefined : parseNodePreference(path, terms as readonly unknown[] as readonly GivenPreferredTerm[]);
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
