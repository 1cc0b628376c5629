// Behaviour of cmd/kube-scheduler/app/options configfile.go and pkg/scheduler/apis/config/validation, v1.36.3.

import { isDeepStrictEqual } from 'node:util';
import { goTimeText } from '../../api/json/go-duration.ts';
import { ManifestFault } from '../../api/manifest/invalid-manifest.ts';
import { type ManifestObject, type ManifestValue, NumberText, readManifest } from '../../api/manifest/read-manifest.ts';
import { invalidOption, StatusManagerError } from '../../base/errors.ts';
import { longestTimerMs } from '../../base/options.ts';
import { type ExtenderOptions, extendersOption } from '../extenders/extender-options.ts';
import type { ProfileOptions } from '../profile/profile-options.ts';
import {
  type CompleteConfiguration,
  type CompleteProfile,
  isUpstreamPlugin,
  type TypedConfiguration,
  type TypedLeaderElection,
  type TypedPlugin,
  type TypedProfile,
  withDefaults,
} from './configuration-defaults.ts';
import { argsShapes, configurationKind, configurationShape, configurationVersion } from './configuration-shapes.ts';
import { plainValue, type TypedObject, typedMembers, writtenMembers } from './typed-members.ts';

/** What a file of kind KubeSchedulerConfiguration says. */
export interface SchedulerConfiguration {
  /** What goes to a `ClusterScheduler` as it is. */
  readonly options: ConfiguredOptions;
  /** The kubeconfig of the cluster: a path, relative to the folder of the process; undefined where the file names none. */
  readonly kubeconfig: string | undefined;
  /** The members of the file that change nothing here, each with the reason: `parallelism: one thread judges all nodes`. */
  readonly withoutEffect: readonly string[];
  /** The file with all defaults, as kube-scheduler writes it with `--write-config-to`. Read again it says the same. */
  readonly complete: Readonly<Record<string, unknown>>;
}

/** The options of a `ClusterScheduler` that a file sets. */
export interface ConfiguredOptions {
  /** The profiles of the file, with their plugins and arguments. */
  readonly profiles: readonly ProfileOptions[];
  /** False: the file turns the leader election off. */
  readonly leaderElection: false | ConfiguredLeaderElection;
  /** Absent: the file asks for no limit, by a rate below 0. */
  readonly requestLimit?: {
    /** Requests a second. */
    readonly qps: number;
    /** Requests at once, after a time without any. */
    readonly burst: number;
  };
  /** The back-off after the first rejection, in milliseconds. */
  readonly podInitialBackoffMs: number;
  /** The longest back-off, in milliseconds. */
  readonly podMaxBackoffMs: number;
  /** True: nothing is listed before this process leads. */
  readonly delayCacheUntilActive?: true;
  /** Only where the file names extenders: as they stand there. */
  readonly extenders?: readonly ExtenderOptions[];
}

/** Which Lease is contended for. */
export interface ConfiguredLeaderElection {
  /** The name of the Lease. */
  readonly name: string;
  /** The namespace of the Lease. */
  readonly namespace: string;
  /** How long others wait before they take a Lease that is not renewed, in milliseconds. */
  readonly leaseDurationMs: number;
  /** How long the leader tries to renew it before it gives up, in milliseconds. */
  readonly renewDeadlineMs: number;
  /** How long there is between two tries, in milliseconds. */
  readonly retryPeriodMs: number;
}

/** Values that count more than the file's, by their path in it: `{ 'leaderElection.resourceName': 'mine' }`. A time is a text. */
export type ConfigurationChanges = Readonly<Record<string, string | number | boolean>>;

/**
 * Reads a file of kind KubeSchedulerConfiguration, `kubescheduler.config.k8s.io/v1`, JSON or YAML, as kube-scheduler v1.36.3 does: with its
 * defaults, its checks and its strictness. Each member is applied, told of as one without effect, or refused.
 *
 * Throws ERR_INVALID_OPTION, which names the member, the rule and the value, for what is no such file, for a member that is not known or there twice,
 * and for a value that is wrong or has no counterpart here. What plugins hold beyond its type is checked by the scheduler that gets it.
 *
 * @example
 * ```ts
 * import { readSchedulerConfiguration } from 'pod-status-manager/scheduler';
 *
 * const { options, withoutEffect } = readSchedulerConfiguration(`
 * apiVersion: kubescheduler.config.k8s.io/v1
 * kind: KubeSchedulerConfiguration
 * parallelism: 16
 * profiles:
 *   - schedulerName: tight
 *     pluginConfig:
 *       - name: NodeResourcesFit
 *         args: { scoringStrategy: { type: MostAllocated } }
 * `);
 * console.log(options.profiles[0]?.schedulerName, options.podMaxBackoffMs); // tight 10000
 * console.log(withoutEffect); // [ 'parallelism: one thread judges all nodes' ]
 * ```
 */
