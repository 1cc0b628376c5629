import { KubeConfig } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import * as fleet from '../../../../src/fleet.ts';
import * as index from '../../../../src/index.ts';
import * as kubelet from '../../../../src/kubelet.ts';
import * as mirror from '../../../../src/mirror.ts';
import * as node from '../../../../src/node.ts';
import * as objectManagers from '../../../../src/object-managers.ts';
import * as reflector from '../../../../src/reflector.ts';
import * as scheduler from '../../../../src/scheduler.ts';
import { FakeRuntime } from '../../../../src/testing.ts';

const kubeConfig = new KubeConfig();
kubeConfig.loadFromOptions({
  ...{ clusters: [{ name: 'c', server: 'http://127.0.0.1:9' }], users: [{ name: 'u' }] },
  ...{ contexts: [{ name: 'c', cluster: 'c', user: 'u' }], currentContext: 'c' },
});
const transport = new index.KubeTransport(kubeConfig, { logger: null });
const podManager = new index.BasicPodManager();
const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
const podClient = new index.KubePodClient(transport);
const statusManager = new index.StatusManager({ podClient: null, podManager, podDeletionSafety, logger: null });
const runtimeStatusCache = { get: () => undefined, getNewerThan: async () => ({}) };
const podSyncer = { syncPod() {}, syncTerminatingPod() {}, syncTerminatingRuntimePod() {}, syncTerminatedPod() {} };
const provider = { createPod() {}, updatePod() {}, deletePod() {}, getPodStatus: () => undefined };
const podWorkers = new node.PodWorkers({ podSyncer, runtimeStatusCache, logger: null } as never);
const ofNode = { nodeName: 'n', transport };
const capacity = { cpu: '1', memory: '1', pods: '1' };
const podSource = { lastListedAt: () => undefined };
const eventRecorder = { event() {} };
const apiHost = {
  ...{ pods() {}, pod() {}, runningPods() {}, runningContainerID() {}, sandboxID() {}, healthChecks() {}, metrics() {} },
  ...{ statsSummary() {}, configz() {}, runtime: new FakeRuntime() },
};

