import { durationMs } from './durations.ts';

/** A configuration file that breaks a rule. The message names the field and the rule. */
export class ConfigError extends Error {}

/** What a field of the file says, in the words of the agent's options. */
type Read = (value: unknown, field: string) => unknown;

interface Field {
  /** The agent's option; undefined where the program itself uses the field. */
  readonly option?: string;
  readonly read: Read;
}

function typed(type: 'string' | 'number' | 'boolean'): Read {
  return (value, field) => {
    if (typeof value === type) return value;
    throw new ConfigError(`${field} must be a ${type}, got ${JSON.stringify(value)}`);
  };
}

const text = typed('string');
const number = typed('number');
const flag = typed('boolean');

const time: Read = (value, field) => {
  const ms = durationMs(value);
  if (ms === undefined) throw new ConfigError(`${field} must be a time such as "1m30s", got ${JSON.stringify(value)}`);
  return ms;
};

const texts = (value: unknown, field: string): readonly string[] => {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new ConfigError(`${field} must be a list of strings, got ${JSON.stringify(value)}`);
};

/** True for an object with names and values. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const record = (value: unknown, field: string): Readonly<Record<string, unknown>> => {
  if (isRecord(value)) return value;
  throw new ConfigError(`${field} must be an object, got ${JSON.stringify(value)}`);
};

const list: Read = (value, field) => {
  if (Array.isArray(value)) return value;
  throw new ConfigError(`${field} must be a list, got ${JSON.stringify(value)}`);
};

/** In the file each header has a list of values. */
const headers: Read = (value, field) => {
  const entries = Object.entries(record(value, field));
  return Object.fromEntries(entries.map(([name, values]) => [name, texts(values, `${field}.${name}`).join(', ')]));
};

const quantities: Read = (value, field) => {
  const entries = Object.entries(record(value, field));
  return Object.fromEntries(entries.map(([name, quantity]) => [name, String(quantity)]));
};

/** For what this agent cannot do otherwise: a file that asks for more is not started with, since somebody may rely on it. */
const only =
  (rule: string, isDone: (value: unknown) => boolean): Read =>
  (value, field) => {
    if (isDone(value)) return value;
    throw new ConfigError(`${field} must be ${rule}: this agent cannot do otherwise, got ${JSON.stringify(value)}`);
  };
const notSet = only('left out', (value) => value === null || (Array.isArray(value) && value.length === 0));

const option = (name: string, read: Read): Field => ({ option: name, read });
const own = (read: Read): Field => ({ read });