export function readSchedulerConfiguration(text: string, changes: ConfigurationChanges = {}): SchedulerConfiguration {
  const given = typedConfiguration(text, changes);
  const complete = withDefaults(given);
  requireValid(complete);
  const { leaderElection, clientConnection, percentageOfNodesToScore, extenders } = complete;
  const { qps, burst, kubeconfig } = clientConnection;
  return {
    options: {
      profiles: complete.profiles.map((profile) => profileOptions(profile, percentageOfNodesToScore)),
      leaderElection: leaderElection.leaderElect && electionOptions(leaderElection),
      ...(qps > 0 && { requestLimit: { qps, burst } }),
      podInitialBackoffMs: complete.podInitialBackoffSeconds * 1000,
      podMaxBackoffMs: complete.podMaxBackoffSeconds * 1000,
      ...(complete.delayCacheUntilActive && { delayCacheUntilActive: true }),
      ...(extenders.length > 0 && { extenders: extendersOf(extenders) }),
    },
    kubeconfig: kubeconfig || undefined,
    withoutEffect: withoutEffect(given),
    complete: {
      apiVersion: configurationVersion,
      kind: configurationKind,
      ...writtenMembers(configurationShape, { ...complete }),
    },
  };
}

function typedConfiguration(text: string, changes: ConfigurationChanges): TypedConfiguration {
  if (typeof text !== 'string') throw invalidOption('text', 'a text', text);
  const file = readText(text);
  for (const [path, value] of Object.entries(changes)) setAt(file, path.split('.'), value);
  const { apiVersion, kind, ...typed } = typedMembers(configurationShape, file, '');
  if (apiVersion !== configurationVersion) throw invalidOption('apiVersion', JSON.stringify(configurationVersion), apiVersion);
  if (kind !== configurationKind) throw invalidOption('kind', JSON.stringify(configurationKind), kind);
  const configuration = typed as TypedConfiguration;
  return { ...configuration, ...(configuration.profiles && { profiles: configuration.profiles.map(withTypedArgs) }) };
}

/** Throws ERR_INVALID_OPTION for what is neither JSON nor YAML, no object, or has a member twice. */
function readText(text: string): ManifestObject {
  try {
    const file = readManifest(text, { eachMemberOnce: true });
    if (file instanceof Map) return file;
    throw new ManifestFault('', 'an object', file);
  } catch (cause) {
    if (!(cause instanceof ManifestFault)) throw cause;
    const says = cause.message.replace('the manifest', 'the configuration');
    throw new StatusManagerError('ERR_INVALID_OPTION', says, { cause });
  }
}

function setAt(object: ManifestObject, [name = '', ...below]: readonly string[], value: string | number | boolean): void {
  if (below.length === 0) {
    object.set(name, typeof value === 'number' ? new NumberText(String(value)) : value);
    return;
  }
  const before = object.get(name);
  const inner: ManifestObject = before instanceof Map ? before : new Map();
  object.set(name, inner);
  setAt(inner, below, value);
}

const millisecond = 1_000_000n;

/** Arguments of a plugin that has a type for them get that type. */
function withTypedArgs(profile: TypedProfile, index: number): TypedProfile {
  const pluginConfig = profile.pluginConfig?.map(({ name = '', args: given }, at) => {
    const path = `profiles[${index}].pluginConfig[${at}].args`;
    const raw = given as ManifestValue | undefined;
    const shape = Object.hasOwn(argsShapes, name) ? argsShapes[name] : undefined;
    if (shape === undefined) return { name, ...(raw !== undefined && { args: plainValue(raw, path) }) };
    const { apiVersion, kind, ...args } = typedMembers(shape, raw ?? new Map(), path);
    if (apiVersion && apiVersion !== configurationVersion) {
      throw invalidOption(`${path}.apiVersion`, JSON.stringify(configurationVersion), apiVersion);
    }
    if (kind && kind !== `${name}Args`) throw invalidOption(`${path}.kind`, `"${name}Args"`, kind);
    requireTimes(path, name, args);
    return { name, args };
  });
  return { ...profile, ...(pluginConfig && { pluginConfig }) };
}

