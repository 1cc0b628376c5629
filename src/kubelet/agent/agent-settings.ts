import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import type { WireTaint } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { invalidOption } from '../../base/errors.ts';
import { isDnsSubdomain } from '../../base/names.ts';
import { integerOption, longestTimerMs, numberOption, oneOfOption, optionOfType } from '../../base/options.ts';
import { parseAddress } from '../../node/pod-status/pod-ips.ts';
import { requireSysctlPatterns } from '../admission/sysctls.ts';
import { defaultEvictionSettings, type EvictionSettings, resolveEvictionSettings } from '../eviction/eviction-settings.ts';
import type { CredentialVerification } from '../images/image-puller-options.ts';
import { isUnspecified } from '../machine/node-addresses.ts';
import { requireShutdownPeriods, type ShutdownGracePeriod } from '../shutdown/shutdown-groups.ts';
import { requireFeatureGates } from './feature-gates.ts';
import { type LimitSettings, limitDefaults, optionalLimits, requireLimits } from './limit-settings.ts';
import { type PaceSettings, paceDefaults, requirePace } from './pace-settings.ts';

/** What the settings of the kubelet's configuration file say, under its names where they exist. Times are in milliseconds. */
export interface AgentSettings extends EvictionSettings, LimitSettings, PaceSettings {
  /** Where the agent keeps what it has of pods: one folder, made when it is not there. Default `/var/lib/kubelet`. */
  readonly rootDirectory?: string;
  /** Where the logs of containers are. Default `/var/log/pods`. */
  readonly podLogsDirectory?: string;
  /** A folder of manifests of static pods, or one manifest. Default: none. */
  readonly staticPodPath?: string;
  /** An address that manifests of static pods are read from. Default: none. */
  readonly staticPodURL?: string;
  /** Headers of the requests to `staticPodURL`. Default: none. */
  readonly staticPodURLHeader?: Readonly<Record<string, string>>;
  /** How often `staticPodPath` is read again. Default 20 000. */
  readonly fileCheckFrequencyMs?: number;
  /** How often `staticPodURL` is read again. Default 20 000. */
  readonly httpCheckFrequencyMs?: number;
  /** The longest time between two syncs of a pod. Default 60 000. */
  readonly syncFrequencyMs?: number;
  /**
   * Feature gates of Kubernetes v1.36, by name. A gate of another component may have any value, and so may `MemoryQoS`. Any other one
   * of the kubelet may have the value that v1.36 gives it; any other value, and a gate that v1.36 does not have, is ERR_INVALID_OPTION. Default: none.
   */
  readonly featureGates?: Readonly<Record<string, boolean>>;

  /**
   * The address of the node, or one of each family, the primary one first. `0.0.0.0` or `::` alone chooses the family. Default: what the node's name leads to on this machine, or the address of the default route.
   */
  readonly nodeIPs?: readonly string[];
  /** Labels of a node that is new. Default: none beside those for the host name, the system and the architecture. */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** Taints of a node that is new. Default: none. */
  readonly registerWithTaints?: readonly WireTaint[];
  /** False: another one creates the node. Default true. */
  readonly registerNode?: boolean;
  /**
   * True: the controller of a cloud initializes the node. A new node then has the taint `node.cloudprovider.kubernetes.io/uninitialized`, which
   * it takes away, and the addresses of `nodeIPs` in an annotation; the cloud alone says which addresses the Node has. Default false.
   */
  readonly externalCloudProvider?: boolean;
  /** The machine's name for a cloud: `provider://id`. Default: none. */
  readonly providerID?: string;
  /** How often the node is looked at for changes. Default 10 000. */
  readonly nodeStatusUpdateFrequencyMs?: number;
  /** How often the node's status is written when nothing changes. Default 300 000. */
  readonly nodeStatusReportFrequencyMs?: number;
  /** How long the node's Lease holds, in seconds. Default 40. */
  readonly nodeLeaseDurationSeconds?: number;
  /** So many images are named in the node's status, the largest ones; -1: all. Default 50. */
  readonly nodeStatusMaxImages?: number;

  /** So many requests to the apiserver leave in a second, watches included; those of the node and its Lease always do. Default 50. */
  readonly kubeAPIQPS?: number;
  /** So many requests may leave at once after a time without. Default 100. */
  readonly kubeAPIBurst?: number;

