import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { fields } from '../../../examples/kubelet/config-fields.ts';
import { configOf } from '../../../examples/kubelet/config-file.ts';
import { serverOptions } from '../../../examples/kubelet/own-settings.ts';
import { ownDefaults, toldFields } from '../../../examples/kubelet/told-fields.ts';
import { resolveSettings } from '../../../src/kubelet/agent/agent-settings.ts';
import { requireFurtherFields, toldConfiguration } from '../../../src/kubelet/agent/kubelet-configuration.ts';
import { optionOfField } from '../../../src/kubelet.ts';
import { resolveServer } from '../../../src/node/server/serving-settings.ts';
import { recordedSettings } from '../../support/kubelet-fields.ts';

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const node = { nodeName: 'node-1', certificateFolder: '/pki' };
type Values = Readonly<Record<string, unknown>>;

/** What an agent of the program answers that has this configuration. */
function toldOf(given: object, cgroupDriver?: string): Values {
  const { options, own } = configOf({ ...head, ...given });
  const server = serverOptions(own, node) ?? {};
  const all = { runtimeRequestTimeoutMs: 120_000, healthzPort: 10_248, ...options };
  return toldConfiguration({
    settings: resolveSettings(all),
    given: all,
    server: { ...server, ...resolveServer(server) },
    cgroupDriver: cgroupDriver ?? all.cgroupDriver ?? 'cgroupfs',
    further: requireFurtherFields(toldFields(own)),
  });
}

function nested(path: string, value: unknown): object {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

const at = (values: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Values | undefined)?.[name], values);

const single = recordedSettings().fields.filter(({ path }) => !path.includes('[]'));
const worksHere = single.filter(({ path }) => fields[path]?.kind === 'works');

/** Another value than the kubelet's default, for fields that take not every value of their type. */
const others: Readonly<Record<string, unknown>> = {
  cgroupDriver: 'systemd',
  cgroupRoot: '/own',
  clusterDNS: ['10.0.0.10'],
  clusterDomain: 'cluster.local',
  containerLogMaxSize: '20Mi',
  cpuCFSQuotaPeriod: '50ms',
  enforceNodeAllocatable: ['none'],
  evictionHard: { 'memory.available': '200Mi' },
  evictionMinimumReclaim: { 'memory.available': '1Mi' },
  evictionSoftGracePeriod: { 'memory.available': '1m30s' },
  featureGates: { MemoryQoS: true },
  healthzBindAddress: '0.0.0.0',
  imageGCHighThresholdPercent: 90,
  imageGCLowThresholdPercent: 70,
  imagePullCredentialsVerificationPolicy: 'AlwaysVerify',
  kubeReserved: { cpu: '100m' },
  'logging.format': 'json',
  'memorySwap.swapBehavior': 'LimitedSwap',
  memoryThrottlingFactor: 0.5,
  oomScoreAdj: -500,
  podCIDR: '10.1.0.0/24',
  podLogsDir: '/logs',
  registerWithTaints: [{ key: 'a', effect: 'NoSchedule' }],
  resolvConf: '',
  shutdownGracePeriodByPodPriority: [{ priority: 1, shutdownGracePeriodSeconds: 10 }],
  staticPodPath: '/manifests',
  systemReserved: { memory: '1Gi' },
  tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
  tlsMinVersion: 'VersionTLS13',
  'userNamespaces.idsPerPod': 131_072,
};
/** What a field needs beside it. */
const beside: Readonly<Record<string, object>> = {
  enforceNodeAllocatable: { cgroupsPerQOS: true },
  cgroupsPerQOS: { enforceNodeAllocatable: [] },
  evictionSoft: { evictionSoftGracePeriod: { 'memory.available': '1m30s' } },
  maxParallelImagePulls: { serializeImagePulls: false },
  memoryReservationPolicy: { featureGates: { MemoryQoS: true } },
  shutdownGracePeriodCriticalPods: { shutdownGracePeriod: '7m0s' },
  shutdownGracePeriodByPodPriority: {},
  tlsCertFile: { tlsPrivateKeyFile: '/key' },
  tlsPrivateKeyFile: { tlsCertFile: '/crt' },
};
const special: Readonly<Record<string, unknown>> = {
  'crashLoopBackOff.maxContainerRestartPeriod': '1m0s',
  evictionSoft: { 'memory.available': '1Gi' },
  memoryReservationPolicy: 'TieredReservation',
  shutdownGracePeriod: '7m0s',
  shutdownGracePeriodCriticalPods: '1m0s',
  staticPodURL: 'https://config.example/pods',
};

function otherValue(path: string, type: string, standard: unknown): unknown {
  const given = { ...others, ...special }[path];
  if (given !== undefined) return given;
  if (type === 'bool') return standard !== true;
  if (type === 'duration') return '7m0s';
  if (type === '[]string') return ['kernel.msg*'];
  return type === 'string' ? '/another' : 7;
}

it.each(
  worksHere.filter(({ path }) => path !== 'enableServer' && path !== 'staticPodURLHeader'),
)('$path is told as it was given', ({ path, type, default: standard }) => {
  const value = otherValue(path, type, standard);
  expect(value).not.toEqual(standard);
  const told = toldOf({ ...beside[path], ...nested(path, value) });
  expect(at(told, path)).toEqual(value);
});

it.each(
  worksHere.filter(({ default: standard }) => standard !== undefined && standard !== null),
)('$path is told with the default of the kubelet where nobody has said it', ({ path, default: standard }) => {
  expect(at(toldOf({}), path)).toEqual(standard);
});

it('what is told starts a second agent that tells the same', () => {
  const given = {
    maxPods: 30,
    evictionSoft: { 'memory.available': '1Gi' },
    evictionSoftGracePeriod: { 'memory.available': '90s' },
  };
  const told = toldOf({ ...given, logging: { format: 'json', verbosity: 2 }, port: 10_999 });
  const { contentType: _json, ...again } = told;
  expect(toldOf(again)).toEqual(told);
});

