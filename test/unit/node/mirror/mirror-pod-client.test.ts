import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import { MirrorPodClient, type MirrorPodClientOptions } from '../../../../src/node/mirror/mirror-pod-client.ts';
import { buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { RecordingTransport, refusal } from './recording-transport.ts';

const nodeName = 'node-1';
const node = { metadata: { name: nodeName, uid: 'node-uid' } };
const stored = { metadata: { name: 'web-node-1', namespace: 'default', uid: 'mirror-uid', resourceVersion: '7' } };

function clientOf(answer: (request: KubeRequest) => unknown, options: Partial<MirrorPodClientOptions> = {}) {
  const transport = new RecordingTransport(answer);
  return { transport, client: new MirrorPodClient({ transport, nodeName, getNode: () => node, ...options }) };
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

const staticPod = (): WirePod => buildStaticPod({ metadata: { name: 'web-node-1', uid: 'static-uid' } });

describe('createMirrorPod', () => {
  it('sends the static pod with its hash in the mirror annotation and the node as its one owner', async () => {
    const { client, transport } = clientOf(() => stored);
    const owners = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'o' }];
    const pod = buildStaticPod({ metadata: { name: 'web-node-1', uid: 'static-uid', ownerReferences: owners } });
    const before = structuredClone(pod);
    expect(await client.createMirrorPod(pod)).toEqual({ outcome: 'created', mirrorPod: stored });
    expect(pod).toEqual(before);
    expect(transport.requests).toHaveLength(1);
    const [{ method, path, body } = {} as KubeRequest] = transport.requests;
    expect({ method, path }).toEqual({ method: 'POST', path: '/api/v1/namespaces/default/pods' });
    const annotations = { ...pod.metadata?.annotations, 'kubernetes.io/config.mirror': 'static-uid' };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid: 'node-uid', controller: true }];
    expect(body).toEqual({ ...pod, metadata: { ...pod.metadata, annotations, ownerReferences } });
  });

  it('sends the pod as it was at the call, though it is changed while the node is looked up', async () => {
    const lookedUp = Promise.withResolvers<typeof node>();
    const { client, transport } = clientOf(() => stored, { getNode: () => lookedUp.promise });
    const pod = staticPod();
    const created = client.createMirrorPod(pod);
    if (pod.metadata?.annotations) pod.metadata.annotations['kubernetes.io/config.hash'] = 'later';
    lookedUp.resolve(node);
    await created;
    expect(transport.requests[0]?.body).toMatchObject({
      metadata: { annotations: { 'kubernetes.io/config.mirror': 'static-uid' } },
    });
  });

  it('writes times as whole seconds, from Dates too', async () => {
    const { client, transport } = clientOf(() => stored);
    await client.createMirrorPod({ ...staticPod(), status: { startTime: new Date('2026-01-02T03:04:05.678Z') } });
    expect(transport.requests[0]?.body).toMatchObject({ status: { startTime: '2026-01-02T03:04:05Z' } });
  });

  it('answers alreadyExists for a name that is taken, and rejects with any other refusal', async () => {
    const taken = refusal(409, 'AlreadyExists');
    expect(await clientOf(throwing(taken)).client.createMirrorPod(staticPod())).toEqual({
      outcome: 'alreadyExists',
      error: taken,
    });
    for (const error of [refusal(409, 'Conflict'), refusal(404, 'NotFound'), refusal(403, 'Forbidden')]) {
      await expect(clientOf(throwing(error)).client.createMirrorPod(staticPod())).rejects.toBe(error);
    }
  });

  it('answers alreadyExists, with an ApiError, also where the transport has error classes of its own', async () => {
    const foreign = Object.assign(new Error('taken'), { status: 409, reason: 'AlreadyExists' });
    const answer = await clientOf(throwing(foreign)).client.createMirrorPod(staticPod());
    expect(answer).toMatchObject({ outcome: 'alreadyExists', error: { code: 'ERR_API', status: 409, cause: foreign } });
  });

  it.each<[string, MirrorPodClientOptions['getNode'], RegExp]>([
    ['throws', throwing(new Error('the cache is empty')), /getNode\(\) failed: the cache is empty/],
    ['rejects', () => Promise.reject(new Error('no such node')), /getNode\(\) failed: no such node/],
    ['knows no node', () => undefined, /the node is not known/],
    ['answers with null', () => null as unknown as undefined, /the node is not known/],
    ['answers with a node without a uid', () => ({ metadata: { name: nodeName } }), /the node has no uid/],
    ['answers with text', () => 'node-1' as unknown as undefined, /the node has no uid/],
    ['answers with another node', () => ({ metadata: { name: 'node-2', uid: 'x' } }), /another node/],
    [
      'answers with a node that is being deleted',
      () => ({ metadata: { ...node.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } }),
      /is being deleted/,
    ],
  ])('sends nothing, and rejects with ERR_NO_NODE, when getNode %s', async (_, getNode, says) => {
    const { client, transport } = clientOf(() => stored, { getNode });
    await expect(client.createMirrorPod(staticPod())).rejects.toMatchObject({
      code: 'ERR_NO_NODE',
      message: expect.stringMatching(says),
    });
    expect(transport.requests).toEqual([]);
  });

  it('waits for getNode no longer than its time limit, and ends at an abort', async () => {
    const clock = new FakeClock();
    const { client } = clientOf(() => stored, { clock, getNode: () => new Promise(() => {}) });
    const late = client.createMirrorPod(staticPod()).catch((error: unknown) => error);
    await clock.advance(10_000);
    expect(await late).toMatchObject({ code: 'ERR_NO_NODE', message: expect.stringContaining('no answer within 10000 ms') });
    const stopping = new AbortController();
    const aborted = client.createMirrorPod(staticPod(), { signal: stopping.signal }).catch((error: unknown) => error);
    await settle();
    stopping.abort();
    expect(await aborted).toMatchObject({ code: 'ERR_NO_NODE' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses a pod without a name or namespace that fits into a path', async () => {
    const { client, transport } = clientOf(() => stored);
    for (const metadata of [{ name: 'a' }, { namespace: 'd' }, { name: 'a/b', namespace: 'd' }]) {
      await expect(client.createMirrorPod({ metadata })).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    }
    expect(transport.requests).toEqual([]);
  });
});

