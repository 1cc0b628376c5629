// Behaviour of pkg/scheduler/apis/config/v1 defaults.go and default_plugins.go, v1.36.3.

import { absentDefaults, defaultPlugins } from '../profile/plugin-registry.ts';
import { argsShapes, configurationVersion, pluginSets } from './configuration-shapes.ts';
import { type TypedObject, writtenMembers } from './typed-members.ts';

/** A plugin as a profile names it. */
export interface TypedPlugin {
  readonly name?: string;
  readonly weight?: number;
}

/** The plugins that a profile names for one point. */
export interface TypedPluginSet {
  readonly enabled?: readonly TypedPlugin[];
  readonly disabled?: readonly TypedPlugin[];
}

/** Arguments of one plugin: typed where it has a type of its own. */
export interface TypedPluginConfig {
  readonly name?: string;
  readonly args?: unknown;
}

export interface TypedProfile {
  readonly schedulerName?: string;
  readonly percentageOfNodesToScore?: number;
  readonly plugins?: Readonly<Record<string, TypedPluginSet>>;
  readonly pluginConfig?: readonly TypedPluginConfig[];
}

export interface TypedLeaderElection {
  readonly leaderElect?: boolean;
  readonly leaseDuration?: bigint;
  readonly renewDeadline?: bigint;
  readonly retryPeriod?: bigint;
  readonly resourceLock?: string;
  readonly resourceName?: string;
  readonly resourceNamespace?: string;
}

export interface TypedConnection {
  readonly kubeconfig?: string;
  readonly acceptContentTypes?: string;
  readonly contentType?: string;
  readonly qps?: number;
  readonly burst?: number;
}

/** What a file says, each member with its type. */
export interface TypedConfiguration {
  readonly parallelism?: number;
  readonly leaderElection?: TypedLeaderElection;
  readonly clientConnection?: TypedConnection;
  readonly enableProfiling?: boolean;
  readonly enableContentionProfiling?: boolean;
  readonly percentageOfNodesToScore?: number;
  readonly podInitialBackoffSeconds?: number;
  readonly podMaxBackoffSeconds?: number;
  readonly profiles?: readonly TypedProfile[];
  readonly extenders?: readonly unknown[];
  readonly delayCacheUntilActive?: boolean;
}

/** A profile with every default but its name. */
export type CompleteProfile = TypedProfile & Required<Pick<TypedProfile, 'plugins' | 'pluginConfig'>>;

/** The same with every default. */
export type CompleteConfiguration = Required<Omit<TypedConfiguration, 'profiles' | 'leaderElection' | 'clientConnection'>> & {
  readonly leaderElection: Required<TypedLeaderElection>;
  readonly clientConnection: Required<TypedConnection>;
  readonly profiles: readonly CompleteProfile[];
};

const second = 1_000_000_000n;

/** Fills in what the file does not say. */
export function withDefaults(given: TypedConfiguration): CompleteConfiguration {
  const { leaderElection = {}, clientConnection = {}, enableProfiling = true } = given;
  const profiles = given.profiles?.length ? given.profiles : [{}];
  const [only] = profiles;
  const named = profiles.length === 1 ? [{ ...only, schedulerName: only?.schedulerName ?? 'default-scheduler' }] : profiles;
  return {
    parallelism: given.parallelism ?? 16,
    leaderElection: {
      leaderElect: leaderElection.leaderElect ?? true,
      leaseDuration: leaderElection.leaseDuration || 15n * second,
      renewDeadline: leaderElection.renewDeadline || 10n * second,
      retryPeriod: leaderElection.retryPeriod || 2n * second,
      resourceLock: leaderElection.resourceLock || 'leases',
      resourceName: leaderElection.resourceName || 'kube-scheduler',
      resourceNamespace: leaderElection.resourceNamespace || 'kube-system',
    },
    clientConnection: {
      kubeconfig: clientConnection.kubeconfig ?? '',
      acceptContentTypes: clientConnection.acceptContentTypes ?? '',
      contentType: clientConnection.contentType || 'application/vnd.kubernetes.protobuf',
      qps: clientConnection.qps || 50,
      burst: clientConnection.burst || 100,
    },
    enableProfiling,
    enableContentionProfiling: given.enableContentionProfiling ?? enableProfiling,
    percentageOfNodesToScore: given.percentageOfNodesToScore ?? 0,
    podInitialBackoffSeconds: given.podInitialBackoffSeconds ?? 1,
    podMaxBackoffSeconds: given.podMaxBackoffSeconds ?? 10,
    profiles: named.map(completeProfile),
    extenders: given.extenders ?? [],
    delayCacheUntilActive: given.delayCacheUntilActive ?? false,
  };
}

