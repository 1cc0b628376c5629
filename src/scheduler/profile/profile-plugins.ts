import { invalidOption, StatusManagerError } from '../../base/errors.ts';
import { catchRejection, ignoreFailure } from '../../base/guard.ts';
import { longestTimerMs, numberOption } from '../../base/options.ts';
import type { ProfileMaker } from '../classic/policy-profile.ts';
import { Framework, type FrameworkContext } from '../framework/framework.ts';
import {
  type ExtensionPoint,
  extensionPoints,
  type Plugin,
  type PluginFactory,
  type PluginHandle,
  type ProfilePlugins,
} from '../framework/plugin.ts';
import { gangScheduling, withoutPodGroups } from '../plugins/pod-group-refusal.ts';
import {
  absentDefaults,
  absentPlugins,
  defaultPlugins,
  inTreePlugins,
  mergedPlugins,
  type NamedPlugins,
  type PluginRegistry,
  pluginsOfPoint,
} from './plugin-registry.ts';
import { type EnabledPlugin, type PluginSet, type ProfileOptions, requireProfile } from './profile-options.ts';

const defaultSchedulerName = 'default-scheduler';

/** All that a plugin may have. */
const methods = [
  ...Object.values(extensionPoints),
  ...(['eventsToRegister', 'signature', 'addPod', 'removePod', 'unreserve', 'preBindPreFlight', 'preBindWaitsFor'] as const),
];

const points = Object.keys(extensionPoints) as readonly ExtensionPoint[];

/** Makes the plugins of a profile. Throws ERR_INVALID_OPTION; `path` names the profile in its message. */
export function profilePlugins(
  path: string,
  profile: ProfileOptions,
  registry: PluginRegistry,
  handle: PluginHandle,
): ProfilePlugins {
  requireProfile(path, profile);
  const sets = profile.plugins ?? {};
  const configs = profile.pluginConfig ?? [];
  requireKnownNames(path, sets, configs, registry);
  const named = (set: PluginSet | null | undefined): NamedPlugins => namedPlugins(set, registry);
  const multiPoint = mergedPlugins(`${path}.plugins.multiPoint`, defaultPlugins, named(sets.multiPoint));
  const made = new Map<string, Plugin>();
  const find = (name: string): Plugin => {
    const before = made.get(name);
    if (before !== undefined) return before;
    const args = configs.find((config) => config.name === name)?.args ?? undefined;
    const plugin = makePlugin(path, name, args, registry[name], handle);
    made.set(name, plugin);
    return plugin;
  };
  const everywhere = multiPoint.map(({ name }) => find(name));
  const atPoint = (point: ExtensionPoint): readonly Plugin[] =>
    pluginsOfPoint(`${path}.plugins.${point}`, point, everywhere, named(sets[point]), find);
  if (atPoint('bind').length === 0) throw invalidOption(`${path}.plugins.bind`, 'at least one plugin that binds', 'none');
  return {
    schedulerName: profile.schedulerName ?? defaultSchedulerName,
    percentageOfNodesToScore: profile.percentageOfNodesToScore ?? 0,
    points: Object.fromEntries(points.map((point) => [point, atPoint(point)])),
    plugins: [...made.values()],
    weights: weightsOf([...named(sets.score).enabled, ...multiPoint]),
    takesPodGroups: made.has(gangScheduling) || (sets.multiPoint?.disabled ?? []).some(({ name }) => name === gangScheduling),
  };
}

const fit = 'NodeResourcesFit';

/** As upstream, what extenders keep the accounts of takes the place of the ignored resources that the profile names. */
function withIgnored(
  path: string,
  profile: ProfileOptions,
  ignoredResources: readonly string[] = [],
  registry: PluginRegistry,
): ProfileOptions {
  if (ignoredResources.length === 0 || !Object.hasOwn(registry, fit)) return profile;
  requireProfile(path, profile);
  const configs = profile.pluginConfig ?? [];
  const before = configs.find(({ name }) => name === fit);
  const args = { ...(before?.args as object | undefined), ignoredResources };
  return { ...profile, pluginConfig: [...configs.filter((one) => one !== before), { name: fit, args }] };
}

/** What a set names, without the default plugins that are not here. */
function namedPlugins(set: PluginSet | null | undefined, registry: PluginRegistry): NamedPlugins {
  const isHere = ({ name }: EnabledPlugin): boolean => Object.hasOwn(registry, name) || !absentDefaults.includes(name);
  return { enabled: (set?.enabled ?? []).filter(isHere), disabled: set?.disabled ?? [] };
}

