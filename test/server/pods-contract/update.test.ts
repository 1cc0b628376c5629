import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod, createRunningPod } from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('update');
});
afterAll(() => server.stop());

describe('writing the pod itself', () => {
  it('leaves its status alone, whatever status was sent (PUT)', async () => {
    const before = await createRunningPod(server.admin, namespace, 'put');
    const sent = { ...before, metadata: { ...before.metadata, labels: { put: 'yes' } }, status: { phase: 'Failed' } };
    const after = podOf(await server.admin.replacePod(namespace, 'put', sent));
    expect(after.metadata.labels).toEqual({ put: 'yes' });
    expect(after.status).toEqual(before.status);
  });

  it('leaves its status alone, whatever status was sent (PATCH)', async () => {
    const before = await createRunningPod(server.admin, namespace, 'patch');
    const change = { metadata: { annotations: { patched: 'yes' } }, status: { phase: 'Failed' } };
    const after = podOf(await server.admin.patchPod(namespace, 'patch', change));
    expect(after.metadata.annotations).toEqual({ patched: 'yes' });
    expect(after.status).toEqual(before.status);
  });

  it('raises the generation with the spec, not with labels', async () => {
    await createPod(server.admin, namespace, 'generation');
    const labelled = podOf(await server.admin.patchPod(namespace, 'generation', { metadata: { labels: { a: 'b' } } }));
    expect(labelled.metadata.generation).toBe(1);
    const changed = podOf(await server.admin.patchPod(namespace, 'generation', { spec: { activeDeadlineSeconds: 60 } }));
    expect(changed.metadata.generation).toBe(2);
  });

  it('answers 409 Conflict to a PUT with a stale resourceVersion', async () => {
    const stale = await createPod(server.admin, namespace, 'stale');
    await server.admin.patchPodStatus(namespace, 'stale', { status: { phase: 'Running' } });
    expect(await server.admin.replacePod(namespace, 'stale', stale)).toMatchObject({
      status: 409,
      body: { reason: 'Conflict', details: { name: 'stale', kind: 'pods' } },
    });
  });

  it('answers 422 Invalid to a changed nodeName: a bound pod stays on its node', async () => {
    await createPod(server.admin, namespace, 'bound');
    const answer = await server.admin.patchPod(namespace, 'bound', { spec: { nodeName: 'node-b' } });
    expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
  });
});

describe('replacing the status (PUT)', () => {
  it('writes the status and keeps the spec', async () => {
    const before = await createRunningPod(server.admin, namespace, 'put-status');
    const sent = {
      ...before,
      spec: { ...before.spec, activeDeadlineSeconds: 60 },
      status: { ...before.status, phase: 'Failed' },
    };
    const after = podOf(await server.admin.replacePodStatus(namespace, 'put-status', sent));
    expect(after.spec).toEqual(before.spec);
    expect(after.status).toEqual({ ...before.status, phase: 'Failed' });
  });

  it('keeps the resourceVersion when nothing changes', async () => {
    const before = await createRunningPod(server.admin, namespace, 'put-no-op');
    const after = podOf(await server.admin.replacePodStatus(namespace, 'put-no-op', before));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });
});
