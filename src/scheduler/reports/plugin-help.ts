import { capitalized } from '../../base/problem.ts';
import type { Diagnosis } from '../framework/fit-error.ts';
import type { PluginRejection } from '../framework/plugin.ts';
import type { SchedulerProblemKind } from '../problem-kinds.ts';

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
  if (clauses.length === 0 && diagnosis.rejectors.has('Extender'))
    return 'See why the extenders of the scheduler leave out every node.';
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
  Extender: ({ nodes }) => `see why an extender of the scheduler refuses ${nodesText(nodes)}`,
  VolumeRestrictions: ({ nodes }) => `wait until the other pod lets the disk go: it is in use on ${nodesText(nodes)}`,
  VolumeBinding: volumesClause,
  DynamicResources: devicesClause,
  VolumeZone: ({ nodes }) => `add a node in the zone of the pod's volumes: ${nodesText(nodes)} are elsewhere`,
  NodeVolumeLimits: ({ nodes }) =>
    `add a node, or end pods with volumes of the same driver: ${nodesText(nodes)} can attach no more of them`,
};

/** Has to do with all nodes, so the first of these that was said counts. */
const volumesHelp: readonly (readonly [reason: RegExp, help: string])[] = [
  [/non-existent/, 'restore the volume that the claim is bound to, or make the claim anew: the volume is gone, say'],
  [/enough free storage/, 'see what room the storage driver reports (CSIStorageCapacity), or claim less: too little is free for'],
  [
    /available persistent volumes/,
    'add a PersistentVolume that fits the claim (class, size, access modes, place): there is none for',
  ],
  [/node affinity/, "add a node where the pod's volume can be reached, or move the volume: it cannot be reached from"],
];

function volumesClause({ nodes, reasons }: Against): string {
  const said = [...reasons.keys()];
  const [, help = "see the pod's claims: their volumes keep it from"] =
    volumesHelp.find(([pattern]) => said.some((reason) => pattern.test(reason))) ?? [];
  return `${help} ${nodesText(nodes)}`;
}

function devicesClause({ nodes, reasons }: Against): string {
  const said = [...reasons.keys()].join('; ');
  const [, lacking] = /has no method (\w+)/.exec(said) ?? [];
  if (lacking !== undefined) return `give the scheduler's client the method ${lacking}: it writes the claim that the pod needs`;
  if (said.includes('cannot schedule extended resource claim'))
    return "wait until the claim that was made for the pod's extended resources before is gone, or end the pods that use it: the pod gets another one then";
  if ([...reasons.keys()].some((reason) => /not available on the node/.test(reason)))
    return `add a node where the devices of the pod's claims can be had, or make the claims anew: they cannot be had on ${nodesText(nodes)}`;
  return `add devices, end pods that use some, or ask for less in the pod's claims: what they ask for is not free on ${nodesText(nodes)}`;
}

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
function helpAsSuch({ plugin, reasons }: PluginRejection): string {
  const ofClaim = claimsHelp.find(([pattern]) => reasons.some((reason) => pattern.test(reason)));
  if (ofClaim !== undefined && ofVolumes.has(plugin)) return ofClaim[1];
  const ofDevices = plugin === 'DynamicResources' ? helpWithDevices(reasons) : undefined;
  if (ofDevices !== undefined) return ofDevices;
  return asSuch[plugin] ?? `Change the pod so that the plugin ${plugin} agrees: on its account no node was looked at.`;
}

const asSuch: Readonly<Record<string, string>> = {
  DynamicResources: 'See the claims of devices of the pod: they cannot be used as they are.',
  GangScheduling:
    'Let a scheduler that places pod groups have the pod, or turn the plugin GangScheduling off in the profile: its pods are then placed one by one, and some may wait while others hold nodes.',
  NodeAffinity: 'Correct the node selector and the affinity of the pod: no node can be what they ask.',
  InterPodAffinity: 'Correct the affinity of the pod: it cannot be read.',
};

/** What would help where a plugin of ours has failed on account of what users wrote; undefined where the plugin is to be corrected. */
export function helpForFailedPlugin(plugin: string, extensionPoint: string, message: string): string | undefined {
  if (plugin !== 'DynamicResources') return undefined;
  if (isOfTime.test(message))
    return 'Ask for less in the claims of the namespace: with fewer alternatives, constraints and steps of selectors. The pod is tried again once its namespace has time left for searches.';
  if (extensionPoint === 'filter' || extensionPoint === 'preFilter')
    return 'Correct what the message names, in the claim or its template, the device class or the slices of the driver: it cannot be worked out as it stands.';
  return 'See what the message says of the claim: it could not be written, or its devices are not ready. The pod is tried again.';
}