  /**
   * The range of addresses of the node's pods, or one of each family, separated by a comma, for a runtime that makes the network of pods
   * itself. What the Node has in `spec.podCIDRs` counts more. Default: none.
   */
  readonly podCIDR?: string;
  /** The addresses of the cluster's name servers. Default: none; pods then get the machine's. */
  readonly clusterDNS?: readonly string[];
  /** The domain of the cluster's names, such as `cluster.local`. Default: none. */
  readonly clusterDomain?: string;
  /** The file that says how the machine looks up names. Default `/etc/resolv.conf`; empty: none. */
  readonly resolvConf?: string;

  /** The most pods that the node takes. Default 110. */
  readonly maxPods?: number;
  /** The most processes of a pod; -1: as many as the node has. Default -1. */
  readonly podPidsLimit?: number;
  /** The cgroup that those of pods are made in. Default `/`. */
  readonly cgroupRoot?: string;
  /** True: pods of each class of service have a cgroup of their own. Default true. */
  readonly cgroupsPerQOS?: boolean;
  /** Who makes cgroups. What the runtime says counts more. Default `cgroupfs`. */
  readonly cgroupDriver?: 'cgroupfs' | 'systemd';
  /** False: limits of processor time are not enforced. Default true. */
  readonly cpuCFSQuota?: boolean;
  /** What is kept for the machine's own services. Default: nothing. */
  readonly systemReserved?: ResourceQuantities;
  /** What is kept for the agent and the container runtime. Default: nothing. */
  readonly kubeReserved?: ResourceQuantities;
  /**
   * How long pods may take to end, in milliseconds, when the machine is shut down; the machine waits so long. 0: it does not wait, and
   * kills them. Default 0.
   */
  readonly shutdownGracePeriodMs?: number;
  /** The part of `shutdownGracePeriodMs` that critical pods have for themselves, after all others. Default 0. */
  readonly shutdownGracePeriodCriticalPodsMs?: number;
  /** The same by priority, in place of the two: the pods of one entry end after those of all lower ones. Default: none. */
  readonly shutdownGracePeriodByPodPriority?: readonly ShutdownGracePeriod[];
  /** Sysctls of a namespace, or patterns that end in `*`, that pods may set beside the safe ones. Default: none. */
  readonly allowedUnsafeSysctls?: readonly string[];
  /** True: a container without a seccomp profile gets the runtime's. Default false. */
  readonly seccompDefault?: boolean;

  /** A log file that is larger is rotated, such as `10Mi`. Default `10Mi`. */
  readonly containerLogMaxSize?: string;
  /** So many log files of a container are kept, at least 2. Default 5. */
  readonly containerLogMaxFiles?: number;
  /** How often log files are looked at. Default 10 000. */
  readonly containerLogMonitorIntervalMs?: number;

  /** True: one image is pulled at a time. Default true, unless `maxParallelImagePulls` is above 1. */
  readonly serializeImagePulls?: boolean;
  /** So many images are pulled at a time, where `serializeImagePulls` is false. Default 5. */
  readonly maxParallelImagePulls?: number;
  /** So many pulls may begin in a second, or one fails at once and waits for its back-off; 0: no limit. Default 5. */
  readonly registryPullQPS?: number;
  /** So many pulls may begin at once. Default 10. */
  readonly registryBurst?: number;
  /**
   * Files with credentials of registries that the node itself has, as docker keeps them (`config.json`, `.dockercfg`): those of the first one
   * that has some are tried after those of a pod's secrets. Read again after 5 minutes. Every pod may use what was pulled with them. Default: none.
   */
  readonly registryCredentialFiles?: readonly string[];
  /**
   * A file of kind CredentialProviderConfig (`kubelet.config.k8s.io/v1`, `v1beta1` or `v1alpha1`), or a folder of such files: which programs
   * give credentials for which images. Read when the agent starts. It needs `imageCredentialProviderBinDir`. Default: none.
   */
  readonly imageCredentialProviderConfig?: string;
  /** The folder of these programs. It needs `imageCredentialProviderConfig`. Default: none. */
  readonly imageCredentialProviderBinDir?: string;
  /** When a pod must show credentials for an image that the node has. Default `NeverVerifyPreloadedImages`. */
  readonly imagePullCredentialsVerificationPolicy?: CredentialVerification;
  /**
   * How long a call of the runtime may take, in milliseconds; but pulls. The agent does not heed it: give the same to the runtime,
   * as CriRuntime's `callTimeoutMs`. Default 120 000.
   */
  readonly runtimeRequestTimeoutMs?: number;
}

/** The settings with every default. */
export type ResolvedSettings = Required<Omit<AgentSettings, OptionalName>> & Pick<AgentSettings, OptionalName>;

const optionalNames = [
  ...(['staticPodPath', 'staticPodURL', 'providerID', 'maxParallelImagePulls'] as const),
  ...(['imageCredentialProviderConfig', 'imageCredentialProviderBinDir'] as const),
  ...optionalLimits,
] as const;
type OptionalName = (typeof optionalNames)[number];