it('a field that is taken with one value alone, or of what the agent does not have, is told with a true value or not at all', () => {
  const told = toldOf({ hairpinMode: 'none', contentType: 'application/vnd.kubernetes.protobuf', iptablesDropBit: 7 });
  const without = single.filter(({ path }) => fields[path]?.kind !== 'works').map(({ path }) => [path, at(told, path)]);
  expect(Object.fromEntries(without.filter(([, value]) => value !== undefined))).toEqual({
    'authentication.webhook.enabled': true,
    'authorization.mode': 'Webhook',
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    containerLogMaxWorkers: 1,
    contentType: 'application/json',
    cpuManagerPolicy: 'none',
    enableControllerAttachDetach: true,
    enableDebugFlagsHandler: false,
    enableProfilingHandler: false,
    enableSystemLogHandler: false,
    enableSystemLogQuery: false,
    makeIPTablesUtilChains: false,
    memoryManagerPolicy: 'None',
    topologyManagerPolicy: 'none',
  });
});

it('nothing is told that is no field of the kubelet', () => {
  const known = new Set(['kind', 'apiVersion', ...recordedSettings().fields.map(({ path }) => path.split('.')[0])]);
  expect(Object.keys(toldOf({})).filter((name) => !known.has(name))).toEqual([]);
  const paths = [...optionOfField.keys(), ...Object.keys(ownDefaults)];
  expect(paths.filter((path) => !single.some((field) => field.path === path))).toEqual([]);
});

it('no secret is told in a header', () => {
  const told = toldOf({ staticPodURL: 'https://config.example', staticPodURLHeader: { Authorization: ['word'] } });
  expect(told.staticPodURL).toBe('https://config.example');
  expect(told.staticPodURLHeader).toEqual({ Authorization: ['<masked>'] });
});

it.each([
  ['https://me:word@config.example/pods', 'https://<masked>@config.example/pods'],
  ['https://word@config.example/pods', 'https://<masked>@config.example/pods'],
  ['HTTPS://me:w@rd@config.example:8443/a//b@c', 'https://<masked>@config.example:8443/a//b@c'],
  // the source reads these as the first one
  ['https:\\\\me:word@config.example/pods', 'https://<masked>@config.example/pods'],
  ['https:/me:word@config.example/pods', 'https://<masked>@config.example/pods'],
  ['https:me:word@config.example/pods', 'https://<masked>@config.example/pods'],
  ['https:/\t/me:word@config.example/pods', 'https://<masked>@config.example/pods'],
  ['https://config.example/pods?token=word', 'https://config.example/pods?<masked>'],
  ['https://config.example/pods#word', 'https://config.example/pods#<masked>'],
  ['https://me:word@config.example/pods?a=word#word', 'https://<masked>@config.example/pods?<masked>#<masked>'],
  ['https://me:word@[config', '<masked>'],
  ['secret:word', '<masked>'],
])('no secret is told in the address %j', (staticPodURL, shown) => {
  expect(toldOf({ staticPodURL }).staticPodURL).toBe(shown);
});

it('the driver of the runtime is told, whatever the file says', () => {
  expect(toldOf({ cgroupDriver: 'cgroupfs' }, 'systemd').cgroupDriver).toBe('systemd');
});

it('what the machine has not let the program do is not told', () => {
  expect(toldFields({ oomScoreAdj: -1, maxOpenFiles: 9 }, ['oomScoreAdj'])).toMatchObject({ maxOpenFiles: 9 });
  expect(toldFields({ oomScoreAdj: -1 }, ['oomScoreAdj'])).not.toHaveProperty('oomScoreAdj');
});

/** What the kubelet of v1.36.3 has answered in the node kit, started with this configuration. */
const recorded = JSON.parse(readFileSync(new URL('kubelet-configz.json', import.meta.url), 'utf8')) as {
  readonly given: Values;
  readonly told: Values;
};

it('the same configuration is told as by the kubelet, but for what the agent does otherwise', () => {
  const told = toldOf(recorded.given);
  const paths = ['kind', 'apiVersion', ...single.map(({ path }) => path)];
  const others = paths.filter((path) => !isDeepStrictEqual(at(told, path), at(recorded.told, path)));
  const pairs = others.map((path) => [path, [at(recorded.told, path), at(told, path)]]);
  expect(Object.fromEntries(pairs)).toEqual({
    // the kubelet leaves these out, and does the same
    cgroupRoot: [undefined, '/'],
    'memorySwap.swapBehavior': [undefined, 'NoSwap'],
    'userNamespaces.idsPerPod': [undefined, 65_536],
    // it sets no limit
    maxParallelImagePulls: [undefined, 5],
    // what the agent does otherwise
    contentType: ['application/vnd.kubernetes.protobuf', 'application/json'],
    enableDebugFlagsHandler: [true, false],
    enableProfilingHandler: [true, false],
    enableSystemLogHandler: [true, false],
    makeIPTablesUtilChains: [true, false],
    // what it does not have
    cpuManagerReconcilePeriod: ['10s', undefined],
    hairpinMode: ['promiscuous-bridge', undefined],
    iptablesDropBit: [15, undefined],
    iptablesMasqueradeBit: [14, undefined],
    'logging.flushFrequency': ['5s', undefined],
    'logging.options.json.infoBufferSize': ['0', undefined],
    'logging.options.text.infoBufferSize': ['0', undefined],
    topologyManagerScope: ['container', undefined],
    volumePluginDir: ['/run/node/plugins', undefined],
    volumeStatsAggPeriod: ['1m0s', undefined],
  });
});
