// Behaviour of mergePluginSet, pkg/scheduler/apis/config/v1, and of expandMultiPointPlugins, pkg/scheduler/framework/runtime, v1.36.3.
import { invalidOption } from '../../base/errors.ts';
import { type ExtensionPoint, extensionPoints } from '../framework/extension-points.ts';
import type { Plugin } from '../framework/plugin.ts';
import type { EnabledPlugin } from './profile-options.ts';

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