/** Throws ERR_INVALID_OPTION for what kube-scheduler refuses, and for what has no counterpart here. */
function requireValid(complete: CompleteConfiguration): void {
  const { parallelism, clientConnection, profiles, podInitialBackoffSeconds, podMaxBackoffSeconds } = complete;
  if (parallelism < 1) throw invalidOption('parallelism', 'an integer from 1 up', parallelism);
  const { qps, burst } = clientConnection;
  if (burst < 0) throw invalidOption('clientConnection.burst', 'an integer from 0 up', burst);
  if (qps > 0 && !(qps >= leastRate && qps <= mostRate)) {
    throw invalidOption(
      'clientConnection.qps',
      `below 0 for no limit, 0 for the default, or from ${leastRate} to ${mostRate}`,
      qps,
    );
  }
  if (burst > mostRate) throw invalidOption('clientConnection.burst', `at most ${mostRate}`, burst);
  requireElection(complete.leaderElection);
  requirePercentage('percentageOfNodesToScore', complete.percentageOfNodesToScore);
  if (podInitialBackoffSeconds < 1)
    throw invalidOption('podInitialBackoffSeconds', 'an integer from 1 up', podInitialBackoffSeconds);
  if (podMaxBackoffSeconds < podInitialBackoffSeconds) {
    throw invalidOption(
      'podMaxBackoffSeconds',
      `at least podInitialBackoffSeconds, ${podInitialBackoffSeconds}`,
      podMaxBackoffSeconds,
    );
  }
  if (podMaxBackoffSeconds > mostSeconds)
    throw invalidOption('podMaxBackoffSeconds', `at most ${mostSeconds}`, podMaxBackoffSeconds);
  requireProfiles(profiles);
}

const [leastRate, mostRate] = [0.001, 1_000_000];
const mostSeconds = Math.floor(longestTimerMs / 1000);

function requirePercentage(path: string, value: number | undefined): void {
  if (value !== undefined && !(value >= 0 && value <= 100)) throw invalidOption(path, 'an integer from 0 to 100', value);
}

/** No time limit of a plugin for claims of devices may be shorter than kube-scheduler's. */
const shortest: readonly (readonly [string, bigint, string])[] = [
  ['filterTimeout', 0n, 'a time that is not below 0'],
  ['bindingTimeout', 1000n * millisecond, 'at least "1s"'],
];

function requireTimes(path: string, plugin: string, args: TypedObject): void {
  if (plugin !== 'DynamicResources') return;
  for (const [name, least, rule] of shortest) {
    const time = args[name];
    if (typeof time === 'bigint' && time < least) throw invalidOption(`${path}.${name}`, rule, goTimeText(time));
  }
}

/** What cannot be told from one profile alone; what one profile holds is checked by the scheduler that gets it. */
function requireProfiles(profiles: readonly CompleteProfile[]): void {
  const names = new Map<string, number>();
  const [first] = profiles;
  for (const [index, { schedulerName = '', percentageOfNodesToScore, plugins }] of profiles.entries()) {
    const path = `profiles[${index}]`;
    if (schedulerName === '')
      throw invalidOption(`${path}.schedulerName`, 'a name, because there is more than one profile', schedulerName);
    const other = names.get(schedulerName);
    if (other !== undefined)
      throw invalidOption(`${path}.schedulerName`, `another name than that of profiles[${other}]`, schedulerName);
    names.set(schedulerName, index);
    requirePercentage(`${path}.percentageOfNodesToScore`, percentageOfNodesToScore);
    const { queueSort } = plugins;
    requireOneSort(`${path}.plugins`, plugins);
    if (!isDeepStrictEqual(queueSort, first?.plugins.queueSort)) {
      throw invalidOption(`${path}.plugins.queueSort`, 'that of profiles[0], because there is one queue', queueSort);
    }
  }
}

/** One plugin sorts the queue. One of the user's own may be it, also where the file names it for all points. */
function requireOneSort(path: string, { multiPoint, queueSort }: CompleteProfile['plugins']): void {
  const everywhere = (multiPoint?.enabled ?? []).map(({ name = '' }) => name);
  const off = (queueSort?.disabled ?? []).map(({ name }) => name);
  const isOn = everywhere.includes(sortPlugin) && !off.includes(sortPlugin) && !off.includes('*');
  const sorts = new Set([...(queueSort?.enabled ?? []).map(({ name = '' }) => name), ...(isOn ? [sortPlugin] : [])]);
  if (sorts.size > 1) throw invalidOption(`${path}.queueSort`, 'one plugin, because there is one queue', [...sorts].join(', '));
  if (sorts.size === 1 || everywhere.some((name) => !isUpstreamPlugin(name))) return;
  throw invalidOption(`${path}.queueSort`, `a plugin that sorts the queue, such as ${sortPlugin}`, 'none');
}

