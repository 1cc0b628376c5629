// What the agent does, in the words of KubeletConfiguration v1beta1 of v1.36.3: staging/src/k8s.io/kubelet/config/v1beta1/types.go,
// and cmd/kubelet/app/server.go initConfigz.
import { invalidOption } from '../../base/errors.ts';
import type { NodeServerOptions } from '../../node/server/serving-settings.ts';
import { durationText } from '../../node/workers/restart-backoff.ts';
import type { AgentSettings, ResolvedSettings } from './agent-settings.ts';
import { enforcementsOf } from './limit-settings.ts';

type Values = Readonly<Record<string, unknown>>;
/** How an option is written; undefined: the field is left out. */
type Write = (value: unknown) => unknown;

/** Also a zero is told, as of the kubelet's fields that are pointers. */
const always: Write = (value) => value;
const unlessEmpty: Write = (value) => (isEmpty(value) ? undefined : value);
/** A field that is an integer in Go: a reader there takes no fraction, and would lose all other fields with it. */
const integer: Write = (value) => (Number.isInteger(value) ? value : undefined);
/** Go has no time longer than this. */
const longestMs = 9_223_372_036_854;
/** To the microsecond, which Go reads without an exponent. Go leaves out no time of zero. */
const time: Write = (value) =>
  typeof value === 'number' ? durationText(Number(Math.min(value, longestMs).toFixed(3))) : undefined;
const times: Write = (value) => unlessEmpty(isObject(value) ? mapped(value, time) : undefined);
/** Headers may be secrets: the kubelet's log masks them, too. */
const masked: Write = (value) => unlessEmpty(isObject(value) ? mapped(value, () => ['<masked>']) : undefined);
/** Whoever names a place by its user, password, query or fragment may name a secret: all four are masked, as an HTTP source reads the URL. */
const maskedURL: Write = (value) => {
  if (typeof value !== 'string' || value === '') return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return '<masked>';
  const { protocol, username, password, host, pathname, search, hash } = url;
  if (`${username}${password}${search}${hash}` === '') return value;
  const user = `${username}${password}` === '' ? '' : '<masked>@';
  return `${protocol}//${user}${host}${pathname}${search && '?<masked>'}${hash && '#<masked>'}`;
};

type Row = readonly [field: string, write: Write];