/** As the kubelet's. */
const defaultSettings: ResolvedSettings = {
  ...limitDefaults,
  ...paceDefaults,
  ...defaultEvictionSettings,
  rootDirectory: '/var/lib/kubelet',
  podLogsDirectory: '/var/log/pods',
  staticPodURLHeader: {},
  fileCheckFrequencyMs: 20_000,
  httpCheckFrequencyMs: 20_000,
  syncFrequencyMs: 60_000,
  featureGates: {},
  nodeIPs: [],
  nodeLabels: {},
  registerWithTaints: [],
  registerNode: true,
  externalCloudProvider: false,
  nodeStatusUpdateFrequencyMs: 10_000,
  nodeStatusReportFrequencyMs: 300_000,
  nodeLeaseDurationSeconds: 40,
  nodeStatusMaxImages: 50,
  kubeAPIQPS: 50,
  kubeAPIBurst: 100,
  podCIDR: '',
  clusterDNS: [],
  clusterDomain: '',
  resolvConf: '/etc/resolv.conf',
  maxPods: 110,
  podPidsLimit: -1,
  cgroupRoot: '/',
  cgroupsPerQOS: true,
  cgroupDriver: 'cgroupfs',
  cpuCFSQuota: true,
  systemReserved: {},
  kubeReserved: {},
  shutdownGracePeriodMs: 0,
  shutdownGracePeriodCriticalPodsMs: 0,
  shutdownGracePeriodByPodPriority: [],
  allowedUnsafeSysctls: [],
  seccompDefault: false,
  containerLogMaxSize: '10Mi',
  containerLogMaxFiles: 5,
  containerLogMonitorIntervalMs: 10_000,
  serializeImagePulls: true,
  registryPullQPS: 5,
  registryBurst: 10,
  registryCredentialFiles: [],
  imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
  runtimeRequestTimeoutMs: 120_000,
};

type Name = keyof ResolvedSettings;

export const settingNames = [...(Object.keys(defaultSettings) as Name[]), ...optionalNames];

const times = [
  ...(['fileCheckFrequencyMs', 'httpCheckFrequencyMs', 'syncFrequencyMs', 'nodeStatusUpdateFrequencyMs'] as const),
  ...(['nodeStatusReportFrequencyMs', 'containerLogMonitorIntervalMs', 'runtimeRequestTimeoutMs'] as const),
];
const switches = [
  'externalCloudProvider',
  'registerNode',
  'cgroupsPerQOS',
  'cpuCFSQuota',
  'seccompDefault',
  'serializeImagePulls',
] as const;
const lists = ['registryCredentialFiles', 'nodeIPs', 'registerWithTaints', 'clusterDNS', 'allowedUnsafeSysctls'] as const;
const quantities = ['systemReserved', 'kubeReserved'] as const;
const folders = ['rootDirectory', 'podLogsDirectory'] as const;
const longestWaitMs = longestTimerMs / 2;

