import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podListOf, podOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod, podJson } from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;
let path: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('dry-run');
  path = `/api/v1/namespaces/${namespace}/pods`;
});
afterAll(() => server.stop());

const dry = { query: { dryRun: 'All' } };

describe('a request with dryRun=All', () => {
  it('answers a creation with the pod, without a resourceVersion, and creates none', async () => {
    const answer = await server.admin.send('POST', path, { ...dry, body: podJson('never') });
    expect(answer.status).toBe(201);
    const pod = podOf(answer);
    expect(pod.metadata).toMatchObject({ name: 'never', generation: 1 });
    expect(pod.metadata).not.toHaveProperty('resourceVersion');
    expect(pod.status.phase).toBe('Pending');
    expect((await server.admin.getPod(namespace, 'never')).status).toBe(404);
  });

  it('refuses what the write itself would be refused', async () => {
    await createPod(server.admin, namespace, 'taken');
    expect((await server.admin.send('POST', path, { ...dry, body: podJson('taken') })).status).toBe(409);
  });

  it('answers a patch with the pod as it would be, at its old resourceVersion, and changes nothing', async () => {
    const before = await createPod(server.admin, namespace, 'patched');
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = { status: { phase: 'Running' } };
    const shown = podOf(await server.admin.send('PATCH', `${path}/patched/status`, { ...dry, body, headers }));
    expect(shown.status.phase).toBe('Running');
    expect(shown.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(podOf(await server.admin.getPod(namespace, 'patched'))).toEqual(before);
  });

  it('answers a deletion with the marked pod, and keeps the pod as it was', async () => {
    const before = await createPod(server.admin, namespace, 'kept');
    const inQuery = await server.admin.send('DELETE', `${path}/kept`, dry);
    expect(podOf(inQuery).metadata.deletionGracePeriodSeconds).toBe(30);
    const inBody = await server.admin.deletePod(namespace, 'kept', { dryRun: ['All'], gracePeriodSeconds: 0 });
    expect(podOf(inBody).metadata.deletionGracePeriodSeconds).toBe(0);
    expect(podOf(await server.admin.getPod(namespace, 'kept'))).toEqual(before);
  });

  it('deletes no collection', async () => {
    const before = podListOf(await server.admin.listPods(namespace)).items;
    expect(before.length).toBeGreaterThan(0);
    const query = { ...dry.query, gracePeriodSeconds: '0' };
    const answer = podListOf(await server.admin.send('DELETE', path, { query }));
    expect(answer.items.map((pod) => pod.metadata.name)).toEqual(before.map((pod) => pod.metadata.name));
    expect(podListOf(await server.admin.listPods(namespace)).items).toEqual(before);
  });

  it('is refused with 422 for any other value', async () => {
    const creation = await server.admin.send('POST', path, { query: { dryRun: 'Some' }, body: podJson('some') });
    const cause = { reason: 'FieldValueNotSupported', field: 'dryRun' };
    expect(creation).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', details: { kind: 'CreateOptions', causes: [cause] } },
    });
    expect((await server.admin.deletePod(namespace, 'kept', { dryRun: ['Some'] })).status).toBe(422);
  });

  it('does not count in the query of a deletion that has options in its body', async () => {
    await createPod(server.admin, namespace, 'deleted');
    await server.admin.send('DELETE', `${path}/deleted`, { ...dry, body: { gracePeriodSeconds: 0 } });
    expect((await server.admin.getPod(namespace, 'deleted')).status).toBe(404);
  });
});