/** The settings, each with the field that stands for it. Those without are flags of the kubelet, or have none. */
const settingRows = {
  allowedUnsafeSysctls: ['allowedUnsafeSysctls', unlessEmpty],
  cgroupDriver: ['cgroupDriver', unlessEmpty],
  cgroupRoot: ['cgroupRoot', unlessEmpty],
  cgroupsPerQOS: ['cgroupsPerQOS', always],
  clusterDNS: ['clusterDNS', unlessEmpty],
  clusterDomain: ['clusterDomain', unlessEmpty],
  containerLogMaxFiles: ['containerLogMaxFiles', integer],
  containerLogMaxSize: ['containerLogMaxSize', unlessEmpty],
  containerLogMonitorIntervalMs: ['containerLogMonitorInterval', time],
  cpuCFSQuota: ['cpuCFSQuota', always],
  cpuCFSQuotaPeriodMs: ['cpuCFSQuotaPeriod', time],
  enforceNodeAllocatable: ['enforceNodeAllocatable', unlessEmpty],
  eventBurst: ['eventBurst', integer],
  eventRecordQPS: ['eventRecordQPS', integer],
  evictionHard: ['evictionHard', unlessEmpty],
  evictionMaxPodGracePeriodSeconds: ['evictionMaxPodGracePeriod', unlessEmpty],
  evictionMinimumReclaim: ['evictionMinimumReclaim', unlessEmpty],
  evictionPressureTransitionPeriodMs: ['evictionPressureTransitionPeriod', time],
  evictionSoft: ['evictionSoft', unlessEmpty],
  evictionSoftGracePeriodMs: ['evictionSoftGracePeriod', times],
  externalCloudProvider: undefined,
  featureGates: ['featureGates', unlessEmpty],
  fileCheckFrequencyMs: ['fileCheckFrequency', time],
  healthzBindAddress: ['healthzBindAddress', unlessEmpty],
  healthzPort: ['healthzPort', integer],
  httpCheckFrequencyMs: ['httpCheckFrequency', time],
  imageCredentialProviderBinDir: undefined,
  imageCredentialProviderConfig: undefined,
  imageGCHighThresholdPercent: ['imageGCHighThresholdPercent', integer],
  imageGCLowThresholdPercent: ['imageGCLowThresholdPercent', integer],
  imageMaximumGCAgeMs: ['imageMaximumGCAge', time],
  imageMinimumGCAgeMs: ['imageMinimumGCAge', time],
  imagePullCredentialsVerificationPolicy: ['imagePullCredentialsVerificationPolicy', always],
  kernelMemcgNotification: ['kernelMemcgNotification', unlessEmpty],
  kubeAPIBurst: ['kubeAPIBurst', integer],
  kubeAPIQPS: ['kubeAPIQPS', integer],
  kubeReserved: ['kubeReserved', unlessEmpty],
  kubeReservedCgroup: ['kubeReservedCgroup', unlessEmpty],
  localStorageCapacityIsolation: ['localStorageCapacityIsolation', always],
  maxContainerRestartPeriodMs: ['crashLoopBackOff.maxContainerRestartPeriod', time],
  maxParallelImagePulls: ['maxParallelImagePulls', integer],
  maxPods: ['maxPods', integer],
  memoryReservationPolicy: ['memoryReservationPolicy', always],
  memoryThrottlingFactor: ['memoryThrottlingFactor', always],
  mergeDefaultEvictionSettings: ['mergeDefaultEvictionSettings', always],
  nodeIPs: undefined,
  nodeLabels: undefined,
  nodeLeaseDurationSeconds: ['nodeLeaseDurationSeconds', integer],
  nodeStatusMaxImages: ['nodeStatusMaxImages', integer],
  nodeStatusReportFrequencyMs: ['nodeStatusReportFrequency', time],
  nodeStatusUpdateFrequencyMs: ['nodeStatusUpdateFrequency', time],
  podCIDR: ['podCIDR', unlessEmpty],
  podLogsDirectory: ['podLogsDir', always],
  podPidsLimit: ['podPidsLimit', integer],
  podsPerCore: ['podsPerCore', unlessEmpty],
  providerID: ['providerID', unlessEmpty],
  registerNode: ['registerNode', always],
  registerWithTaints: ['registerWithTaints', unlessEmpty],
  registryBurst: ['registryBurst', integer],
  registryCredentialFiles: undefined,
  registryPullQPS: ['registryPullQPS', integer],
  resolvConf: ['resolvConf', always],
  rootDirectory: undefined,
  runtimeRequestTimeoutMs: ['runtimeRequestTimeout', time],
  seccompDefault: ['seccompDefault', always],
  serializeImagePulls: ['serializeImagePulls', always],
  shutdownGracePeriodByPodPriority: ['shutdownGracePeriodByPodPriority', unlessEmpty],
  shutdownGracePeriodCriticalPodsMs: ['shutdownGracePeriodCriticalPods', time],
  shutdownGracePeriodMs: ['shutdownGracePeriod', time],
  singleProcessOOMKill: ['singleProcessOOMKill', always],
  staticPodPath: ['staticPodPath', unlessEmpty],
  staticPodURL: ['staticPodURL', maskedURL],
  staticPodURLHeader: ['staticPodURLHeader', masked],
  swapBehavior: ['memorySwap.swapBehavior', always],
  syncFrequencyMs: ['syncFrequency', time],
  systemReserved: ['systemReserved', unlessEmpty],
  systemReservedCgroup: ['systemReservedCgroup', unlessEmpty],
  userNamespaceIDsPerPod: ['userNamespaces.idsPerPod', always],
} satisfies Readonly<Record<keyof ResolvedSettings, Row | undefined>>;

/** The options of `server`, each with the field that stands for it. */
const serverRows = {
  address: ['address', always],
  anonymous: ['authentication.anonymous.enabled', always],
  authenticationCacheMs: ['authentication.webhook.cacheTTL', time],
  authorizedCacheMs: ['authorization.webhook.cacheAuthorizedTTL', time],
  certificate: undefined,
  certificateFolder: undefined,
  clientCAFile: ['authentication.x509.clientCAFile', unlessEmpty],
  enableDebuggingHandlers: ['enableDebuggingHandlers', always],
  makeCertificateRequest: undefined,
  maxStreams: undefined,
  port: ['port', unlessEmpty],
  serverTLSBootstrap: ['serverTLSBootstrap', unlessEmpty],
  streamIdleTimeoutMs: ['streamingConnectionIdleTimeout', time],
  tlsCertFile: ['tlsCertFile', unlessEmpty],
  tlsCipherSuites: ['tlsCipherSuites', unlessEmpty],
  tlsMinVersion: ['tlsMinVersion', unlessEmpty],
  tlsPrivateKeyFile: ['tlsPrivateKeyFile', unlessEmpty],
  unauthorizedCacheMs: ['authorization.webhook.cacheUnauthorizedTTL', time],
} satisfies Readonly<Record<keyof NodeServerOptions, Row | undefined>>;

/** What no option changes. Fields of what the agent does not have, such as bits of iptables, are never told. */
const facts: Values = {
  'authentication.webhook.enabled': true,
  'authorization.mode': 'Webhook',
  configMapAndSecretChangeDetectionStrategy: 'Watch',
  containerLogMaxWorkers: 1,
  contentType: 'application/json',
  cpuManagerPolicy: 'none',
  enableControllerAttachDetach: true,
  enableDebugFlagsHandler: false,
  enableProfilingHandler: false,
  enableServer: true,
  enableSystemLogHandler: false,
  enableSystemLogQuery: false,
  makeIPTablesUtilChains: false,
  memoryManagerPolicy: 'None',
  topologyManagerPolicy: 'none',
};

