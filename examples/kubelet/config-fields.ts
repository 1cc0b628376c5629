import {
  above0,
  ConfigError,
  count,
  counts,
  exactCount,
  exactText,
  exactTime,
  flag,
  flagMap,
  headers,
  listOf,
  oneOf,
  type Read,
  real,
  text,
  textMap,
  texts,
  time,
  timeMap,
  timeOrNumber,
} from './config-values.ts';

/** A field of KubeletConfiguration, and what is done with it. */
export interface Field {
  /** `fixed`: only the value that the agent has anyway is taken. */
  readonly kind: 'works' | 'fixed' | 'without effect';
  readonly read: Read;
  /** The agent's option; undefined where the program itself uses the field. */
  readonly option?: string;
  /** Why another value stops the start, or why the field does nothing here. */
  readonly why?: string;
}

/** What the field says is an option of the agent. */
const option = (name: string, read: Read): Field => ({ kind: 'works', option: name, read });
/** The program itself uses what the field says. */
const own = (read: Read): Field => ({ kind: 'works', read });
/** For what tunes something that the agent does not have. A file may have it, and the program says that it does nothing. */
const without = (read: Read, why: string): Field => ({ kind: 'without effect', read, why });

/** For what this agent cannot do otherwise: a file that asks for more is not started with, since somebody may rely on it. */
function only(read: Read, rule: string, isDone: (value: unknown) => boolean, why: string): Field {
  const done =
    (inner: Read): Read =>
    (value, field) => {
      const given = inner(value, field);
      if (given === undefined || isDone(given)) return given;
      throw new ConfigError(`${field} must be ${rule}, since ${why}, got ${JSON.stringify(value)}`);
    };
  const exact = read.exact && { exact: done(read.exact) };
  return { kind: 'fixed', read: Object.assign(done(read), read, exact), why: `${rule}: ${why}` };
}
const onlyValue = (read: Read, value: unknown, why: string): Field =>
  only(read, JSON.stringify(value), (given) => given === value, why);
/** Nothing, an empty list or an empty object. */
const notSet = (read: Read, why: string): Field => only(read, 'left out', isEmpty, why);

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === 0 || value === '';
}

const noManagers = 'containers get no processors or memory of their own';
const noTables = 'the agent makes no rules of iptables, and kube-proxy makes its own';
const noTraces = 'the agent makes no traces';
const noBuffer = 'each line of the log is written at once, to standard error';
const noGo = 'it shows the inside of a program in Go; /debug is answered with 405';

