import { optionOfField } from 'pod-status-manager/kubelet';
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
  /** The agent's option, such as `maxPods` or `server.port`; undefined where the program itself uses the field. */
  readonly option?: string;
  /** Why another value stops the start, or why the field does nothing here. */
  readonly why?: string;
}

/** What the field says is an option of the agent, or the program itself uses it. */
const works = (read: Read): Field => ({ kind: 'works', read });
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
const rows: Readonly<Record<string, Field>> = {
  address: works(text),
  allowedUnsafeSysctls: works(texts),
  'authentication.anonymous.enabled': works(flag),
  'authentication.webhook.cacheTTL': works(time),
  'authentication.webhook.enabled': onlyValue(flag, true, 'only the apiserver knows whose token it is'),
  'authentication.x509.clientCAFile': works(text),
  'authorization.mode': onlyValue(text, 'Webhook', 'the API is never open to all who are known'),
  'authorization.webhook.cacheAuthorizedTTL': works(time),
  'authorization.webhook.cacheUnauthorizedTTL': works(time),
  cgroupDriver: works(text),
  cgroupRoot: works(text),
  cgroupsPerQOS: works(flag),
  clusterDNS: works(texts),
  clusterDomain: works(text),
  configMapAndSecretChangeDetectionStrategy: onlyValue(text, 'Watch', 'the agent watches each object that a pod names'),
  containerLogMaxFiles: works(exactCount),
  containerLogMaxSize: works(text),
  containerLogMaxWorkers: without(exactCount, 'files of logs are rotated one after the other'),
  containerLogMonitorInterval: works(exactTime),
  containerRuntimeEndpoint: works(text),
  contentType: without(text, 'the agent speaks JSON with the apiserver'),
  cpuCFSQuota: works(flag),
  cpuCFSQuotaPeriod: works(exactTime),
  cpuManagerPolicy: onlyValue(text, 'none', noManagers),
  cpuManagerPolicyOptions: notSet(textMap, noManagers),
  cpuManagerReconcilePeriod: without(time, noManagers),
  'crashLoopBackOff.maxContainerRestartPeriod': works(exactTime),
  enableContentionProfiling: without(flag, noGo),
  enableControllerAttachDetach: onlyValue(flag, true, 'the agent attaches no volumes'),
  enableDebugFlagsHandler: without(flag, noGo),
  enableDebuggingHandlers: works(flag),
  enableProfilingHandler: without(flag, noGo),
  enableServer: works(flag),
  enableSystemLogHandler: without(flag, 'logs of the machine are never shown: /logs is answered with 405'),
  enableSystemLogQuery: onlyValue(flag, false, 'logs of the machine are never shown'),
  enforceNodeAllocatable: works(texts),
  eventBurst: works(above0(count)),
  eventRecordQPS: works(exactCount),
  evictionHard: works(textMap),
  evictionMaxPodGracePeriod: works(count),
  evictionMinimumReclaim: works(textMap),
  evictionPressureTransitionPeriod: works(time),
  evictionSoft: works(textMap),
  evictionSoftGracePeriod: works(timeMap),
  failCgroupV1: works(flag),
  failSwapOn: works(flag),
  featureGates: works(flagMap),
  fileCheckFrequency: works(above0(time)),
  hairpinMode: without(
    oneOf('none', 'hairpin-veth', 'promiscuous-bridge'),
    'the runtime and its plugin make the network of a pod',
  ),
  healthzBindAddress: works(text),
  healthzPort: works(exactCount),
  httpCheckFrequency: works(above0(time)),
  imageGCHighThresholdPercent: works(exactCount),
  imageGCLowThresholdPercent: works(exactCount),
  imageMaximumGCAge: works(time),
  imageMinimumGCAge: works(time),
  imagePullCredentialsVerificationPolicy: works(text),
  imageServiceEndpoint: works(text),
  iptablesDropBit: without(exactCount, noTables),
  iptablesMasqueradeBit: without(exactCount, noTables),
  kernelMemcgNotification: works(flag),
  kubeAPIBurst: works(above0(count)),
  kubeAPIQPS: works(exactCount),
  kubeReserved: works(textMap),
  kubeReservedCgroup: works(text),
  kubeletCgroups: works(text),
  localStorageCapacityIsolation: works(flag),
  'logging.flushFrequency': without(timeOrNumber, noBuffer),
  'logging.format': works(oneOf('text', 'json')),
  'logging.options.json.infoBufferSize': without(exactText, noBuffer),
  'logging.options.json.splitStream': without(flag, noBuffer),
  'logging.options.text.infoBufferSize': without(exactText, noBuffer),
  'logging.options.text.splitStream': without(flag, noBuffer),
  'logging.verbosity': works(count),
  'logging.vmodule': without(listOf({ filePattern: text, verbosity: exactCount }), 'it names files of a program in Go'),
  makeIPTablesUtilChains: without(flag, noTables),
  maxOpenFiles: works(above0(count)),
  maxParallelImagePulls: works(exactCount),
  maxPods: works(count),
  memoryManagerPolicy: onlyValue(text, 'None', noManagers),
  memoryReservationPolicy: works(text),
  'memorySwap.swapBehavior': works(text),
  memoryThrottlingFactor: works(real),
  mergeDefaultEvictionSettings: works(flag),
  nodeLeaseDurationSeconds: works(count),
  nodeStatusMaxImages: works(exactCount),
  nodeStatusReportFrequency: works(time),
  nodeStatusUpdateFrequency: works(above0(time)),
  oomScoreAdj: works(exactCount),
  podCIDR: works(text),
  podLogsDir: works(text),
  podPidsLimit: works(exactCount),
  podsPerCore: works(count),
  port: works(above0(count)),
  preloadedImagesVerificationAllowlist: notSet(texts, 'no image is excepted from the policy by its name'),
  protectKernelDefaults: onlyValue(flag, false, 'the agent does not look at the settings of the kernel'),
  providerID: works(text),
  qosReserved: notSet(textMap, 'the feature gate QOSReserved is off'),
  readOnlyPort: notSet(count, 'the API is never open to strangers'),
  registerNode: works(flag),
  registerWithTaints: works(listOf({ key: text, value: text, effect: text, timeAdded: text })),
  registryBurst: works(count),
  registryPullQPS: works(exactCount),
  reservedMemory: notSet(listOf({ numaNode: exactCount, limits: textMap }), noManagers),
  reservedSystemCPUs: notSet(text, noManagers),
  resolvConf: works(exactText),
  rotateCertificates: works(flag),
  runOnce: onlyValue(flag, false, 'the agent runs until it is ended, as does every kubelet of v1.36'),
  runtimeRequestTimeout: works(above0(time)),
  seccompDefault: works(flag),
  serializeImagePulls: works(flag),
  serverTLSBootstrap: works(flag),
  showHiddenMetricsForVersion: without(text, 'the agent hides none of its metrics'),
  shutdownGracePeriod: works(time),
  shutdownGracePeriodByPodPriority: works(listOf({ priority: exactCount, shutdownGracePeriodSeconds: exactCount })),
  shutdownGracePeriodCriticalPods: works(time),
  singleProcessOOMKill: works(flag),
  staticPodPath: works(text),
  staticPodURL: works(text),
  staticPodURLHeader: works(headers),
  streamingConnectionIdleTimeout: works(above0(time)),
  syncFrequency: works(above0(time)),
  systemCgroups: notSet(text, 'the agent moves no processes of others'),
  systemReserved: works(textMap),
  systemReservedCgroup: works(text),
  tlsCertFile: works(text),
  tlsCipherSuites: works(texts),
  tlsCurvePreferences: notSet(counts, 'the curves are those of Node.js'),
  tlsMinVersion: works(text),
  tlsPrivateKeyFile: works(text),
  topologyManagerPolicy: onlyValue(text, 'none', noManagers),
  topologyManagerPolicyOptions: notSet(textMap, noManagers),
  topologyManagerScope: without(oneOf('container', 'pod'), noManagers),
  'tracing.endpoint': without(exactText, noTraces),
  'tracing.samplingRatePerMillion': without(exactCount, noTraces),
  'userNamespaces.idsPerPod': works(exactCount),
  volumePluginDir: without(text, 'the agent has no FlexVolume: a pod with such a volume is refused'),
  volumeStatsAggPeriod: without(time, 'files of a pod are counted once a minute, and sooner where it has a limit'),
};

/** Every field, with the agent's option that stands for it. */
export const fields: Readonly<Record<string, Field>> = Object.fromEntries(
  Object.entries(rows).map(([path, field]) => {
    const option = field.kind === 'works' ? optionOfField.get(path) : undefined;
    return [path, option === undefined ? field : { ...field, option }];
  }),
);
