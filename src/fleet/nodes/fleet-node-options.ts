import type { WireNode } from '../../api/json/types.ts';
import { invalidOption } from '../../base/errors.ts';
import { isDnsSubdomain } from '../../base/names.ts';
import { requireKnownOptions } from '../../base/options.ts';
import type { ProviderNodeOptions } from '../../node/provider/provider-node-options.ts';
import { isLabelSelectorText } from './checked-node-options.ts';

const givenOptions: readonly string[] = [
  'kubeConfig',
  'transport',
  'sharedWatches',
  'nodeName',
  'isSoleAgent',
  'provider',
  'podManager',
  'podClient',
  'eventRecorder',
  'removeOnStop',
  'random',
  'clock',
  'logger',
  'metrics',
] satisfies Exclude<keyof ProviderNodeOptions, keyof FleetNodeOptions>[];

/** What a node of a fleet may be told for itself: the options of a `ProviderNode`, but those that the fleet gives it. */
export type FleetNodeOptions = Omit<
  ProviderNodeOptions,
  | 'kubeConfig'
  | 'transport'
  | 'sharedWatches'
  | 'nodeName'
  | 'isSoleAgent'
  | 'provider'
  | 'podManager'
  | 'podClient'
  | 'eventRecorder'
  | 'removeOnStop'
  | 'random'
  | 'clock'
  | 'logger'
  | 'metrics'
>;

/** A node of a fleet. */
export interface FleetNode {
  /** The name of the node. */
  readonly name: string;
  /** What is different from the fleet's `nodeOptions`. Default: nothing. */
  readonly options?: FleetNodeOptions;
}

/** A node that has come or gone. One that is added again with other options is stopped, and started with these; options that say the same change nothing. A function counts as another one unless it is the same. */
export interface FleetNodeChange {
  /** What has become of the node. */
  readonly type: 'added' | 'removed';
  /** The node, or its name alone. */
  readonly node: string | FleetNode;
}

/** Nodes by their labels: every Node object of the cluster with these is a node of the fleet. */
export interface SelectedNodes {
  /** As `kubectl get nodes -l`. */
  readonly labelSelector: string;
  /**
   * The options of a node, by its object. Called when a node comes, and again when its labels, its annotations or its spec have changed: a
   * node whose options are other ones then is stopped, and started with these. Functions, and objects of a class, among the options count
   * as the same. What it throws is told; it keeps a new node out until its object changes, and lets another go on with the options that it had.
   */
  readonly options?: (node: WireNode) => FleetNodeOptions;
}

/** Which nodes a fleet has: a list, changes as they come, or Node objects by their labels. All members are to be given the same. */
export type FleetNodes = readonly (string | FleetNode)[] | AsyncIterable<FleetNodeChange> | SelectedNodes;

/** Throws ERR_INVALID_OPTION for an option that the fleet gives its nodes itself. */
export function requireFleetNodeOptions(name: string, options: unknown): asserts options is FleetNodeOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw invalidOption(name, 'an object', options);
  if ('then' in options) throw invalidOption(name, 'an object, not a promise of one', options);
  for (const given of givenOptions) {
    if (given in options) throw invalidOption(`${name}.${given}`, 'absent: the fleet gives it', 'given');
  }
}

/** A node as it was given, checked. Throws ERR_INVALID_OPTION. */
export function checkedNode(path: string, given: unknown): FleetNode {
  if (typeof given === 'string') return checkedNode(path, { name: given });
  requireKnownOptions(path, given, ['name', 'options']);
  const { name, options } = given as FleetNode;
  if (typeof name !== 'string' || !isDnsSubdomain(name)) throw invalidOption(`${path}.name`, 'the name of a node', name);
  if (options !== undefined) requireFleetNodeOptions(`${path}.options`, options);
  return { name, ...(options !== undefined && { options }) };
}

const nodesRule = 'a list of nodes, an async iterable of changes, or an object with a labelSelector';

/** The option `nodes`, checked as far as it can be. Throws ERR_INVALID_OPTION. */
export function nodesOption(nodes: unknown): FleetNodes {
  if (typeof nodes !== 'object' || nodes === null) throw invalidOption('nodes', nodesRule, nodes);
  if (Array.isArray(nodes)) return listOfNodes(nodes);
  if (Symbol.asyncIterator in nodes && typeof nodes[Symbol.asyncIterator] === 'function') return nodes as AsyncIterable<never>;
  if (!('labelSelector' in nodes)) throw invalidOption('nodes', nodesRule, nodes);
  requireKnownOptions('nodes', nodes, ['labelSelector', 'options']);
  const { labelSelector, options } = nodes as SelectedNodes;
  if (typeof labelSelector !== 'string' || labelSelector === '')
    throw invalidOption('nodes.labelSelector', 'a non-empty text', labelSelector);
  if (!isLabelSelectorText(labelSelector))
    throw invalidOption('nodes.labelSelector', 'a selector of labels, such as `fleet=edge,!old`', labelSelector);
  if (options !== undefined && typeof options !== 'function') throw invalidOption('nodes.options', 'a function', options);
  return nodes as SelectedNodes;
}

function listOfNodes(nodes: readonly unknown[]): readonly FleetNode[] {
  const names = new Set<string>();
  return nodes.map((given, index) => {
    const node = checkedNode(`nodes[${index}]`, given);
    if (names.has(node.name)) throw invalidOption('nodes', 'a list in which each name is there once', node.name);
    names.add(node.name);
    return node;
  });
}
