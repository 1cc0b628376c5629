import { invalidOption } from '../../base/errors.ts';
import { type ExtensionPoint, extensionPoints, type Plugin, type PluginFactory } from '../framework/plugin.ts';
import { dynamicResources } from '../plugins/devices/allocating-plugin.ts';
import { imageLocality } from '../plugins/image-locality.ts';
import { nodeAffinity } from '../plugins/node-affinity.ts';
import {
  defaultBinder,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  prioritySort,
  schedulingGates,
} from '../plugins/one-rule-plugins.ts';
import { createInterPodAffinity } from '../plugins/pod-affinity/inter-pod-affinity.ts';
import { gangScheduling } from '../plugins/pod-group-refusal.ts';
import { nodeResourcesBalancedAllocation } from '../plugins/resources/balanced-allocation.ts';
import { nodeResourcesFit } from '../plugins/resources/node-resources-fit.ts';
import { createPodTopologySpread } from '../plugins/spread/pod-topology-spread.ts';
import { taintToleration } from '../plugins/taint-toleration.ts';
import { nodeVolumeLimits } from '../plugins/volumes/node-volume-limits.ts';
import { volumeBinding } from '../plugins/volumes/volume-binding.ts';
import { volumeRestrictions } from '../plugins/volumes/volume-restrictions.ts';
import { volumeZone } from '../plugins/volumes/volume-zone.ts';
import { DefaultPreemption } from '../preemption/default-preemption.ts';
import type { EnabledPlugin } from './profile-options.ts';

/** What makes each plugin, by the plugin's name. */
export type PluginRegistry = Readonly<Record<string, PluginFactory>>;

/**
 * The plugins of this library: a new object, to which own ones may be added.
 *
 * @example
 * ```ts
 * import { inTreePlugins, type PluginRegistry } from 'pod-status-manager/scheduler';
 *
 * const registry: PluginRegistry = {
 *   ...inTreePlugins(),
 *   EvenNodes: () => ({ name: 'EvenNodes', score: (_state, _pod, node) => (Number(node.name.at(-1)) % 2 === 0 ? 100 : 0) }),
 * };
 * console.log(Object.keys(registry).length, 'NodeName' in registry); // 20 true
 * ```
 */
export function inTreePlugins(): Record<string, PluginFactory> {
  return {
    SchedulingGates: schedulingGates,
    PrioritySort: prioritySort,
    NodeUnschedulable: nodeUnschedulable,
    NodeName: nodeName,
    TaintToleration: taintToleration,
    NodeAffinity: nodeAffinity,
    NodePorts: nodePorts,
    NodeResourcesFit: nodeResourcesFit,
    VolumeRestrictions: volumeRestrictions,
    NodeVolumeLimits: nodeVolumeLimits,
    VolumeBinding: volumeBinding,
    VolumeZone: volumeZone,
    DynamicResources: dynamicResources,
    PodTopologySpread: createPodTopologySpread,
    InterPodAffinity: createInterPodAffinity,
    DefaultPreemption: (args, handle) => new DefaultPreemption(args, handle),
    NodeResourcesBalancedAllocation: nodeResourcesBalancedAllocation,
    ImageLocality: imageLocality,
    DefaultBinder: defaultBinder,
  };
}

// Behaviour of mergePluginSet, pkg/scheduler/apis/config/v1, and of expandMultiPointPlugins, pkg/scheduler/framework/runtime, v1.36.3.

/** The plugins that a profile names for one point. */
export interface NamedPlugins {
  readonly enabled: readonly EnabledPlugin[];
  readonly disabled: readonly { readonly name: string }[];
}

const all = '*';

/** The defaults without those that are turned off; one that is named keeps its place with its new weight, others come after. */
export function mergedPlugins(
  path: string,
  defaults: readonly EnabledPlugin[],
  { enabled, disabled }: NamedPlugins,
): readonly EnabledPlugin[] {
  const off = new Set(disabled.map(({ name }) => name));
  requireEachOnce(`${path}.enabled`, enabled);
  const given = new Map(enabled.map((plugin) => [plugin.name, plugin]));
  const kept = off.has(all) ? [] : defaults.filter(({ name }) => !off.has(name));
  const known = new Set(kept.map(({ name }) => name));
  return [...kept.map((plugin) => given.get(plugin.name) ?? plugin), ...enabled.filter(({ name }) => !known.has(name))];
}

/**
 * The plugins of one extension point: first those of `multiPoint` that the point names, in the point's order; then the rest of
 * `multiPoint`; then what else the point names.
 */
export function pluginsOfPoint(
  path: string,
  point: ExtensionPoint,
  multiPoint: readonly Plugin[],
  { enabled, disabled }: NamedPlugins,
  find: (name: string) => Plugin,
): readonly Plugin[] {
  requireEachOnce(`${path}.enabled`, enabled);
  const named = enabled.map(({ name }, index) => {
    const plugin = find(name);
    if (hasPoint(plugin, point)) return plugin;
    throw invalidOption(`${path}.enabled[${index}].name`, `a plugin with the method ${extensionPoints[point]}`, name);
  });
  const off = new Set(disabled.map(({ name }) => name));
  if (off.has(all)) return named;
  const expanded = multiPoint.filter((plugin) => hasPoint(plugin, point) && !off.has(plugin.name));
  return [
    ...named.filter((plugin) => expanded.includes(plugin)),
    ...expanded.filter((plugin) => !named.includes(plugin)),
    ...named.filter((plugin) => !expanded.includes(plugin)),
  ];
}

function hasPoint(plugin: Plugin, point: ExtensionPoint): boolean {
  if (typeof plugin[extensionPoints[point]] === 'function') return true;
  // a plugin that takes its place in permit has something to undo all the same
  return point === 'reserve' && typeof plugin.unreserve === 'function';
}

function requireEachOnce(path: string, enabled: readonly EnabledPlugin[]): void {
  for (const [index, { name }] of enabled.entries()) {
    if (enabled.findIndex((other) => other.name === name) === index) continue;
    throw invalidOption(`${path}[${index}].name`, 'a plugin that is not listed before', name);
  }
}

// The plugins of pkg/scheduler/apis/config/v1 getDefaultPlugins, v1.36.3, in their order.

/** The plugins of a profile that names none. */
export const defaultPlugins: readonly EnabledPlugin[] = [
  { name: 'SchedulingGates' },
  { name: 'PrioritySort' },
  { name: 'NodeUnschedulable' },
  { name: 'NodeName' },
  { name: 'TaintToleration', weight: 3 },
  { name: 'NodeAffinity', weight: 2 },
  { name: 'NodePorts' },
  { name: 'NodeResourcesFit', weight: 1 },
  { name: 'VolumeRestrictions' },
  { name: 'NodeVolumeLimits' },
  { name: 'VolumeBinding' },
  { name: 'VolumeZone' },
  { name: 'PodTopologySpread', weight: 2 },
  { name: 'InterPodAffinity', weight: 2 },
  { name: 'DynamicResources', weight: 2 },
  { name: 'DefaultPreemption' },
  { name: 'NodeResourcesBalancedAllocation', weight: 1 },
  { name: 'ImageLocality', weight: 1 },
  { name: 'DefaultBinder' },
];

/** A default plugin of kube-scheduler that is not here. A profile may name it: it has nothing to do for a node that declares no features. */
export const absentDefaults: readonly string[] = ['NodeDeclaredFeatures'];

/** Plugins of kube-scheduler that are not here. A profile may turn them off. */
export const absentPlugins: readonly string[] = [...absentDefaults, gangScheduling];