const sortPlugin = 'PrioritySort';

function requireElection(election: Required<TypedLeaderElection>): void {
  if (!election.leaderElect) return;
  const { leaseDuration, renewDeadline, retryPeriod, resourceLock } = election;
  const refuse = (name: keyof TypedLeaderElection, rule: string, time: bigint): StatusManagerError =>
    invalidOption(`leaderElection.${name}`, rule, goTimeText(time));
  const most = BigInt(longestTimerMs) * millisecond;
  if (leaseDuration < 1000n * millisecond || leaseDuration % (1000n * millisecond) !== 0n || leaseDuration > most) {
    throw refuse(
      'leaseDuration',
      `whole seconds, from "1s" to "${goTimeText(most - (most % (1000n * millisecond)))}"`,
      leaseDuration,
    );
  }
  if (renewDeadline <= 0n || renewDeadline >= leaseDuration) {
    throw refuse('renewDeadline', `more than 0 and less than leaseDuration, "${goTimeText(leaseDuration)}"`, renewDeadline);
  }
  if (retryPeriod <= 0n || retryPeriod * 12n >= renewDeadline * 10n) {
    throw refuse(
      'retryPeriod',
      `more than 0, and 1.2 times it less than renewDeadline, "${goTimeText(renewDeadline)}"`,
      retryPeriod,
    );
  }
  if (resourceLock !== 'leases') throw invalidOption('leaderElection.resourceLock', '"leases"', resourceLock);
}

function electionOptions(election: Required<TypedLeaderElection>): ConfiguredLeaderElection {
  const inMs = (time: bigint): number => Number(time) / Number(millisecond);
  return {
    name: election.resourceName,
    namespace: election.resourceNamespace,
    leaseDurationMs: inMs(election.leaseDuration),
    renewDeadlineMs: inMs(election.renewDeadline),
    retryPeriodMs: inMs(election.retryPeriod),
  };
}

/** The profile with its plugins and arguments as the file has them, so that a default of this library is one of kube-scheduler. */
function profileOptions(profile: CompleteProfile, percentageOfNodesToScore: number): ProfileOptions {
  const { schedulerName = '', plugins, pluginConfig } = profile;
  const sets = Object.entries(plugins).map(([point, { enabled = [], disabled = [] }]) => {
    const set = { enabled: enabled.map(named), disabled: disabled.map(({ name = '' }) => ({ name })) };
    return [point, set] as const;
  });
  return {
    schedulerName,
    percentageOfNodesToScore: profile.percentageOfNodesToScore ?? percentageOfNodesToScore,
    plugins: Object.fromEntries(sets),
    pluginConfig: pluginConfig.map(({ name = '', args }) => ({ name, ...(args !== undefined && { args }) })),
  };
}

function named({ name = '', weight = 0 }: TypedPlugin): { readonly name: string; readonly weight: number } {
  return { name, weight };
}

/** As they stand in the file. Throws where one of them breaks a rule. */
function extendersOf(given: readonly unknown[]): readonly ExtenderOptions[] {
  extendersOption('extenders', given);
  return given as readonly ExtenderOptions[];
}

/** Members that change nothing here, each with the reason. */
const reasons: readonly (readonly [path: string, reason: string])[] = [
  ['parallelism', 'one thread judges all nodes'],
  ['clientConnection.acceptContentTypes', 'the apiserver is asked in JSON'],
  ['clientConnection.contentType', 'the apiserver is asked in JSON'],
  ['enableProfiling', 'it shows the inside of a program in Go'],
  ['enableContentionProfiling', 'it shows the inside of a program in Go'],
];

function withoutEffect(given: TypedConfiguration): readonly string[] {
  const { clientConnection, ...others } = given;
  const connection = Object.entries(clientConnection ?? {}).map(([name]) => `clientConnection.${name}`);
  const there = new Set([...Object.keys(others), ...connection]);
  return reasons.filter(([path]) => there.has(path)).map(([path, reason]) => `${path}: ${reason}`);
}