/** Every field of KubeletConfiguration v1beta1 of Kubernetes v1.36.3, with the objects that they are in. */
export const fields: Readonly<Record<string, Field>> = {
  address: own(text),
  allowedUnsafeSysctls: option('allowedUnsafeSysctls', texts),
  'authentication.anonymous.enabled': own(flag),
  'authentication.webhook.cacheTTL': own(time),
  'authentication.webhook.enabled': onlyValue(flag, true, 'only the apiserver knows whose token it is'),
  'authentication.x509.clientCAFile': own(text),
  'authorization.mode': onlyValue(text, 'Webhook', 'the API is never open to all who are known'),
  'authorization.webhook.cacheAuthorizedTTL': own(time),
  'authorization.webhook.cacheUnauthorizedTTL': own(time),
  cgroupDriver: option('cgroupDriver', text),
  cgroupRoot: option('cgroupRoot', text),
  cgroupsPerQOS: option('cgroupsPerQOS', flag),
  clusterDNS: option('clusterDNS', texts),
  clusterDomain: option('clusterDomain', text),
  configMapAndSecretChangeDetectionStrategy: onlyValue(text, 'Watch', 'the agent watches each object that a pod names'),
  containerLogMaxFiles: option('containerLogMaxFiles', exactCount),
  containerLogMaxSize: option('containerLogMaxSize', text),
  containerLogMaxWorkers: without(exactCount, 'files of logs are rotated one after the other'),
  containerLogMonitorInterval: option('containerLogMonitorIntervalMs', exactTime),
  containerRuntimeEndpoint: own(text),
  contentType: without(text, 'the agent speaks JSON with the apiserver'),
  cpuCFSQuota: option('cpuCFSQuota', flag),
  cpuCFSQuotaPeriod: option('cpuCFSQuotaPeriodMs', exactTime),
  cpuManagerPolicy: onlyValue(text, 'none', noManagers),
  cpuManagerPolicyOptions: notSet(textMap, noManagers),
  cpuManagerReconcilePeriod: without(time, noManagers),
  'crashLoopBackOff.maxContainerRestartPeriod': option('maxContainerRestartPeriodMs', exactTime),
  enableContentionProfiling: without(flag, noGo),
  enableControllerAttachDetach: onlyValue(flag, true, 'the agent attaches no volumes'),
  enableDebugFlagsHandler: without(flag, noGo),
  enableDebuggingHandlers: own(flag),
  enableProfilingHandler: without(flag, noGo),
  enableServer: own(flag),
  enableSystemLogHandler: without(flag, 'logs of the machine are never shown: /logs is answered with 405'),
  enableSystemLogQuery: onlyValue(flag, false, 'logs of the machine are never shown'),
  enforceNodeAllocatable: option('enforceNodeAllocatable', texts),
  eventBurst: option('eventBurst', above0(count)),
  eventRecordQPS: option('eventRecordQPS', exactCount),
  evictionHard: option('evictionHard', textMap),
  evictionMaxPodGracePeriod: option('evictionMaxPodGracePeriodSeconds', count),
  evictionMinimumReclaim: option('evictionMinimumReclaim', textMap),
  evictionPressureTransitionPeriod: option('evictionPressureTransitionPeriodMs', time),
  evictionSoft: option('evictionSoft', textMap),
  evictionSoftGracePeriod: option('evictionSoftGracePeriodMs', timeMap),
  failCgroupV1: own(flag),
  failSwapOn: own(flag),
  featureGates: option('featureGates', flagMap),
  fileCheckFrequency: option('fileCheckFrequencyMs', above0(time)),
  hairpinMode: without(
    oneOf('none', 'hairpin-veth', 'promiscuous-bridge'),
    'the runtime and its plugin make the network of a pod',
  ),
  healthzBindAddress: option('healthzBindAddress', text),
  healthzPort: option('healthzPort', exactCount),
  httpCheckFrequency: option('httpCheckFrequencyMs', above0(time)),
  imageGCHighThresholdPercent: option('imageGCHighThresholdPercent', exactCount),
  imageGCLowThresholdPercent: option('imageGCLowThresholdPercent', exactCount),
  imageMaximumGCAge: option('imageMaximumGCAgeMs', time),
  imageMinimumGCAge: option('imageMinimumGCAgeMs', time),
  imagePullCredentialsVerificationPolicy: option('imagePullCredentialsVerificationPolicy', text),
  imageServiceEndpoint: own(text),
  iptablesDropBit: without(exactCount, noTables),
  iptablesMasqueradeBit: without(exactCount, noTables),
  kernelMemcgNotification: option('kernelMemcgNotification', flag),
  kubeAPIBurst: option('kubeAPIBurst', above0(count)),
  kubeAPIQPS: option('kubeAPIQPS', exactCount),
  kubeReserved: option('kubeReserved', textMap),
  kubeReservedCgroup: option('kubeReservedCgroup', text),
  kubeletCgroups: own(text),
  localStorageCapacityIsolation: option('localStorageCapacityIsolation', flag),
  'logging.flushFrequency': without(timeOrNumber, noBuffer),
  'logging.format': own(oneOf('text', 'json')),
  'logging.options.json.infoBufferSize': without(exactText, noBuffer),
  'logging.options.json.splitStream': without(flag, noBuffer),
  'logging.options.text.infoBufferSize': without(exactText, noBuffer),
  'logging.options.text.splitStream': without(flag, noBuffer),
  'logging.verbosity': own(count),
  'logging.vmodule': without(listOf({ filePattern: text, verbosity: exactCount }), 'it names files of a program in Go'),
  makeIPTablesUtilChains: without(flag, noTables),
  maxOpenFiles: own(above0(count)),
  maxParallelImagePulls: option('maxParallelImagePulls', exactCount),
  maxPods: option('maxPods', count),
  memoryManagerPolicy: onlyValue(text, 'None', noManagers),
  memoryReservationPolicy: option('memoryReservationPolicy', text),
  'memorySwap.swapBehavior': option('swapBehavior', text),
  memoryThrottlingFactor: option('memoryThrottlingFactor', real),
  mergeDefaultEvictionSettings: option('mergeDefaultEvictionSettings', flag),
  nodeLeaseDurationSeconds: option('nodeLeaseDurationSeconds', count),
  nodeStatusMaxImages: option('nodeStatusMaxImages', exactCount),
  nodeStatusReportFrequency: option('nodeStatusReportFrequencyMs', time),
  nodeStatusUpdateFrequency: option('nodeStatusUpdateFrequencyMs', above0(time)),
  oomScoreAdj: own(exactCount),
  podCIDR: option('podCIDR', text),
  podLogsDir: option('podLogsDirectory', text),
  podPidsLimit: option('podPidsLimit', exactCount),
  podsPerCore: option('podsPerCore', count),
  port: own(above0(count)),
  preloadedImagesVerificationAllowlist: notSet(texts, 'no image is excepted from the policy by its name'),
  protectKernelDefaults: onlyValue(flag, false, 'the agent does not look at the settings of the kernel'),
  providerID: option('providerID', text),
  qosReserved: notSet(textMap, 'the feature gate QOSReserved is off'),
  readOnlyPort: notSet(count, 'the API is never open to strangers'),
  registerNode: option('registerNode', flag),
  registerWithTaints: option('registerWithTaints', listOf({ key: text, value: text, effect: text, timeAdded: text })),
  registryBurst: option('registryBurst', count),
  registryPullQPS: option('registryPullQPS', exactCount),
  reservedMemory: notSet(listOf({ numaNode: exactCount, limits: textMap }), noManagers),
  reservedSystemCPUs: notSet(text, noManagers),
  resolvConf: option('resolvConf', exactText),
  rotateCertificates: own(flag),
  runOnce: onlyValue(flag, false, 'the agent runs until it is ended, as does every kubelet of v1.36'),
  runtimeRequestTimeout: option('runtimeRequestTimeoutMs', above0(time)),
  seccompDefault: option('seccompDefault', flag),
  serializeImagePulls: option('serializeImagePulls', flag),
  serverTLSBootstrap: own(flag),
  showHiddenMetricsForVersion: without(text, 'the agent hides none of its metrics'),
  shutdownGracePeriod: option('shutdownGracePeriodMs', time),
  shutdownGracePeriodByPodPriority: option(
    'shutdownGracePeriodByPodPriority',
    listOf({ priority: exactCount, shutdownGracePeriodSeconds: exactCount }),
  ),
  shutdownGracePeriodCriticalPods: option('shutdownGracePeriodCriticalPodsMs', time),
  singleProcessOOMKill: option('singleProcessOOMKill', flag),
  staticPodPath: option('staticPodPath', text),
  staticPodURL: option('staticPodURL', text),
  staticPodURLHeader: option('staticPodURLHeader', headers),
  streamingConnectionIdleTimeout: own(above0(time)),
  syncFrequency: option('syncFrequencyMs', above0(time)),
  systemCgroups: notSet(text, 'the agent moves no processes of others'),
  systemReserved: option('systemReserved', textMap),
  systemReservedCgroup: option('systemReservedCgroup', text),
  tlsCertFile: own(text),
  tlsCipherSuites: own(texts),
  tlsCurvePreferences: notSet(counts, 'the curves are those of Node.js'),
  tlsMinVersion: own(text),
  tlsPrivateKeyFile: own(text),
  topologyManagerPolicy: onlyValue(text, 'none', noManagers),
  topologyManagerPolicyOptions: notSet(textMap, noManagers),
  topologyManagerScope: without(oneOf('container', 'pod'), noManagers),
  'tracing.endpoint': without(exactText, noTraces),
  'tracing.samplingRatePerMillion': without(exactCount, noTraces),
  'userNamespaces.idsPerPod': option('userNamespaceIDsPerPod', exactCount),
  volumePluginDir: without(text, 'the agent has no FlexVolume: a pod with such a volume is refused'),
  volumeStatsAggPeriod: without(time, 'files of a pod are counted once a minute, and sooner where it has a limit'),
};
