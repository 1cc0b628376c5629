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
  it('is three requests, and any object with them is accepted', () => {
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

  it('is the type of both clients of the library', () => {
    expectTypeOf<KubePodClient>().toExtend<PodClient>();
    expectTypeOf<FakePodClient>().toExtend<PodClient>();
    expectTypeOf(KubePodClient.fromKubeConfig).parameter(0).not.toBeAny();
  });

  it('gets the signal, and answers with uid and resourceVersion', () => {
    // @ts-expect-error an answer needs both
    const patchPodStatus: PodClient['patchPodStatus'] = async () => ({ uid: 'u' });
    // @ts-expect-error a time on the wire is a string
    const getPod: PodClient['getPod'] = async () => ({ metadata: { creationTimestamp: new Date() } });
    expectTypeOf([patchPodStatus, getPod]).not.toBeAny();
  });
});

describe('PodManager', () => {
  it("is four methods over the agent's pods, also client-node's", () => {
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

  it('accepts pods of any source', () => {
    const podManager = new BasicPodManager();
    podManager.setPods([{ metadata: { uid: 'u', creationTimestamp: '2025-01-01T00:00:00Z' } }, {} as V1Pod, {} as WirePod]);
    expectTypeOf(podManager.getPodByName('default', 'web')).toEqualTypeOf<Pod | undefined>();
    // @ts-expect-error a list of pods, not a pod
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

  it('has a default over probes, of which only the runtime cache is required', () => {
    const safety = new DefaultPodDeletionSafety({ runtimeCache: { hasSynced: () => true, getContainers: () => [] } });
    expectTypeOf(safety).toExtend<PodDeletionSafety>();
    // @ts-expect-error the runtime cache is required
    new DefaultPodDeletionSafety({});
  });
});

describe('Clock and MetricsSink', () => {
  it('have an implementation for production and for tests, and need three lines', () => {
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