describe('deleteMirrorPod', () => {
  it('sends a DELETE without a grace period, with the uid as its precondition where one is given', async () => {
    const { client, transport } = clientOf(() => ({ kind: 'Status', status: 'Success' }));
    expect(await client.deleteMirrorPod('web-node-1_kube-system', 'mirror-uid')).toEqual({
      deleted: true,
      heldByFinalizers: false,
    });
    await client.deleteMirrorPod('web-node-1_kube-system');
    const path = '/api/v1/namespaces/kube-system/pods/web-node-1';
    expect(transport.requests.map(({ method, path: sent }) => [method, sent])).toEqual([
      ['DELETE', path],
      ['DELETE', path],
    ]);
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    expect(transport.requests[0]?.body).toEqual({ ...body, preconditions: { uid: 'mirror-uid' } });
    expect(transport.requests[1]?.body).toEqual(body);
  });

  it('sends an empty uid as it is: it matches no pod', async () => {
    const { client, transport } = clientOf(throwing(refusal(409, 'Conflict')));
    expect(await client.deleteMirrorPod('a_d', '')).toMatchObject({ deleted: false, reason: 'conflict' });
    expect(transport.requests[0]?.body).toMatchObject({ preconditions: { uid: '' } });
  });

  it.each([
    [refusal(404, 'NotFound'), 'notFound'],
    [refusal(404, 'NoStatus'), 'failed'],
    [refusal(409, 'Conflict'), 'conflict'],
    [refusal(500, 'InternalError'), 'failed'],
    [refusal(403, 'Forbidden'), 'failed'],
    [new TypeError('broken transport'), 'failed'],
  ])('answers a refusal and does not reject: %s', async (error, reason) => {
    expect(await clientOf(throwing(error)).client.deleteMirrorPod('a_d', 'u')).toEqual({ deleted: false, reason, error });
  });

  it('says when finalizers hold the pod', async () => {
    const { client } = clientOf(() => ({ ...stored, metadata: { ...stored.metadata, finalizers: ['example.test/keep'] } }));
    expect(await client.deleteMirrorPod('web-node-1_default', 'mirror-uid')).toEqual({ deleted: true, heldByFinalizers: true });
  });

  it.each(['', 'noname', 'a_b_c', '_d', 'x_', 'a/b_d', undefined])('refuses the full name %j', async (name) => {
    const { client, transport } = clientOf(() => stored);
    await expect(client.deleteMirrorPod(name as string)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    expect(transport.requests).toEqual([]);
  });

  it('refuses a uid that is no text, so that no DELETE goes without its precondition', async () => {
    const { client, transport } = clientOf(() => stored);
    await expect(client.deleteMirrorPod('a_d', null as unknown as string)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    });
    expect(transport.requests).toEqual([]);
  });
});

describe('getMirrorPod', () => {
  it('resolves to the pod, to undefined where there is none, and rejects with a refusal', async () => {
    expect(await clientOf(() => stored).client.getMirrorPod('web-node-1_default')).toEqual(stored);
    expect(await clientOf(throwing(refusal(404, 'NotFound'))).client.getMirrorPod('a_d')).toBeUndefined();
    const forbidden = refusal(403, 'Forbidden');
    await expect(clientOf(throwing(forbidden)).client.getMirrorPod('a_d')).rejects.toBe(forbidden);
  });
});

describe('a mirror pod client', () => {
  it('without a transport answers noClient, whatever it is asked', async () => {
    const client = new MirrorPodClient({ transport: null, nodeName, getNode: throwing(new Error('not asked')) });
    expect(await client.createMirrorPod(staticPod())).toEqual({ outcome: 'noClient' });
    expect(await client.deleteMirrorPod('not a full name')).toEqual({ deleted: false, reason: 'noClient' });
    expect(await client.getMirrorPod('a_d')).toBeUndefined();
  });

  it.each([
    [{ nodeName: 'Node_1' }, 'nodeName'],
    [{ getNode: node }, 'getNode'],
    [{ transport: {} }, 'transport'],
    [{ requestTimeoutMs: 0 }, 'requestTimeoutMs'],
    [{ timeout: 1 }, 'timeout'],
    [{ clock: {} }, 'clock'],
  ])('refuses %j', (options, name) => {
    const all = { transport: null, nodeName, getNode: () => node, ...options } as MirrorPodClientOptions;
    expect(() => new MirrorPodClient(all)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => new MirrorPodClient(all)).toThrow(name);
  });
});