const isOfTime = /timed out trying to allocate devices|have taken too long/;

/** By what the plugin for claims of devices says of a pod as such. */
const deviceClaimsHelp: readonly (readonly [reason: RegExp, help: string])[] = [
  [
    /which a policy does not do/,
    'Let a profile in place of the policy place the pod: a policy places no pod with claims of devices.',
  ],
  [
    /not created yet/,
    'See whether kube-controller-manager runs: it makes the claims of a pod from their templates. The pod is tried again then.',
  ],
  [/is not owner/, "Delete or rename the claim that has the name of the pod's own: it was made for somebody else."],
  [/being deleted/, 'Wait until the claim is gone, and make it anew, or let the pod name another one.'],
  [
    /could not find/,
    'Make the claim that the message names, or correct its name in the pod. A server without resource.k8s.io/v1 has no claims.',
  ],
  [/device class .* does not exist/, 'Make the device class that the message names, or correct its name in the claim.'],
  [
    /in the process of being allocated/,
    'Nothing is to be done: another pod that shares the claim is being bound. The pod is tried again then.',
  ],
  [/has no method/, "Give the scheduler's client the method that the message names: by it claims are written."],
];

function helpWithDevices(reasons: readonly string[]): string | undefined {
  return deviceClaimsHelp.find(([pattern]) => reasons.some((reason) => pattern.test(reason)))?.[1];
}

/** What would help a pod that a plugin keeps from being tried. */
export function helpForGate(plugin: string, reasons: readonly string[]): string {
  const help = plugin === 'DynamicResources' ? helpWithDevices(reasons) : undefined;
  return help ?? `See what the plugin ${plugin} waits for.`;
}

const ofVolumes: ReadonlySet<string> = new Set(['VolumeBinding', 'VolumeZone', 'VolumeRestrictions', 'NodeVolumeLimits']);

/** By what the plugins of volumes say of a pod as such. */
const claimsHelp: readonly (readonly [reason: RegExp, help: string])[] = [
  [
    /unbound immediate/,
    "See why the pod's claim has no volume yet: its storage class makes one, or an administrator, and kube-controller-manager marks the claim as bound (pv.kubernetes.io/bind-completed). The pod is tried again then.",
  ],
  [
    /waiting for ephemeral/,
    'See whether kube-controller-manager runs: it makes the claim of an ephemeral volume. The pod is tried again then.',
  ],
  [/is not owner/, "Delete or rename the claim that has the name of the pod's ephemeral volume: it was made for somebody else."],
  [/being deleted/, 'Wait until the claim is gone, and make it anew, or let the pod name another one.'],
  [/non-existent/, 'Restore the volume that the claim is bound to, or make the claim anew: the volume is gone.'],
  [/not found/, 'Make what the message names, or correct its name in the pod or in the claim.'],
  [
    /does not bind/,
    'Use a volume that needs no claim, or a profile in place of the policy: a policy places no pod with claims of volumes.',
  ],
  [/no method patchObject/, "Give the scheduler's client the method patchObject: it writes who gets which volume."],
];

/** What would help a pod that has its node while a plugin works before it is bound. */
export function helpBeforeBinding(plugin: string): string {
  if (plugin === 'VolumeBinding')
    return "See whether what makes or binds the volumes runs: the provisioner of the claims' storage class, and kube-controller-manager. In the end the pod gives the node back and is tried again.";
  if (plugin === 'DynamicResources')
    return 'See whether the drivers of the devices run: each says in the status of the claim when its device is ready. In the end the pod gives the node back and is tried again.';
  return `See what the plugin ${plugin} waits for. In the end the pod gives the node back and is tried again.`;
}

/** `volume-claim`, `resource-claim`: the pod's claims cannot be used as they are. `pod-group`: this scheduler never places it. */
export function kindOfNowhere({ rest, isRejectedAsSuch }: Diagnosis): SchedulerProblemKind {
  if (!isRejectedAsSuch) return 'no-node-fits';
  if (rest !== undefined && ofVolumes.has(rest.plugin)) return 'volume-claim';
  if (rest?.plugin === 'GangScheduling') return 'pod-group';
  return rest?.plugin === 'DynamicResources' ? 'resource-claim' : 'no-node-fits';
}
