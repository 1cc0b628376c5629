import { readFile } from 'node:fs/promises';
import { loadYaml } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { configOf } from '../../../examples/kubelet/config-file.ts';
import { durationMs } from '../../../examples/kubelet/durations.ts';
import {
  requireCgroups,
  requireNoSwap,
  requireOwnCgroup,
  serverOptions,
  socketPath,
} from '../../../examples/kubelet/own-settings.ts';
import { resolveSettings } from '../../../src/kubelet/agent/agent-settings.ts';
import { makeCertificateRequest } from '../../../src/node/certificates/certificate-request.ts';

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

it.each([
  ['1m30s', 90_000],
  ['1.5s', 1500],
  ['100ms', 100],
  ['0', 0],
  ['2h', 7_200_000],
  ['.5s', 500],
  ['500us', 0.5],
  ['-1m', -60_000],
  ['soon', undefined],
  ['10', undefined],
  [10, undefined],
])('the time %s is %s ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

const node = { nodeName: 'node-1', certificateFolder: '/var/lib/kubelet/pki' };

it('fields of the kubelet become options of the agent', () => {
  const { options, own, unused } = configOf({
    ...head,
    clusterDNS: ['10.0.0.10'],
    syncFrequency: '1m0s',
    evictionHard: { 'memory.available': '100Mi' },
    staticPodURLHeader: { accept: ['a', 'b'] },
    port: 10250,
    contentType: 'application/json',
  });
  expect(options).toEqual({
    clusterDNS: ['10.0.0.10'],
    syncFrequencyMs: 60_000,
    evictionHard: { 'memory.available': '100Mi' },
    staticPodURLHeader: { accept: 'a, b' },
  });
  expect(own).toEqual({ port: 10250 });
  expect(unused).toEqual(['contentType: the agent speaks JSON with the apiserver']);
});

it('fields of eviction become options with units', () => {
  const { options } = configOf({
    ...head,
    evictionSoft: { 'memory.available': '1Gi' },
    evictionSoftGracePeriod: { 'memory.available': '1m30s' },
    evictionMaxPodGracePeriod: 60,
    evictionMinimumReclaim: { 'nodefs.available': '2Gi' },
    evictionPressureTransitionPeriod: '0s',
    imageMinimumGCAge: '0s',
    imageMaximumGCAge: '24h',
    mergeDefaultEvictionSettings: true,
    kernelMemcgNotification: true,
    localStorageCapacityIsolation: false,
  });
  expect(options).toEqual({
    evictionSoft: { 'memory.available': '1Gi' },
    evictionSoftGracePeriodMs: { 'memory.available': 90_000 },
    evictionMaxPodGracePeriodSeconds: 60,
    evictionMinimumReclaim: { 'nodefs.available': '2Gi' },
    imageMaximumGCAgeMs: 86_400_000,
    mergeDefaultEvictionSettings: true,
    kernelMemcgNotification: true,
    localStorageCapacityIsolation: false,
  });
  expect(resolveSettings(options).evictionSoft).toEqual({ 'memory.available': '1Gi' });
});

it.each([
  [
    { ...head, evictionSoftGracePeriod: { 'memory.available': 'soon' } },
    expect.stringContaining('evictionSoftGracePeriod.memory.available must be a time'),
  ],
  [{ ...head, staticPodURLHeader: { a: 'sesame' } }, 'staticPodURLHeader.a must be a list of strings'],
  [{ ...head, staticPodURLHeader: { a: ['sesame', 1] } }, 'staticPodURLHeader.a must be a list of strings'],
  [{ ...head, staticPodURLHeader: 'sesame' }, 'staticPodURLHeader must be an object'],
  [{ ...head, maxPod: 10 }, 'maxPod is no field of KubeletConfiguration'],
  [{ ...head, maxPods: '10' }, 'maxPods must be an integer, got "10"'],
  [{ ...head, syncFrequency: 'often' }, 'syncFrequency must be a time such as "1m30s", got "often"'],
  [{ ...head, clusterDNS: '10.0.0.10' }, 'clusterDNS must be a list of strings, got "10.0.0.10"'],
  [{ ...head, constructor: 1 }, 'constructor is no field of KubeletConfiguration'],
  [{ ...head, protectKernelDefaults: true }, expect.stringContaining('protectKernelDefaults must be false')],
  [{ ...head, tlsCurvePreferences: [29] }, expect.stringContaining('tlsCurvePreferences must be left out')],
  [
    { ...head, preloadedImagesVerificationAllowlist: ['a'] },
    expect.stringContaining('preloadedImagesVerificationAllowlist must'),
  ],
  [{ ...head, enableDebuggingHandlers: 'false' }, 'enableDebuggingHandlers must be a boolean, got "false"'],
  [{ kind: 'Pod' }, expect.stringContaining('kind KubeletConfiguration')],
])('a wrong file is refused by name: %j', (document, message) => {
  expect(() => configOf(document)).toThrow(expect.objectContaining({ message }));
});

it('the sample file is one that the agent takes', async () => {
  const text = await readFile(new URL('../../../examples/kubelet/kubelet.yaml', import.meta.url), 'utf8');
  const { options, own, unused } = configOf(loadYaml(text));
  expect(resolveSettings(options)).toMatchObject({ clusterDomain: 'cluster.local' });
  expect(serverOptions(own, node)).toMatchObject({ clientCAFile: '/etc/kubernetes/pki/ca.crt', anonymous: false });
  expect(unused).toEqual([]);
});

it('an agent without a way to check its clients is refused', () => {
  const tls = { tlsCertFile: '/c', tlsPrivateKeyFile: '/k' };
  expect(() => serverOptions({ tlsCertFile: '/c' }, node)).toThrow('tlsCertFile and tlsPrivateKeyFile must be given together');
  expect(() => serverOptions({ ...tls, serverTLSBootstrap: true }, node)).toThrow('either tlsCertFile and tlsPrivateKeyFile');
  expect(() => configOf({ ...head, authorization: { mode: 'AlwaysAllow' } })).toThrow('authorization.mode must be "Webhook"');
  expect(() => configOf({ ...head, authentication: { webhook: { enabled: false } } })).toThrow('webhook.enabled must be true');
  expect(serverOptions({ enableServer: false }, node)).toBeUndefined();
  expect(socketPath('unix:///run/a.sock')).toBe('/run/a.sock');
  expect(() => socketPath('tcp://1.2.3.4')).toThrow('must be a unix socket');
});

it('a certificate that the cluster signs is kept where a kubelet keeps it', () => {
  const { own } = configOf({ ...head, serverTLSBootstrap: true });
  expect(serverOptions(own, node)).toMatchObject({
    serverTLSBootstrap: true,
    makeCertificateRequest,
    certificateFolder: '/var/lib/kubelet/pki',
  });
  expect(serverOptions(own, { ...node, certificateFolder: '/data/pki' })).toMatchObject({ certificateFolder: '/data/pki' });
});

it('fields that harden a kubelet harden the agent, or stop its start', () => {
  const { options, own, unused } = configOf({
    ...head,
    tlsCertFile: '/c',
    tlsPrivateKeyFile: '/k',
    enableDebuggingHandlers: false,
    tlsMinVersion: 'VersionTLS13',
    tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
    streamingConnectionIdleTimeout: '5m',
    imagePullCredentialsVerificationPolicy: 'AlwaysVerify',
    protectKernelDefaults: false,
    tlsCurvePreferences: [],
    failSwapOn: true,
  });
  expect(unused).toEqual([]);
  expect(options).toEqual({ imagePullCredentialsVerificationPolicy: 'AlwaysVerify' });
  expect(serverOptions(own, node)).toMatchObject({
    enableDebuggingHandlers: false,
    tlsMinVersion: 'VersionTLS13',
    tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
    streamIdleTimeoutMs: 300_000,
  });
  expect(() => serverOptions({ ...own, tlsMinVersion: 'VersionTLS10' }, node)).toThrow('tlsMinVersion must be');
  const none = 'Filename\t\t\t\tType\t\tSize\n';
  expect(() => requireNoSwap(own, `${none}/swapfile file 2097148\n`)).toThrow(
    /failSwapOn: the machine has swap, .* set failSwapOn to false: \/swapfile/,
  );
  expect(() => requireNoSwap(own, none)).not.toThrow();
  expect(() => requireNoSwap({}, `${none}/swapfile file 2097148\n`)).toThrow('failSwapOn');
  expect(() => requireNoSwap({ failSwapOn: false }, `${none}/swapfile file 2097148\n`)).not.toThrow();
});

it('a machine or a cgroup that the file does not want stops the start', () => {
  expect(() => requireCgroups({ failCgroupV1: true }, undefined)).toThrow(
    'failCgroupV1: the machine has cgroups of version 1, start it with',
  );
  expect(() => requireCgroups({ failCgroupV1: true }, 'cpu memory')).not.toThrow();
  expect(() => requireCgroups({}, undefined)).toThrow('failCgroupV1');
  expect(() => requireCgroups({ failCgroupV1: false }, undefined)).not.toThrow();
  const own = { kubeletCgroups: '/system.slice' };
  expect(() => requireOwnCgroup(own, '0::/system.slice/agent.service\n')).not.toThrow();
  expect(() => requireOwnCgroup(own, '0::/system.slices\n')).toThrow('kubeletCgroups must be the cgroup that');
  expect(() => requireOwnCgroup({}, '')).not.toThrow();
});

it('an object in an object is read as strictly', () => {
  const wrong = (document: object, message: string) => expect(() => configOf({ ...head, ...document })).toThrow(message);
  wrong({ authentication: { webhook: { cacheTtl: '1m' } } }, 'authentication.webhook.cacheTtl is no field of');
  wrong({ authentication: 'none' }, 'authentication must be an object, got "none"');
  wrong({ registerWithTaints: [{ key: 'a', effekt: 'NoSchedule' }] }, 'registerWithTaints[0].effekt is no field of');
  wrong({ shutdownGracePeriodByPodPriority: [{ priority: 'high' }] }, 'shutdownGracePeriodByPodPriority[0].priority must be');
});

it('defaults that depend on another field are those of the kubelet', () => {
  expect(configOf({ ...head, nodeStatusUpdateFrequency: '20s' }).options).toEqual({
    nodeStatusUpdateFrequencyMs: 20_000,
    nodeStatusReportFrequencyMs: 20_000,
  });
  expect(configOf({ ...head, maxParallelImagePulls: 3 }).options).toMatchObject({ serializeImagePulls: false });
  expect(configOf({ ...head, maxParallelImagePulls: 1 }).options).not.toHaveProperty('serializeImagePulls');
  expect(() => configOf({ ...head, maxParallelImagePulls: 3, serializeImagePulls: true })).toThrow('maxParallelImagePulls must');
});