/** The fields of KubeletConfiguration that do something here. */
export const fields: Readonly<Record<string, Field>> = {
  address: own(text),
  allowedUnsafeSysctls: option('allowedUnsafeSysctls', texts),
  authentication: own(record),
  authorization: own(record),
  cgroupDriver: option('cgroupDriver', text),
  cgroupRoot: option('cgroupRoot', text),
  cgroupsPerQOS: option('cgroupsPerQOS', flag),
  clusterDNS: option('clusterDNS', texts),
  clusterDomain: option('clusterDomain', text),
  containerLogMaxFiles: option('containerLogMaxFiles', number),
  containerLogMaxSize: option('containerLogMaxSize', text),
  containerLogMonitorInterval: option('containerLogMonitorIntervalMs', time),
  containerRuntimeEndpoint: own(text),
  cpuCFSQuota: option('cpuCFSQuota', flag),
  enableDebuggingHandlers: own(flag),
  enableServer: own(flag),
  evictionHard: option('evictionHard', quantities),
  failSwapOn: own(flag),
  fileCheckFrequency: option('fileCheckFrequencyMs', time),
  httpCheckFrequency: option('httpCheckFrequencyMs', time),
  imageGCHighThresholdPercent: option('imageGCHighThresholdPercent', number),
  imageGCLowThresholdPercent: option('imageGCLowThresholdPercent', number),
  imageMinimumGCAge: option('imageMinimumGCAgeMs', time),
  imagePullCredentialsVerificationPolicy: option('imagePullCredentialsVerificationPolicy', text),
  imageServiceEndpoint: own(text),
  kubeAPIBurst: option('kubeAPIBurst', number),
  kubeAPIQPS: option('kubeAPIQPS', number),
  kubeReserved: option('kubeReserved', quantities),
  maxParallelImagePulls: option('maxParallelImagePulls', number),
  maxPods: option('maxPods', number),
  nodeLeaseDurationSeconds: option('nodeLeaseDurationSeconds', number),
  nodeStatusMaxImages: option('nodeStatusMaxImages', number),
  nodeStatusReportFrequency: option('nodeStatusReportFrequencyMs', time),
  nodeStatusUpdateFrequency: option('nodeStatusUpdateFrequencyMs', time),
  podLogsDir: option('podLogsDirectory', text),
  podPidsLimit: option('podPidsLimit', number),
  port: own(number),
  preloadedImagesVerificationAllowlist: own(notSet),
  protectKernelDefaults: own(only('false', (value) => value === false)),
  providerID: option('providerID', text),
  registerNode: option('registerNode', flag),
  registerWithTaints: option('registerWithTaints', list),
  registryBurst: option('registryBurst', number),
  registryPullQPS: option('registryPullQPS', number),
  resolvConf: option('resolvConf', text),
  runtimeRequestTimeout: option('runtimeRequestTimeoutMs', time),
  seccompDefault: option('seccompDefault', flag),
  serializeImagePulls: option('serializeImagePulls', flag),
  serverTLSBootstrap: own(flag),
  staticPodPath: option('staticPodPath', text),
  staticPodURL: option('staticPodURL', text),
  staticPodURLHeader: option('staticPodURLHeader', headers),
  streamingConnectionIdleTimeout: own(time),
  syncFrequency: option('syncFrequencyMs', time),
  systemReserved: option('systemReserved', quantities),
  tlsCertFile: own(text),
  tlsCipherSuites: own(texts),
  tlsCurvePreferences: own(notSet),
  tlsMinVersion: own(text),
  tlsPrivateKeyFile: own(text),
};

/** Fields of KubeletConfiguration that the agent does not have. A file may have them, and the program says that they do nothing. */
export const withoutEffect: readonly string[] = (
  'configMapAndSecretChangeDetectionStrategy containerLogMaxWorkers contentType cpuCFSQuotaPeriod cpuManagerPolicy ' +
  'cpuManagerPolicyOptions cpuManagerReconcilePeriod crashLoopBackOff enableContentionProfiling enableControllerAttachDetach ' +
  'enableDebugFlagsHandler enableProfilingHandler enableSystemLogHandler enableSystemLogQuery ' +
  'enforceNodeAllocatable eventBurst eventRecordQPS evictionMaxPodGracePeriod evictionMinimumReclaim ' +
  'evictionPressureTransitionPeriod evictionSoft evictionSoftGracePeriod failCgroupV1 featureGates hairpinMode ' +
  'healthzBindAddress healthzPort imageMaximumGCAge iptablesDropBit ' +
  'iptablesMasqueradeBit kernelMemcgNotification kubeReservedCgroup kubeletCgroups ' +
  'localStorageCapacityIsolation logging makeIPTablesUtilChains maxOpenFiles memoryManagerPolicy memoryReservationPolicy ' +
  'memorySwap memoryThrottlingFactor mergeDefaultEvictionSettings oomScoreAdj podCIDR podsPerCore ' +
  'qosReserved readOnlyPort reservedMemory reservedSystemCPUs ' +
  'rotateCertificates runOnce showHiddenMetricsForVersion shutdownGracePeriod ' +
  'shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods singleProcessOOMKill ' +
  'systemCgroups systemReservedCgroup topologyManagerPolicy ' +
  'topologyManagerPolicyOptions topologyManagerScope tracing userNamespaces volumePluginDir volumeStatsAggPeriod'
).split(' ');