/** The plugins that kube-scheduler has on, in its order and with its weights. */
const upstreamPlugins: readonly TypedPlugin[] = [...defaultPlugins, ...absentDefaults.map((name) => ({ name }))];

/** True for the name of a plugin that kube-scheduler has on by default. */
export function isUpstreamPlugin(name: string): boolean {
  return upstreamPlugins.some((plugin) => plugin.name === name);
}

function completeProfile(profile: TypedProfile): CompleteProfile {
  const { plugins = {}, pluginConfig = [] } = profile;
  const merged = pluginSets.map((point) => {
    const set = mergedSet(point === 'multiPoint' ? upstreamPlugins : [], plugins[point] ?? {});
    return [point, { enabled: set.enabled.map(withWeight), disabled: set.disabled.map(withWeight) }] as const;
  });
  const named = new Set(merged.flatMap(([, { enabled }]) => enabled.map(({ name }) => name)));
  const configured = new Set(pluginConfig.map(({ name }) => name));
  const others = Object.keys(argsShapes).filter((name) => named.has(name) && !configured.has(name));
  const all: readonly TypedPluginConfig[] = [...pluginConfig, ...others.sort().map((name) => ({ name }))];
  return { ...profile, plugins: Object.fromEntries(merged), pluginConfig: all.map(completeArgs) };
}

/** A plugin that is named keeps the place of its default; what else is named comes after the defaults. */
function mergedSet(defaults: readonly TypedPlugin[], { enabled = [], disabled = [] }: TypedPluginSet): Required<TypedPluginSet> {
  const off = new Set(disabled.map(({ name }) => name));
  // of two with one name the last counts here, and the scheduler refuses the other
  const last = new Map(enabled.map((plugin) => [plugin.name, plugin]));
  const kept = off.has('*') ? [] : defaults.filter(({ name }) => !off.has(name));
  const replacing = new Set(kept.flatMap(({ name }) => last.get(name) ?? []));
  return {
    enabled: [...kept.map((plugin) => last.get(plugin.name) ?? plugin), ...enabled.filter((one) => !replacing.has(one))],
    disabled,
  };
}

function withWeight({ name, weight = 0 }: TypedPlugin): TypedPlugin {
  return { name: name ?? '', weight };
}

/** Arguments as kube-scheduler writes them, with its defaults. Those of a plugin without a type of its own stay as they are. */
function completeArgs({ name = '', args }: TypedPluginConfig): TypedPluginConfig {
  const shape = Object.hasOwn(argsShapes, name) ? argsShapes[name] : undefined;
  if (shape === undefined) return { name, ...(args !== undefined && { args }) };
  const given = (args ?? {}) as TypedObject;
  const complete = { ...given, ...argsDefaults[name]?.(given), apiVersion: configurationVersion, kind: `${name}Args` };
  return { name, args: writtenMembers(shape, complete) };
}

interface WeighedName {
  readonly name?: string;
  readonly weight?: number;
}

/** CPU and memory where none is named; a weight of 0 is 1. */
function weighed(given: unknown): readonly WeighedName[] {
  const resources = (given ?? []) as readonly WeighedName[];
  const named = resources.length > 0 ? resources : [{ name: 'cpu' }, { name: 'memory' }];
  return named.map(({ name, weight }) => ({ name: name ?? '', weight: weight || 1 }));
}

const argsDefaults: Readonly<Record<string, (given: TypedObject) => TypedObject>> = {
  DefaultPreemption: ({ minCandidateNodesPercentage = 10, minCandidateNodesAbsolute = 100 }) => ({
    minCandidateNodesPercentage,
    minCandidateNodesAbsolute,
  }),
  DynamicResources: ({ filterTimeout = 10n * second, bindingTimeout = 600n * second }) => ({ filterTimeout, bindingTimeout }),
  InterPodAffinity: ({ hardPodAffinityWeight = 1 }) => ({ hardPodAffinityWeight }),
  NodeResourcesBalancedAllocation: ({ resources }) => ({ resources: weighed(resources) }),
  NodeResourcesFit: ({ scoringStrategy = { type: 'LeastAllocated' } }) => {
    const strategy = scoringStrategy as TypedObject;
    return { scoringStrategy: { ...strategy, resources: weighed(strategy.resources) } };
  },
  PodTopologySpread: ({ defaultingType }) => ({ defaultingType: defaultingType || 'System' }),
  VolumeBinding: ({ bindTimeoutSeconds = 600 }) => ({ bindTimeoutSeconds }),
};