const settingEntries = entriesOf(settingRows);
const serverEntries = entriesOf(serverRows);

/**
 * The option of `NodeAgent` that stands for a field of KubeletConfiguration v1beta1 (of Kubernetes v1.36), by the field's name with the
 * objects that it is in: `crashLoopBackOff.maxContainerRestartPeriod` is `maxContainerRestartPeriodMs`, `port` is `server.port`. A field
 * without an option is not in it. An option whose name ends in `Ms` takes milliseconds, where the field has a time such as `1m30s`.
 */
export const optionOfField: ReadonlyMap<string, string> = new Map([
  ...settingEntries.map(([option, [field]]) => [field, option] as const),
  ...serverEntries.map(([option, [field]]) => [field, `server.${option}`] as const),
]);

/** What is told of an agent. */
export interface ToldAgent {
  readonly settings: ResolvedSettings;
  /** As they were given: a limit that another one heeds is told only where somebody has named it. */
  readonly given: Pick<AgentSettings, 'runtimeRequestTimeoutMs'>;
  /** How the API is served, with every default; undefined: not at all. */
  readonly server: Values | undefined;
  /** Who makes the cgroups of pods; undefined: it is not known. */
  readonly cgroupDriver: string | undefined;
  /** What the program around the agent says of itself. */
  readonly further: Values;
}

/** The agent's KubeletConfiguration v1beta1, as the kubelet answers it: times as Go writes them, what is empty left out, secrets masked. */
export function toldConfiguration({ settings, given, server, cgroupDriver, further }: ToldAgent): Values {
  const told: Record<string, unknown> = {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    ...structuredClone(further),
  };
  const { serializeImagePulls, maxParallelImagePulls } = settings;
  const inForce: Values = {
    ...settings,
    cgroupDriver,
    enforceNodeAllocatable: enforcementsOf(settings),
    maxParallelImagePulls: serializeImagePulls ? maxParallelImagePulls : pullsAtOnce(settings),
    runtimeRequestTimeoutMs: given.runtimeRequestTimeoutMs,
  };
  for (const [option, [field, write]] of settingEntries) put(told, field, write(inForce[option]));
  // without an address it is every one of the machine
  const served: Values = { ...server, address: server?.address ?? '0.0.0.0' };
  for (const [option, [field, write]] of server === undefined ? [] : serverEntries) put(told, field, write(served[option]));
  for (const [field, value] of Object.entries(facts)) put(told, field, value);
  return told;
}

/** So many images are pulled at a time. The kubelet sets no limit where the field is left out. */
export function pullsAtOnce(settings: Pick<ResolvedSettings, 'serializeImagePulls' | 'maxParallelImagePulls'>): number {
  return settings.serializeImagePulls ? 1 : (settings.maxParallelImagePulls ?? 5);
}

/**
 * Fields that the program around the agent follows, nested as in the file: they are told as they are. Throws ERR_INVALID_OPTION for what is no
 * object of JSON, and for a field that follows from an option, or that nothing changes.
 */
export function requireFurtherFields(given: unknown): Values {
  const name = 'kubeletConfiguration';
  if (!isObject(given)) throw invalidOption(name, 'an object of fields of KubeletConfiguration v1beta1', given);
  const copy = jsonObject(given);
  if (copy === undefined) throw invalidOption(name, 'an object that JSON can hold', given);
  for (const path of pathsOf(copy)) {
    const option = optionOfField.get(path);
    if (option !== undefined) throw invalidOption(`${name}.${path}`, `absent: the option ${option} says it`, undefined);
    const isFact = Object.hasOwn(facts, path) || path === 'kind' || path === 'apiVersion';
    if (isFact) throw invalidOption(`${name}.${path}`, 'absent: the agent says it of itself', undefined);
  }
  return copy;
}

function entriesOf(rows: Readonly<Record<string, Row | undefined>>): (readonly [option: string, Row])[] {
  return Object.entries(rows).flatMap(([option, row]) => (row === undefined ? [] : [[option, row] as const]));
}

/** The paths of all members, those of objects too: an option may stand for a whole object. */
function pathsOf(values: Values, above = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = `${above}${name}`;
    return isObject(value) ? [path, ...pathsOf(value, `${path}.`)] : [path];
  });
}

function put(told: Record<string, unknown>, path: string, value: unknown): void {
  if (value === undefined) return;
  const [name = '', ...below] = path.split('.');
  if (below.length === 0) {
    told[name] = value;
    return;
  }
  const inner: Record<string, unknown> = isObject(told[name]) ? { ...told[name] } : {};
  put(inner, below.join('.'), value);
  told[name] = inner;
}

const copyOf = (values: Values): unknown => JSON.parse(JSON.stringify(values));

/** What JSON makes of it; undefined: no object. */
function jsonObject(values: Values): Values | undefined {
  try {
    const copy = copyOf(values);
    return isObject(copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === 0 || value === '' || value === false;
}

function mapped(values: Values, write: Write): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]));
}