type Rest = { readonly logger?: Logger | null };
const parts: Record<string, (rest: Rest) => unknown> = {
  KubeTransport: (rest) => new index.KubeTransport(kubeConfig, rest),
  KubePodClient: (rest) => index.KubePodClient.fromKubeConfig(kubeConfig, rest),
  BasicPodManager: (rest) => new index.BasicPodManager(rest),
  DefaultPodDeletionSafety: (rest) =>
    new index.DefaultPodDeletionSafety({ runtimeCache: { hasSynced: () => true, getContainers: () => [] }, ...rest }),
  StatusManager: (rest) => new index.StatusManager({ podClient, podManager, podDeletionSafety, ...rest }),
  ApiServerPodSource: (rest) => new index.ApiServerPodSource({ ...ofNode, podManager, ...rest }),
  PodStatusAgent: (rest) => new index.PodStatusAgent({ ...ofNode, podDeletionSafety, ...rest }),
  Reflector: (rest) => new reflector.Reflector({ transport, resource: reflector.resources.pods, ...rest }),
  MirrorPodReconciler: (rest) =>
    new mirror.MirrorPodReconciler({
      ...{ podManager, nodeName: 'n', podSource },
      mirrorPodClient: { createMirrorPod() {}, deleteMirrorPod() {}, getMirrorPod() {} } as never,
      ...rest,
    }),
  SecretManager: (rest) => new objectManagers.SecretManager({ transport, ...rest }),
  ConfigMapManager: (rest) => new objectManagers.ConfigMapManager({ transport, ...rest }),
  PodConfig: (rest) => new node.PodConfig(rest),
  PodResolver: (rest) => new node.PodResolver({ transport, ...rest }),
  SharedWatches: (rest) => new node.SharedWatches({ transport, ...rest }),
  FileSource: (rest) => new node.FileSource({ path: '/nowhere', nodeName: 'n', ...rest }),
  HttpSource: (rest) => new node.HttpSource({ url: 'http://127.0.0.1:9/', nodeName: 'n', ...rest }),
  ApiServerSource: (rest) => new node.ApiServerSource({ ...ofNode, ...rest }),
  PodWorkers: (rest) => new node.PodWorkers({ podSyncer, runtimeStatusCache, ...rest } as never),
  ProbeManager: (rest) =>
    new node.ProbeManager({
      ...{ statusManager, eventRecorder },
      prober: { exec() {}, http() {}, tcp() {}, grpc() {} } as never,
      ...rest,
    } as never),
  NodeObject: (rest) => new node.NodeObject({ ...ofNode, readiness: () => ({ ready: true }), capacity, ...rest }),
  SyncLoop: (rest) =>
    new node.SyncLoop({
      ...{ config: new node.PodConfig(), podManager, podWorkers, workQueue: podWorkers.workQueue, statusManager },
      ...rest,
    } as never),
  ProviderPodSyncer: (rest) => new node.ProviderPodSyncer({ provider, statusManager, podChanged() {}, ...rest } as never),
  ApiEventRecorder: (rest) => new node.ApiEventRecorder({ ...ofNode, ...rest }),
  ProviderNode: (rest) => new node.ProviderNode({ ...ofNode, provider, ...rest }),
  NodeAgent: (rest) => new kubelet.NodeAgent({ ...ofNode, runtime: new FakeRuntime(), cgroupsPerQOS: false, ...rest }),
  TokenManager: (rest) => new kubelet.TokenManager({ transport, ...rest }),
  LogRotation: (rest) => new kubelet.LogRotation({ runtime: new FakeRuntime(), ...rest }),
  Scheduler: (rest) => new scheduler.Scheduler({ client: { bind: async () => {} }, ...rest }),
  ClusterScheduler: (rest) => new scheduler.ClusterScheduler({ transport, ...rest }),
  SchedulerServer: (rest) => new scheduler.SchedulerServer({ transport, identity: () => ({ cert: '', key: '' }), ...rest }),
  LeaderElector: (rest) => new scheduler.LeaderElector({ transport, identity: 'i', name: 'n', ...rest }),
  NodeFleet: (rest) => new fleet.NodeFleet({ transport, name: 'edge', nodes: ['n'], provider: () => provider, ...rest }),
  KubeletApi: (rest) =>
    new kubelet.KubeletApi({ ...ofNode, host: apiHost, tls: { certFile: '/none', keyFile: '/none' }, ...rest } as never),
};

describe('the option logger of', () => {
  it.each(Object.entries(parts))('%s may be left out, null, or a logger, and nothing else', (_, make) => {
    const log = (): void => {};
    expect(make({})).toBeDefined();
    expect(make({ logger: null })).toBeDefined();
    expect(make({ logger: { debug: log, info: log, warn: log, error: log } })).toBeDefined();
    for (const wrong of [{}, 1, console.log]) {
      expect(() => make({ logger: wrong as never })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
      expect(() => make({ logger: wrong as never })).toThrow('`logger`');
    }
  });

  it('every class that has one is tried here', () => {
    const entryPoints = { ...index, ...mirror, ...node, ...kubelet, ...objectManagers, ...reflector, ...scheduler, ...fleet };
    const classes = Object.entries(entryPoints).filter(([, value]) => /^class /.test(String(value)));
    const without = [
      ...['ApiError', 'BackoffError', 'CgroupError', 'InvalidManifestError', 'KubeletApiRefusal', 'RuntimeError'],
      ...['StatusManagerError', 'UnsettledPodsError', 'VolumeError', 'FitError', 'PluginError', 'PodHeldError'],
      ...['PodRejectedError', 'PluginCallError', 'SystemBusError', 'ExtenderError'],
    ];
    const silent = [
      'AlgorithmRegistry',
      'CycleState',
      'RestartBackoff',
      'WorkQueue',
      'NetworkProber',
      'MirrorPodClient',
      'ObjectStore',
      'ResourceClient',
      'GuardedTransport',
      'ContainerProvider',
      'CgroupManager',
      'LinuxMounter',
      'LogindSignals',
      'VolumeManager',
    ];
    expect(classes.map(([name]) => name).sort()).toEqual([...Object.keys(parts), ...without, ...silent].sort());
  });
});
