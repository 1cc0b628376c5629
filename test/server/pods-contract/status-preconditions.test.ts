import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod, createRunningPod } from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('guards');
});
afterAll(() => server.stop());

const otherUID = '11111111-2222-3333-4444-555555555555';
const refusedByContent = 'the server rejected our request due to an error in our request';

describe('the uid in a status patch', () => {
  it.each(['strategic', 'merge'] as const)("answers 422 Invalid when it is another pod's (%s)", async (format) => {
    const before = await createPod(server.admin, namespace, `uid-${format}`);
    const body = { metadata: { uid: otherUID }, status: { phase: 'Running' } };
    const answer = await server.admin.patchPodStatus(namespace, `uid-${format}`, body, format);
    expect(answer).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', code: 422, message: expect.stringMatching(/metadata\.uid.*field is immutable/) },
    });
    expect(podOf(await server.admin.getPod(namespace, `uid-${format}`))).toEqual(before);
  });

  it("answers 422 Invalid when a JSON Patch replaces it by another pod's", async () => {
    await createPod(server.admin, namespace, 'uid-json');
    const body = [{ op: 'replace', path: '/metadata/uid', value: otherUID }];
    expect(await server.admin.patchPodStatus(namespace, 'uid-json', body, 'json')).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', message: expect.stringMatching(/metadata\.uid.*field is immutable/) },
    });
  });

  it('is checked before the content: a patch that would change nothing is refused too', async () => {
    await createPod(server.admin, namespace, 'uid-no-op');
    const answer = await server.admin.patchPodStatus(namespace, 'uid-no-op', { metadata: { uid: otherUID } });
    expect(answer.status).toBe(422);
  });
});

describe('the resourceVersion in a status patch', () => {
  it.each(['strategic', 'merge'] as const)('answers 409 Conflict when it is stale (%s)', async (format) => {
    const name = `stale-${format}`;
    const stale = await createPod(server.admin, namespace, name);
    const before = podOf(await server.admin.patchPodStatus(namespace, name, { status: { message: 'newer' } }));
    const body = { metadata: { resourceVersion: stale.metadata.resourceVersion }, status: { phase: 'Running' } };
    expect(await server.admin.patchPodStatus(namespace, name, body, format)).toMatchObject({
      status: 409,
      body: {
        code: 409,
        reason: 'Conflict',
        details: { name, kind: 'pods' },
        message: expect.stringContaining('the object has been modified'),
      },
    });
    expect(podOf(await server.admin.getPod(namespace, name))).toEqual(before);
  });

  it('accepts a patch when it is the current one', async () => {
    const { metadata } = await createPod(server.admin, namespace, 'present');
    const body = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion }, status: { phase: 'Running' } };
    expect((await server.admin.patchPodStatus(namespace, 'present', body)).status).toBe(200);
  });

  it('answers 409 for a stale one together with a wrong uid', async () => {
    const stale = await createPod(server.admin, namespace, 'both');
    await server.admin.patchPodStatus(namespace, 'both', { status: { message: 'newer' } });
    const metadata = { uid: otherUID, resourceVersion: stale.metadata.resourceVersion };
    const answer = await server.admin.patchPodStatus(namespace, 'both', { metadata, status: { phase: 'Running' } });
    expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
  });
});

describe('a JSON Patch that does not fit', () => {
  it.each([
    ['whose test fails', [{ op: 'test', path: '/metadata/uid', value: otherUID }]],
    ['whose path is missing', [{ op: 'replace', path: '/status/conditions/7/status', value: 'True' }]],
    ['that removes a missing member', [{ op: 'remove', path: '/status/reason' }]],
  ])('answers 422 Invalid when it is one %s', async (what, operations) => {
    const name = what.replaceAll(' ', '-');
    const before = await createRunningPod(server.admin, namespace, name);
    const body = [...operations, { op: 'replace', path: '/status/phase', value: 'Failed' }];
    expect(await server.admin.patchPodStatus(namespace, name, body, 'json')).toMatchObject({
      status: 422,
      body: { kind: 'Status', code: 422, reason: 'Invalid', message: refusedByContent },
    });
    expect(podOf(await server.admin.getPod(namespace, name))).toEqual(before);
  });
});

describe('a patch that the server cannot read', () => {
  it('answers 404 NotFound when there is no such pod', async () => {
    for (const [format, body] of [
      ['strategic', { status: {} }],
      ['json', []],
    ] as const) {
      expect(await server.admin.patchPodStatus(namespace, 'nobody', body, format)).toMatchObject({
        status: 404,
        body: { reason: 'NotFound', details: { name: 'nobody', kind: 'pods' } },
      });
    }
  });

  it('answers 400 BadRequest when the body is not JSON', async () => {
    await createPod(server.admin, namespace, 'no-json');
    const answer = await server.admin.patchPodStatus(namespace, 'no-json', '{"status":');
    expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
  });

  it('answers 415 UnsupportedMediaType to an unknown format', async () => {
    await createPod(server.admin, namespace, 'media');
    const answer = await server.admin.patchPodStatus(namespace, 'media', {}, 'strategic', { 'content-type': 'application/json' });
    expect(answer).toMatchObject({ status: 415, body: { reason: 'UnsupportedMediaType' } });
  });

  it.each([
    ['name', { name: 'other' }],
    ['namespace', { namespace: 'other' }],
  ])("answers 400 BadRequest when the metadata has another pod's %s", async (what, metadata) => {
    await createPod(server.admin, namespace, `renamed-${what}`);
    const answer = await server.admin.patchPodStatus(namespace, `renamed-${what}`, { metadata, status: { phase: 'Running' } });
    expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
  });

  it('answers 413 RequestEntityTooLarge when the body is larger than 3 MiB', async () => {
    await createPod(server.admin, namespace, 'large');
    const answer = await server.admin.patchPodStatus(namespace, 'large', { status: { message: 'x'.repeat(3 * 1024 * 1024) } });
    expect(answer).toMatchObject({ status: 413, body: { kind: 'Status', code: 413, reason: 'RequestEntityTooLarge' } });
  });
});
