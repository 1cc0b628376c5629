import { ConfigError, isRecord } from './config-values.ts';

/** What a flag says, as a file would have it. `flag` is its name for errors. */
export type Parse = (given: string, flag: string) => unknown;

const text: Parse = (given) => given;
const list = (given: string): readonly string[] => given.split(',').filter((each) => each !== '');
const texts: Parse = list;

const count: Parse = (given, flag) => {
  if (/^[-+]?\d+$/.test(given)) return Number(given);
  throw new ConfigError(`${flag} must be an integer, got ${JSON.stringify(given)}`);
};

/** The words that Go takes. */
export const bool = (given: string, flag: string): boolean => {
  if (/^(?:1|t|true)$/i.test(given)) return true;
  if (/^(?:0|f|false)$/i.test(given)) return false;
  throw new ConfigError(`${flag} must be true or false, got ${JSON.stringify(given)}`);
};

/** The two sides of the first sign between them. `shown`: false where it may be a secret. */
function sides(given: string, between: string, flag: string, shown = true): readonly [string, string] {
  const at = given.indexOf(between);
  if (at > 0) return [given.slice(0, at).trim(), given.slice(at + 1).trim()];
  throw new ConfigError(`${flag} must be such as a${between}b${shown ? `, got ${JSON.stringify(given)}` : ''}`);
}

const pairs =
  (between: string, read: Parse = text): Parse =>
  (given, flag) => {
    const read1 = (pair: string): readonly [string, unknown] => {
      const [name, value] = sides(pair, between, flag);
      return [name, read(value, `${flag}: ${name}`)];
    };
    return Object.fromEntries(list(given).map(read1));
  };
const map = pairs('=');

/** `name=value`, separated by commas. A name alone has an empty value. */
export function labels(given: string, flag: string): Readonly<Record<string, string>> {
  const named = list(given).map((label) => label.trim());
  const read1 = (label: string): readonly [string, string] => (label.includes('=') ? sides(label, '=', flag) : [label, '']);
  return Object.fromEntries(named.filter((label) => label !== '').map(read1));
}

/** `key=value:Effect` or `key:Effect`, separated by commas. */
const taints: Parse = (given, flag) =>
  list(given).map((taint) => {
    const [rest, effect] = sides(taint, ':', flag);
    const [key, value] = rest.includes('=') ? sides(rest, '=', flag) : [rest, undefined];
    return { key, ...(value !== undefined && value !== '' && { value }), effect };
  });

/** `name:value`, separated by commas; a name may come again. */
const headers: Parse = (given, flag) => {
  const all = new Map<string, string[]>();
  for (const each of list(given)) {
    const [name, value] = sides(each, ':', flag, false);
    all.set(name, [...(all.get(name) ?? []), value]);
  }
  return Object.fromEntries(all);
};

/** `node:resource=quantity,resource=quantity;node:…` */
const reservedMemory: Parse = (given, flag) =>
  given.split(';').map((each) => {
    const [node, limits] = sides(each, ':', flag);
    return { numaNode: count(node, flag), limits: map(limits, flag) };
  });

const vmodule: Parse = (given, flag) =>
  list(given).map((each) => {
    const [filePattern, verbosity] = sides(each, '=', flag);
    return { filePattern, verbosity: count(verbosity, flag) };
  });