/** The settings with every default. Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveSettings(given: AgentSettings): ResolvedSettings {
  const named = settingNames.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]);
  const serializeImagePulls = !(Number(given.maxParallelImagePulls) > 1);
  const settings: ResolvedSettings = {
    ...{ ...defaultSettings, serializeImagePulls },
    ...(Object.fromEntries(named) as AgentSettings),
  };
  for (const name of folders) absolutePath(name, settings[name]);
  if (settings.staticPodPath !== undefined) absolutePath('staticPodPath', settings.staticPodPath);
  requireCredentialProviders(settings);
  for (const name of times) numberOption(name, settings[name], 100, longestWaitMs);
  for (const name of switches) optionOfType(name, settings[name], 'boolean');
  for (const name of lists) if (!Array.isArray(settings[name])) throw invalidOption(name, 'a list', settings[name]);
  for (const name of ['nodeIPs', 'clusterDNS'] as const) requireAddresses(name, settings[name]);
  for (const path of settings.registryCredentialFiles) absolutePath('registryCredentialFiles', path);
  requireOneOfFamily(settings.nodeIPs);
  for (const name of quantities) requireQuantities(name, settings[name]);
  requireShutdownPeriods(settings);
  requireFeatureGates(settings.featureGates);
  requireLimits(settings);
  requirePace(settings);
  const evictions = resolveEvictionSettings(settings);
  requireNumbers(settings);
  requireDomain(settings.clusterDomain);
  requireRanges(settings.podCIDR);
  oneOfOption('cgroupDriver', settings.cgroupDriver, ['cgroupfs', 'systemd']);
  const policies = ['NeverVerifyPreloadedImages', 'AlwaysVerify', 'NeverVerify'];
  oneOfOption('imagePullCredentialsVerificationPolicy', settings.imagePullCredentialsVerificationPolicy, policies);
  if (!settings.cgroupRoot.startsWith('/')) throw invalidOption('cgroupRoot', 'an absolute path', settings.cgroupRoot);
  if (settings.resolvConf !== '') absolutePath('resolvConf', settings.resolvConf);
  quantityOf('containerLogMaxSize', settings.containerLogMaxSize);
  requireSysctlPatterns('allowedUnsafeSysctls', settings.allowedUnsafeSysctls);
  return { ...settings, ...evictions };
}

function requireNumbers(settings: ResolvedSettings): void {
  integerOption('maxPods', settings.maxPods, 0);
  integerOption('podPidsLimit', settings.podPidsLimit, -1);
  integerOption('containerLogMaxFiles', settings.containerLogMaxFiles, 2);
  integerOption('nodeStatusMaxImages', settings.nodeStatusMaxImages, -1);
  integerOption('nodeLeaseDurationSeconds', settings.nodeLeaseDurationSeconds, 1);
  numberOption('kubeAPIQPS', settings.kubeAPIQPS, 1, 1e6);
  integerOption('kubeAPIBurst', settings.kubeAPIBurst, 1);
  numberOption('registryPullQPS', settings.registryPullQPS, 0, Number.MAX_SAFE_INTEGER);
  integerOption('registryBurst', settings.registryBurst, 0);
  const { maxParallelImagePulls } = settings;
  if (maxParallelImagePulls === undefined) return;
  integerOption('maxParallelImagePulls', maxParallelImagePulls, 1);
  if (maxParallelImagePulls === 1 || !settings.serializeImagePulls) return;
  throw invalidOption('maxParallelImagePulls', '1, unless serializeImagePulls is false', maxParallelImagePulls);
}

/** One without the other would give nothing. */
function requireCredentialProviders(settings: ResolvedSettings): void {
  const names = ['imageCredentialProviderConfig', 'imageCredentialProviderBinDir'] as const;
  for (const [index, name] of names.entries()) {
    const other = names[1 - index] ?? name;
    if (settings[name] !== undefined) absolutePath(name, settings[name]);
    else if (settings[other] !== undefined) throw invalidOption(name, `an absolute path, since ${other} is given`, undefined);
  }
}

function absolutePath(name: string, value: unknown): void {
  if (typeof value !== 'string' || !isAbsolute(value)) throw invalidOption(name, 'an absolute path', value);
}

function requireAddresses(name: string, addresses: readonly string[]): void {
  for (const address of addresses) if (isIP(address) === 0) throw invalidOption(name, 'IP addresses', address);
}

/** component-helpers/node/util ParseNodeIPArgument, v0.36.3. */
function requireOneOfFamily(addresses: readonly string[]): void {
  if (addresses.length < 2) return;
  const families = addresses.map((address) => isIP(address));
  const isPair = addresses.length === 2 && families[0] !== families[1];
  if (isPair && !addresses.some((address) => isUnspecified(parseAddress(address)?.text ?? address))) return;
  throw invalidOption('nodeIPs', 'one address, or one of each family that is neither 0.0.0.0 nor ::', addresses);
}

function requireQuantities(name: string, value: Readonly<Record<string, string>>): void {
  if (typeof value !== 'object' || value === null) throw invalidOption(name, 'an object of quantities', value);
  for (const [resource, quantity] of Object.entries(value)) quantityOf(`${name}.${resource}`, quantity);
}

function quantityOf(name: string, value: unknown): void {
  try {
    if (typeof value === 'string' && !canonicalQuantity(value).startsWith('-')) return;
  } catch {
    // the same answer as for any other value
  }
  throw invalidOption(name, 'a quantity that is not negative, such as "100Mi"', value);
}

function requireRanges(ranges: unknown): void {
  const isRange = (text: string): boolean => {
    const [address = '', bits = '', ...more] = text.split('/');
    return isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128) && more.length === 0;
  };
  if (typeof ranges === 'string' && (ranges === '' || ranges.split(',').every(isRange))) return;
  throw invalidOption('podCIDR', 'a range of addresses such as 10.0.0.0/24, or one of each family', ranges);
}

function requireDomain(domain: string): void {
  if (typeof domain === 'string' && (domain === '' || isDnsSubdomain(domain.replace(/\.$/, '')))) return;
  throw invalidOption('clusterDomain', 'a domain name, such as cluster.local', domain);
}