/** The weight at the point `score` counts more than that of `multiPoint`. */
function weightsOf(enabled: readonly EnabledPlugin[]): ReadonlyMap<string, number> {
  return new Map(enabled.toReversed().map(({ name, weight }) => [name, weight || 1]));
}

function makePlugin(path: string, name: string, args: unknown, factory: PluginFactory | undefined, handle: PluginHandle): Plugin {
  const plugin: Partial<Plugin> | null | undefined = namingProfile(path, () => factory?.(args, handle));
  if (plugin == null || plugin.name !== name) {
    catchRejection(plugin, ignoreFailure);
    throw invalidOption(`registry.${name}`, `a function that returns a plugin with the name ${name}`, plugin?.name ?? plugin);
  }
  for (const method of methods) {
    const value: unknown = plugin[method];
    if (value === undefined || typeof value === 'function') continue;
    throw invalidOption(`${path}: ${name}.${method}`, 'a function', value);
  }
  if (plugin.preBindTimeoutMs !== undefined)
    numberOption(`${path}: ${name}.preBindTimeoutMs`, plugin.preBindTimeoutMs, 0, longestTimerMs);
  return plugin as Plugin;
}

/** The error of a plugin's arguments names the plugin: with several profiles it is to name the profile, too. */
function namingProfile<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const { code, message } = error instanceof StatusManagerError ? error : {};
    if (code !== 'ERR_INVALID_OPTION' || !message?.startsWith('Expected `')) throw error;
    throw new StatusManagerError(code, message.replace('`', `\`${path}: `), { cause: error });
  }
}

/** A misspelt name is refused, also where a plugin is only turned off or given arguments. */
function requireKnownNames(
  path: string,
  sets: NonNullable<ProfileOptions['plugins']>,
  configs: NonNullable<ProfileOptions['pluginConfig']>,
  registry: PluginRegistry,
): void {
  const known = Object.keys(registry);
  const requireKnown = (at: string, name: string, others: readonly string[] = []): void => {
    if (known.includes(name) || others.includes(name)) return;
    if (name === gangScheduling) throw invalidOption(at, 'a plugin that is here: this scheduler places no groups of pods', name);
    throw invalidOption(at, `one of the plugins ${known.join(', ')}`, name);
  };
  for (const [point, set] of Object.entries(sets)) {
    const at = `${path}.plugins.${point}`;
    for (const [index, { name }] of (set?.enabled ?? []).entries()) {
      requireKnown(`${at}.enabled[${index}].name`, name, absentDefaults);
    }
    for (const [index, { name }] of (set?.disabled ?? []).entries()) {
      requireKnown(`${at}.disabled[${index}].name`, name, ['*', ...absentPlugins]);
    }
  }
  for (const [index, { name }] of configs.entries()) {
    requireKnown(`${path}.pluginConfig[${index}].name`, name);
    if (configs.findIndex((other) => other.name === name) === index) continue;
    throw invalidOption(`${path}.pluginConfig[${index}].name`, 'a plugin that has no arguments before', name);
  }
}

/** The frameworks of the profiles, by the name of their scheduler. */
export type Frameworks = ReadonlyMap<string, Framework>;

/**
 * Makes a framework of each profile. Without profiles there is one, with the default plugins. Throws ERR_INVALID_OPTION for
 * what is no profile or no plugin, and for two profiles of one name.
 */
export function createFrameworks(
  context: FrameworkContext,
  profiles: readonly (ProfileOptions | ProfileMaker)[] = [{}],
  registry: PluginRegistry = inTreePlugins(),
): Frameworks {
  if (!Array.isArray(profiles) || profiles.length === 0)
    throw invalidOption('profiles', 'a list of at least one profile', profiles);
  const frameworks = new Map<string, Framework>();
  for (const [index, profile] of profiles.entries()) {
    const path = `profiles[${index}]`;
    const make = (handle: PluginHandle): ProfilePlugins =>
      typeof profile === 'function'
        ? profile(handle, context.ignoredResources)
        : profilePlugins(path, withIgnored(path, profile, context.ignoredResources, registry), registry, handle);
    const framework = new Framework(context, (handle) => withoutPodGroups(make(handle)));
    const { schedulerName } = framework;
    if (frameworks.has(schedulerName)) {
      throw invalidOption(`${path}.schedulerName`, 'another name than that of the profiles before', schedulerName);
    }
    frameworks.set(schedulerName, framework);
  }
  return frameworks;
}