/** The flags of the kubelet v1.36.3 that say what a field of its file says: by type, each with the field. */
const flagsByType: readonly (readonly [Parse, Readonly<Record<string, string>>])[] = [
  [
    bool,
    {
      'anonymous-auth': 'authentication.anonymous.enabled',
      'authentication-token-webhook': 'authentication.webhook.enabled',
      'cgroups-per-qos': 'cgroupsPerQOS',
      'contention-profiling': 'enableContentionProfiling',
      'cpu-cfs-quota': 'cpuCFSQuota',
      'enable-controller-attach-detach': 'enableControllerAttachDetach',
      'enable-debugging-handlers': 'enableDebuggingHandlers',
      'enable-server': 'enableServer',
      'fail-cgroupv1': 'failCgroupV1',
      'fail-swap-on': 'failSwapOn',
      'kernel-memcg-notification': 'kernelMemcgNotification',
      'local-storage-capacity-isolation': 'localStorageCapacityIsolation',
      'log-json-split-stream': 'logging.options.json.splitStream',
      'log-text-split-stream': 'logging.options.text.splitStream',
      'make-iptables-util-chains': 'makeIPTablesUtilChains',
      'protect-kernel-defaults': 'protectKernelDefaults',
      'register-node': 'registerNode',
      'rotate-certificates': 'rotateCertificates',
      'rotate-server-certificates': 'serverTLSBootstrap',
      runonce: 'runOnce',
      'seccomp-default': 'seccompDefault',
      'serialize-image-pulls': 'serializeImagePulls',
    },
  ],
  [
    count,
    {
      'container-log-max-files': 'containerLogMaxFiles',
      'event-burst': 'eventBurst',
      'event-qps': 'eventRecordQPS',
      'eviction-max-pod-grace-period': 'evictionMaxPodGracePeriod',
      'healthz-port': 'healthzPort',
      'image-gc-high-threshold': 'imageGCHighThresholdPercent',
      'image-gc-low-threshold': 'imageGCLowThresholdPercent',
      'kube-api-burst': 'kubeAPIBurst',
      'kube-api-qps': 'kubeAPIQPS',
      'max-open-files': 'maxOpenFiles',
      'max-pods': 'maxPods',
      'node-status-max-images': 'nodeStatusMaxImages',
      'oom-score-adj': 'oomScoreAdj',
      'pod-max-pids': 'podPidsLimit',
      'pods-per-core': 'podsPerCore',
      port: 'port',
      'read-only-port': 'readOnlyPort',
      'registry-burst': 'registryBurst',
      'registry-qps': 'registryPullQPS',
      v: 'logging.verbosity',
    },
  ],
  [
    text,
    {
      address: 'address',
      'authentication-token-webhook-cache-ttl': 'authentication.webhook.cacheTTL',
      'authorization-mode': 'authorization.mode',
      'authorization-webhook-cache-authorized-ttl': 'authorization.webhook.cacheAuthorizedTTL',
      'authorization-webhook-cache-unauthorized-ttl': 'authorization.webhook.cacheUnauthorizedTTL',
      'cgroup-driver': 'cgroupDriver',
      'cgroup-root': 'cgroupRoot',
      'client-ca-file': 'authentication.x509.clientCAFile',
      'cluster-domain': 'clusterDomain',
      'container-log-max-size': 'containerLogMaxSize',
      'container-runtime-endpoint': 'containerRuntimeEndpoint',
      'cpu-cfs-quota-period': 'cpuCFSQuotaPeriod',
      'cpu-manager-policy': 'cpuManagerPolicy',
      'cpu-manager-reconcile-period': 'cpuManagerReconcilePeriod',
      'eviction-pressure-transition-period': 'evictionPressureTransitionPeriod',
      'file-check-frequency': 'fileCheckFrequency',
      'hairpin-mode': 'hairpinMode',
      'healthz-bind-address': 'healthzBindAddress',
      'http-check-frequency': 'httpCheckFrequency',
      'image-service-endpoint': 'imageServiceEndpoint',
      'kube-api-content-type': 'contentType',
      'kube-reserved-cgroup': 'kubeReservedCgroup',
      'kubelet-cgroups': 'kubeletCgroups',
      'log-flush-frequency': 'logging.flushFrequency',
      'log-json-info-buffer-size': 'logging.options.json.infoBufferSize',
      'log-text-info-buffer-size': 'logging.options.text.infoBufferSize',
      'logging-format': 'logging.format',
      'manifest-url': 'staticPodURL',
      'memory-manager-policy': 'memoryManagerPolicy',
      'minimum-image-ttl-duration': 'imageMinimumGCAge',
      'node-status-update-frequency': 'nodeStatusUpdateFrequency',
      'pod-cidr': 'podCIDR',
      'pod-manifest-path': 'staticPodPath',
      'provider-id': 'providerID',
      'reserved-cpus': 'reservedSystemCPUs',
      'resolv-conf': 'resolvConf',
      'runtime-request-timeout': 'runtimeRequestTimeout',
      'streaming-connection-idle-timeout': 'streamingConnectionIdleTimeout',
      'sync-frequency': 'syncFrequency',
      'system-cgroups': 'systemCgroups',
      'system-reserved-cgroup': 'systemReservedCgroup',
      'tls-cert-file': 'tlsCertFile',
      'tls-min-version': 'tlsMinVersion',
      'tls-private-key-file': 'tlsPrivateKeyFile',
      'topology-manager-policy': 'topologyManagerPolicy',
      'topology-manager-scope': 'topologyManagerScope',
      'volume-plugin-dir': 'volumePluginDir',
      'volume-stats-agg-period': 'volumeStatsAggPeriod',
    },
  ],
  [
    texts,
    {
      'allowed-unsafe-sysctls': 'allowedUnsafeSysctls',
      'cluster-dns': 'clusterDNS',
      'enforce-node-allocatable': 'enforceNodeAllocatable',
      'tls-cipher-suites': 'tlsCipherSuites',
    },
  ],
  [
    map,
    {
      'cpu-manager-policy-options': 'cpuManagerPolicyOptions',
      'eviction-minimum-reclaim': 'evictionMinimumReclaim',
      'eviction-soft-grace-period': 'evictionSoftGracePeriod',
      'kube-reserved': 'kubeReserved',
      'qos-reserved': 'qosReserved',
      'system-reserved': 'systemReserved',
      'topology-manager-policy-options': 'topologyManagerPolicyOptions',
    },
  ],
  [pairs('<'), { 'eviction-hard': 'evictionHard', 'eviction-soft': 'evictionSoft' }],
  [pairs('=', bool), { 'feature-gates': 'featureGates' }],
  [taints, { 'register-with-taints': 'registerWithTaints' }],
  [headers, { 'manifest-url-header': 'staticPodURLHeader' }],
  [reservedMemory, { 'reserved-memory': 'reservedMemory' }],
  [vmodule, { vmodule: 'logging.vmodule' }],
];

/** A flag that sets a field of the file. */
export interface ConfigFlag {
  readonly field: string;
  readonly parse: Parse;
  /** What it says with what it said before. */
  readonly again: (before: unknown, value: unknown) => unknown;
}

const lastOf = (_before: unknown, value: unknown): unknown => value;

export const configFlags: ReadonlyMap<string, ConfigFlag> = new Map(
  flagsByType.flatMap(([parse, named]) =>
    Object.entries(named).map(([name, field]) => [name, { field, parse, again: parse === taints ? lastOf : againOf }] as const),
  ),
);

/** What a flag says that was given before, and what it says again: lists and objects grow, any other value counts last. */
export function againOf(before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  return isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
}
