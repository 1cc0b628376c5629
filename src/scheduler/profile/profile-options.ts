// The form of a profile in kubescheduler.config.k8s.io/v1.

import { invalidOption } from '../../base/errors.ts';
import { membersOption, numberOption } from '../../base/options.ts';
import { type ExtensionPoint, extensionPoints } from '../framework/plugin.ts';

/** A plugin that a profile has. */
export interface EnabledPlugin {
  /** The name of the plugin in the registry. */
  readonly name: string;
  /** How often the plugin's scores count. Default, and for 0: 1. */
  readonly weight?: number;
}

/** Which plugins take part. */
export interface PluginSet {
  /** A default plugin keeps its place, others come after those. */
  readonly enabled?: readonly EnabledPlugin[];
  /** Plugins to leave out; the name `*` stands for all defaults. */
  readonly disabled?: readonly { readonly name: string }[];
}

/**
 * The plugins of a profile. `multiPoint` names plugins for all extension points that they have methods for; the other members
 * change one extension point: plugins named there come first, in that order.
 */
export type ProfilePluginsOptions = { readonly multiPoint?: PluginSet } & {
  readonly [Point in ExtensionPoint]?: PluginSet;
};

/**
 * A profile: pods that name its scheduler are placed by its plugins. The members are those of kube-scheduler's configuration, and one that
 * is null counts as absent there.
 */
export interface ProfileOptions {
  /** Default: `default-scheduler`. */
  readonly schedulerName?: string;
  /** From 0 to 100; 0, the default: from 50 percent of the nodes down to 5, the more nodes there are, and always at least 100. */
  readonly percentageOfNodesToScore?: number;
  /** What differs from the default plugins. */
  readonly plugins?: ProfilePluginsOptions;
  /** The arguments of plugins. */
  readonly pluginConfig?: readonly { readonly name: string; readonly args?: unknown }[];
}

/** A point of kube-scheduler at which no plugin here takes part: groups of pods are placed there. A profile may leave it empty. */
const pointsOfGroups: readonly string[] = ['placementGenerate', 'placementScore'];

/** Refuses what is no profile: throws ERR_INVALID_OPTION, which names the member at `path`. A member that is null counts as absent. */
export function requireProfile(path: string, profile: unknown): asserts profile is ProfileOptions {
  membersOption(path, profile, ['schedulerName', 'percentageOfNodesToScore', 'plugins', 'pluginConfig']);
  const { schedulerName, percentageOfNodesToScore, plugins, pluginConfig } = profile as Record<string, unknown>;
  if (schedulerName != null) requireName(`${path}.schedulerName`, schedulerName);
  if (percentageOfNodesToScore != null) {
    numberOption(`${path}.percentageOfNodesToScore`, percentageOfNodesToScore, 0, 100);
  }
  if (plugins != null) requirePlugins(`${path}.plugins`, plugins);
  for (const [index, config] of list(`${path}.pluginConfig`, pluginConfig).entries()) {
    membersOption(`${path}.pluginConfig[${index}]`, config, ['name', 'args']);
    requireName(`${path}.pluginConfig[${index}].name`, (config as { name?: unknown }).name);
  }
}

function requirePlugins(path: string, plugins: unknown): void {
  membersOption(path, plugins, ['multiPoint', ...Object.keys(extensionPoints), ...pointsOfGroups]);
  for (const [point, set] of Object.entries(plugins as object)) {
    if (set == null) continue;
    membersOption(`${path}.${point}`, set, ['enabled', 'disabled']);
    const enabled = list(`${path}.${point}.enabled`, set.enabled);
    if (enabled.length > 0 && pointsOfGroups.includes(point)) {
      throw invalidOption(`${path}.${point}.enabled`, 'empty: no plugin here places groups of pods', enabled);
    }
    for (const [index, plugin] of enabled.entries()) {
      const at = `${path}.${point}.enabled[${index}]`;
      membersOption(at, plugin, ['name', 'weight']);
      const { name, weight } = plugin as { name?: unknown; weight?: unknown };
      requireName(`${at}.name`, name);
      if (weight == null) continue;
      numberOption(`${at}.weight`, weight, 0, mostWeight);
      if (!Number.isInteger(weight)) throw invalidOption(`${at}.weight`, 'an integer', weight);
    }
    for (const [index, plugin] of list(`${path}.${point}.disabled`, set.disabled).entries()) {
      const at = `${path}.${point}.disabled[${index}]`;
      membersOption(at, plugin, ['name']);
      requireName(`${at}.name`, (plugin as { name?: unknown }).name);
    }
  }
}

/** Sums of scores stay whole numbers that a double can hold. */
const mostWeight = 2 ** 31 - 1;

function requireName(path: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw invalidOption(path, 'a non-empty string', value);
}

function list(path: string, value: unknown): readonly unknown[] {
  if (value == null) return [];
  if (Array.isArray(value)) return value;
  throw invalidOption(path, 'a list', value);
}
