import type { V1Pod } from '@kubernetes/client-node';
import { describe, expectTypeOf, it } from 'vitest';
import {
  ApiError,
  BasicPodManager,
  type Clock,
  DefaultPodDeletionSafety,
  KubePodClient,
  type MetricsSink,
  type Pod,
  type PodClient,
  type PodDeletionSafety,
  type PodManager,
  type PodMetadata,
  systemClock,
  type WirePod,
} from '../../src/index.ts';
import type { FakeClock, FakePodClient } from '../../src/testing.ts';

describe('PodClient', () => {
  it('is three requests, and any object with them will do', () => {
    const send = async <T = { metadata: PodMetadata }>(verb: string, ...rest: unknown[]): Promise<T> => {
      throw new ApiError({ status: 404, reason: 'NotFound', message: `${verb} ${rest}` });
    };
    const podClient: PodClient = {
      getPod: (namespace, name, { signal }) => send<WirePod>('GET', namespace, name, signal),
      patchPodStatus: async (namespace, name, { type, body }) => (await send('PATCH', namespace, name, type, body)).metadata,
      deletePod: async (namespace, name, { uid }) => (await send('DELETE', namespace, name, uid)).metadata,
    };
    expectTypeOf(podClient.getPod).returns.resolves.not.toBeAny();
    type Options = { readonly signal: AbortSignal; readonly timeoutMs?: number | undefined };
    expectTypeOf<PodClient['patchPodStatus']>().parameter(3).toEqualTypeOf<Options>();
  });

  it('is what both clients of the library are', () => {
    expectTypeOf<KubePodClient>().toExtend<PodClient>();
    expectTypeOf<FakePodClient>().toExtend<PodClient>();
    expectTypeOf(KubePodClient.fromKubeConfig).parameter(0).not.toBeAny();
  });

  it('hears of the signal, and answers with uid and resourceVersion', () => {
    // @ts-expect-error an answer without them is no answer
    const patchPodStatus: PodClient['patchPodStatus'] = async () => ({ uid: 'u' });
    // @ts-expect-error a time on the wire is a string
    const getPod: PodClient['getPod'] = async () => ({ metadata: { creationTimestamp: new Date() } });
    expectTypeOf([patchPodStatus, getPod]).not.toBeAny();
  });
});

describe('PodManager', () => {
  it("is four methods over whatever the agent has, client-node's pods included", () => {
    const pods = new Map<string, V1Pod>();
    const podManager: PodManager = {
      getPodByUID: (uid) => pods.get(uid),
      getMirrorPodByPod: () => undefined,
      translatePodUID: (uid) => uid,
      getUIDTranslations: () => ({ podToMirror: new Map(), mirrorToPod: new Map() }),
    };
    expectTypeOf(podManager.getPodByUID('u')).toEqualTypeOf<Pod | undefined>();
    expectTypeOf<BasicPodManager>().toExtend<PodManager>();
  });

  it('takes pods of any source', () => {
    const podManager = new BasicPodManager();
    podManager.setPods([{ metadata: { uid: 'u', creationTimestamp: '2025-01-01T00:00:00Z' } }, {} as V1Pod, {} as WirePod]);
    expectTypeOf(podManager.getPodByName('default', 'web')).toEqualTypeOf<Pod | undefined>();
    // @ts-expect-error pods, and not a pod
    podManager.setPods({});
  });
});

describe('PodDeletionSafety', () => {
  it('is two answers about a pod', () => {
    const safety: PodDeletionSafety = {
      podCouldHaveRunningContainers: (pod) => pod.spec !== undefined,
      podResourcesAreReclaimed: () => true,
    };
    expectTypeOf(safety.podResourcesAreReclaimed).returns.toBeBoolean();
    // @ts-expect-error an answer is not a promise
    const later: PodDeletionSafety = { ...safety, podCouldHaveRunningContainers: async () => true };
    expectTypeOf(later).not.toBeAny();
  });

  it('is ready-made over probes, of which only the runtime cache is needed', () => {
    const safety = new DefaultPodDeletionSafety({ runtimeCache: { hasSynced: () => true, getContainers: () => [] } });
    expectTypeOf(safety).toExtend<PodDeletionSafety>();
    // @ts-expect-error no runtime cache
    new DefaultPodDeletionSafety({});
  });
});

describe('Clock and MetricsSink', () => {
  it('are there for real, for tests, and in three lines', () => {
    expectTypeOf(systemClock).toExtend<Clock>();
    expectTypeOf<FakeClock>().toExtend<Clock>();
    const seen = new Map<string, number>();
    const sink: MetricsSink = {
      increment: (name, _labels, by = 1) => seen.set(name, (seen.get(name) ?? 0) + by),
      observe: (name, value) => seen.set(name, value),
      set: (name, value) => seen.set(name, value),
    };
    expectTypeOf(sink).not.toBeAny();
  });
});
