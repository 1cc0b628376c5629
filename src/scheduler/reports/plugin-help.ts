import { capitalized } from '../../base/problem.ts';
import type { Diagnosis } from '../framework/fit-error.ts';
import type { PluginRejection } from '../framework/plugin.ts';

/** What one plugin has against so many nodes. */
interface Against {
  readonly nodes: number;
  /** On so many of them the end of other pods may help. */
  readonly resolvable: number;
  /** How many nodes each reason was said of. */
  readonly reasons: ReadonlyMap<string, number>;
}

/** A pod may be rejected by many plugins: those with the most nodes are named. */
const mostClauses = 3;
const mostResources = 3;

/** What would help a pod that fits nowhere: one sentence, of the plugins with the most nodes first. */
export function helpForNowhere(diagnosis: Diagnosis): string | undefined {
  const { rest, isRejectedAsSuch } = diagnosis;
  if (isRejectedAsSuch && rest !== undefined) return helpAsSuch(rest);
  const clauses = [...againstByPlugin(diagnosis)]
    .sort(([name, one], [other, two]) => two.nodes - one.nodes || (name < other ? -1 : 1))
    .slice(0, mostClauses)
    .map(([plugin, against]) => clauseOf(plugin, against));
  return clauses.length === 0 ? undefined : `${capitalized(clauses.join('; '))}.`;
}

/** Names the plugin that left out nodes before the filters. */
const ruledOutBy = /plugin\(s\) \[([^ \]]+)/;

function againstByPlugin({ failures, rest, nodes }: Diagnosis): Map<string, Against> {
  const found = new Map<string, { nodes: number; resolvable: number; reasons: Map<string, number> }>();
  const add = ({ plugin, code, reasons }: PluginRejection, count: number): void => {
    const name = plugin === '' ? (ruledOutBy.exec(reasons[0] ?? '')?.[1] ?? '') : plugin;
    const one = found.get(name) ?? { nodes: 0, resolvable: 0, reasons: new Map<string, number>() };
    found.set(name, one);
    one.nodes += count;
    if (code === 'Unschedulable') one.resolvable += count;
    for (const reason of reasons) one.reasons.set(reason, (one.reasons.get(reason) ?? 0) + count);
  };
  const addAll = (rejection: PluginRejection, count: number): void => {
    for (const part of rejection.parts ?? [rejection]) add(part, count);
  };
  for (const rejection of failures.values()) addAll(rejection, 1);
  if (rest !== undefined && nodes > failures.size) addAll(rest, nodes - failures.size);
  return found;
}

/** `1 node`, `2 nodes`. */
function nodesText(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

function clauseOf(plugin: string, against: Against): string {
  const clause = clauseOfPlugin[plugin];
  if (clause !== undefined) return clause(against);
  const who = plugin === '' ? 'a plugin' : `the plugin ${plugin}`;
  return `change the pod or a node so that ${who}, which refuses ${nodesText(against.nodes)}, agrees`;
}

const clauseOfPlugin: Readonly<Record<string, (against: Against) => string>> = {
  NodeResourcesFit: resourcesClause,
  NodeUnschedulable: ({ nodes }) => `uncordon a node: ${nodesText(nodes)} may take no new pods`,
  TaintToleration: ({ nodes }) =>
    `remove a taint, or add a toleration to the pod: ${nodesText(nodes)} ${nodes === 1 ? 'has' : 'have'} one that it does not tolerate (a node that is not ready has one)`,
  NodeAffinity: ({ nodes }) =>
    `label a node as the pod's node selector and affinity ask, or change these: they leave out ${nodesText(nodes)}`,
  NodeName: ({ nodes }) => `add the node that the pod names, or name another one: ${nodesText(nodes)} have another name`,
  NodePorts: ({ nodes }) => `add a node, or let the pod take another host port: on ${nodesText(nodes)} another pod has the port`,
  PodTopologySpread: ({ nodes }) =>
    `add a node where few of these pods are, label nodes with the topology key, or loosen the spread constraints: they leave out ${nodesText(nodes)}`,
  InterPodAffinity: ({ nodes }) =>
    `add a node, or loosen the affinity and anti-affinity to other pods (theirs counts, too): they leave out ${nodesText(nodes)}`,
  VolumeRestrictions: ({ nodes }) => `wait until the other pod lets the disk go: it is in use on ${nodesText(nodes)}`,
};

const lacks = /^Insufficient (.+)$/;

/** What lacks, on how many nodes, and whether the end of other pods would make room. */
function resourcesClause({ nodes, resolvable, reasons }: Against): string {
  const lacking = [...reasons].sort(([, one], [, two]) => two - one).map(([reason]) => resourceOf(reason));
  const named = [...lacking.slice(0, mostResources), ...(lacking.length > mostResources ? ['more'] : [])];
  const what = named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
  const verb = named.length < 2 ? 'lacks' : 'lack';
  const tooSmall = nodes - resolvable;
  if (resolvable === 0)
    return `lower the pod's requests, or add a larger node: ${what} ${verb} on ${nodesText(nodes)}, even without any other pod`;
  const rest = tooSmall === 0 ? '' : ` (${nodesText(tooSmall)} would be too small even without any other pod)`;
  return `add a node, end other pods, lower the pod's requests or raise its priority: ${what} ${verb} on ${nodesText(nodes)}${rest}`;
}

function resourceOf(reason: string): string {
  if (reason === 'Too many pods') return 'room for one more pod';
  return lacks.exec(reason)?.[1]?.slice(0, 100) ?? reason.slice(0, 100);
}

/** What would help a pod that no node was looked at for. */
function helpAsSuch({ plugin }: PluginRejection): string {
  return asSuch[plugin] ?? `Change the pod so that the plugin ${plugin} agrees: on its account no node was looked at.`;
}

const asSuch: Readonly<Record<string, string>> = {
  VolumeBinding:
    'Use a volume that needs no claim, or let a scheduler that binds volumes place the pod: whether the claim is there and bound changes nothing here.',
  DynamicResources: 'Let a scheduler that allocates devices place the pod: this one does not.',
  NodeAffinity: 'Correct the node selector and the affinity of the pod: no node can be what they ask.',
  InterPodAffinity: 'Correct the affinity of the pod: it cannot be read.',
};

/** `volume-claim` and `resource-claim` for what this scheduler never places. */
export function kindOfNowhere({ rest, isRejectedAsSuch }: Diagnosis): string {
  if (!isRejectedAsSuch) return 'no-node-fits';
  if (rest?.plugin === 'VolumeBinding') return 'volume-claim';
  return rest?.plugin === 'DynamicResources' ? 'resource-claim' : 'no-node-fits';
}
