import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { podUIDOf } from '../../../src/api/pod/pod-identity.ts';
import {
  buildMirrorPodOf,
  buildRunningStatus,
  buildStaticPod,
  buildTerminatedStatus,
} from '../../../src/testing/fakes/builders.ts';
import type { ServedPod } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('static');
});
afterAll(() => server.stop());

/** Adds a static pod to the pod manager, as an agent does for a manifest. */
function addStaticPod(node: TestNode, name: string): WirePod {
  const pod = buildStaticPod({
    metadata: { name, namespace, uid: `hash-of-${name}` },
    spec: { nodeName: node.name, containers: [{ name: 'main', image: 'example.test/main:1' }] },
  });
  node.podManager.addPod(pod);
  return pod;
}

/** Creates the mirror pod on the apiserver, and waits until the pod source has seen it. */
async function createMirror(node: TestNode, pod: WirePod): Promise<ServedPod> {
  const { annotations = {} } = buildMirrorPodOf(pod).metadata ?? {};
  const mirror = await node.createUnseen(pod.metadata?.name ?? '', { metadata: { annotations } });
  await node.until(
    'the source shows the mirror pod',
    () => node.podManager.getMirrorPodByPod(pod)?.metadata?.uid === mirror.metadata.uid,
  );
  return mirror;
}

describe('a static pod', () => {
  it('gets no request before its mirror pod is there, which then gets its status', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = addStaticPod(node, 'through-its-mirror');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    expect(await node.manager.flush()).toEqual({ held: [{ podUID: podUIDOf(pod), phase: 'no-mirror-pod' }] });
    await node.batches(2);
    expect(node.client.sent).toBe(0);

    const mirror = await createMirror(node, pod);
    expect(mirror.metadata.annotations).toMatchObject({ 'kubernetes.io/config.mirror': podUIDOf(pod) });
    expect(await node.manager.flush()).toEqual({ held: [] });
    expect((await node.served('through-its-mirror')).status).toMatchObject({ phase: 'Running', podIP: '10.0.0.1' });
    expect(node.manager.getPodStatus(mirror.metadata.uid)).toBe(node.manager.getPodStatus(podUIDOf(pod)));
    expect(node.manager.explain(mirror.metadata.uid)).toMatchObject({
      podUID: podUIDOf(pod),
      apiUID: mirror.metadata.uid,
      phase: 'in-sync',
    });
    await node.batches(5);
    expect(node.client.take('through-its-mirror')).toEqual(['patch']);
  });

  it('has a probe result on its mirror pod', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = addStaticPod(node, 'probed');
    await createMirror(node, pod);
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    node.manager.setContainerReadiness(podUIDOf(pod), 'containerd://main', false);
    await node.manager.flush();
    const { conditions = [] } = (await node.served('probed')).status;
    expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
  });

  it('has its status on a recreated mirror pod', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = addStaticPod(node, 'mirrored-again');
    const first = await createMirror(node, pod);
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    expect(node.client.take('mirrored-again')).toEqual(['patch']);

    await node.askToDelete('mirrored-again', { gracePeriodSeconds: 0 });
    await node.until('the mirror pod is seen gone', () => node.podManager.getMirrorPodByPod(pod) === undefined);
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'while it had none' }));
    expect(await node.manager.flush()).toMatchObject({ held: [{ phase: 'no-mirror-pod' }] });

    const second = await createMirror(node, pod);
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(await node.manager.flush()).toEqual({ held: [] });
    expect((await node.served('mirrored-again')).status).toMatchObject({ phase: 'Running', message: 'while it had none' });
    await node.batches(2);
    expect(node.client.take('mirrored-again')).toEqual(['patch']);
  });

  it('that has ended does not make the manager delete its mirror pod', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = addStaticPod(node, 'ended');
    const mirror = await createMirror(node, pod);
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    await node.askToDelete('ended');
    await node.until(
      'the mirror pod is seen deleting',
      () => node.podManager.getMirrorPodByPod(pod)?.metadata?.deletionTimestamp != null,
    );
    node.manager.setPodStatus(pod, buildTerminatedStatus(pod, 1));
    node.manager.terminatePod(pod);
    await node.manager.flush();
    await node.batches(3);
    const served = await node.served('ended');
    expect(served.metadata).toMatchObject({ uid: mirror.metadata.uid, deletionTimestamp: expect.any(String) });
    expect(served.status.phase).toBe('Failed');
    expect(node.client.take('ended')).toEqual(['patch', 'patch']);
  });
});
