import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { podOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import {
  containerStatus,
  createPod,
  createRunningPod,
  runningStatus,
  startedAt,
  terminatedState,
} from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('validation');
});
afterAll(() => server.stop());

async function expectInvalid(name: string, status: JsonObject, field: string): Promise<void> {
  const before = podOf(await server.admin.getPod(namespace, name));
  expect(await server.admin.patchPodStatus(namespace, name, { status })).toMatchObject({
    status: 422,
    body: { kind: 'Status', code: 422, reason: 'Invalid', details: { name, kind: 'Pod', causes: [{ field }] } },
  });
  expect(podOf(await server.admin.getPod(namespace, name))).toEqual(before);
}

describe('the status subresource refuses (422)', () => {
  it("a qosClass other than the server's own", async () => {
    await createRunningPod(server.admin, namespace, 'qos');
    await expectInvalid('qos', { qosClass: 'Guaranteed' }, 'status.qosClass');
  });

  it('a nominatedNodeName on a bound pod', async () => {
    await createRunningPod(server.admin, namespace, 'nominated');
    await expectInvalid('nominated', { nominatedNodeName: 'node-b' }, 'status.nominatedNodeName');
  });

  it('a hostIP that is not the first of hostIPs', async () => {
    await createRunningPod(server.admin, namespace, 'host');
    await expectInvalid('host', { hostIP: '192.0.2.9' }, 'status.hostIPs[0].ip');
  });

  it('another state after a terminated one, under restart policy Never', async () => {
    await createPod(server.admin, namespace, 'never', { spec: { restartPolicy: 'Never' } });
    const ended = runningStatus({ containerStatuses: [containerStatus('main', terminatedState())] });
    expect((await server.admin.patchPodStatus(namespace, 'never', { status: ended })).status).toBe(200);
    const again = { containerStatuses: [containerStatus('main', { running: { startedAt } })] };
    await expectInvalid('never', again, 'status.containerStatuses[0].state');
  });

  it('under restart policy OnFailure a running state after a success, but not after a failure', async () => {
    for (const [name, exitCode, status] of [
      ['on-failure-failed', 1, 200],
      ['on-failure-succeeded', 0, 422],
    ] as const) {
      await createPod(server.admin, namespace, name, { spec: { restartPolicy: 'OnFailure' } });
      const ended = runningStatus({ containerStatuses: [containerStatus('main', terminatedState(exitCode))] });
      await server.admin.patchPodStatus(namespace, name, { status: ended });
      const again = { containerStatuses: [containerStatus('main', { running: { startedAt } })] };
      expect((await server.admin.patchPodStatus(namespace, name, { status: again })).status, name).toBe(status);
    }
  });
});

describe('the status subresource accepts', () => {
  it('Running after Failed: it does not check phases', async () => {
    await createPod(server.admin, namespace, 'phases');
    await server.admin.patchPodStatus(namespace, 'phases', { status: { phase: 'Failed' } });
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'phases', { status: { phase: 'Running' } }));
    expect(status.phase).toBe('Running');
  });

  it('a restarted container under restart policy Always', async () => {
    await createPod(server.admin, namespace, 'always');
    const ended = runningStatus({ containerStatuses: [containerStatus('main', terminatedState(1))] });
    await server.admin.patchPodStatus(namespace, 'always', { status: ended });
    const again = { containerStatuses: [containerStatus('main', { running: { startedAt } })] };
    expect((await server.admin.patchPodStatus(namespace, 'always', { status: again })).status).toBe(200);
  });

  it('container statuses with unknown and with repeated names', async () => {
    await createRunningPod(server.admin, namespace, 'names');
    const containerStatuses = ['main', 'main', 'stranger'].map((name) => containerStatus(name, { running: { startedAt } }));
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'names', { status: { containerStatuses } }));
    expect(status.containerStatuses).toEqual(containerStatuses);
  });

  it('an unknown field, and drops it', async () => {
    await createPod(server.admin, namespace, 'unknown');
    const { status } = podOf(
      await server.admin.patchPodStatus(namespace, 'unknown', { status: { message: 'm', noSuchField: 1 } }),
    );
    expect(status).toEqual({ phase: 'Pending', message: 'm', qosClass: 'BestEffort' });
  });

  it('milliseconds in a time, and cuts them', async () => {
    await createPod(server.admin, namespace, 'milliseconds');
    const change = { startTime: '2026-01-02T03:04:05.678Z' };
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'milliseconds', { status: change }));
    expect(status.startTime).toBe('2026-01-02T03:04:05Z');
  });

  it('the same milliseconds again, as no change', async () => {
    const before = await createRunningPod(server.admin, namespace, 'milliseconds-again');
    const change = { startTime: startedAt.replace('Z', '.999Z') };
    const after = podOf(await server.admin.patchPodStatus(namespace, 'milliseconds-again', { status: change }));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('a status of a pod that is being deleted', async () => {
    await createRunningPod(server.admin, namespace, 'deleting');
    await server.admin.deletePod(namespace, 'deleting');
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'deleting', { status: { phase: 'Succeeded' } }));
    expect(status.phase).toBe('Succeeded');
  });
});

describe('the server fills in', () => {
  it.each([
    ['null', { qosClass: null }],
    ['absent', {}],
  ])('its own qosClass when that is %s', async (what, change) => {
    const before = await createRunningPod(server.admin, namespace, `qos-${what}`);
    const after = podOf(await server.admin.patchPodStatus(namespace, `qos-${what}`, { status: change }));
    expect(after.status.qosClass).toBe('BestEffort');
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('podIPs when only podIP is given', async () => {
    await createPod(server.admin, namespace, 'pod-ip');
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'pod-ip', { status: { podIP: '10.1.0.7' } }));
    expect(status).toMatchObject({ podIP: '10.1.0.7', podIPs: [{ ip: '10.1.0.7' }] });
  });

  it('podIPs again when they are deleted and podIP stays', async () => {
    const before = await createRunningPod(server.admin, namespace, 'pod-ips');
    const after = podOf(await server.admin.patchPodStatus(namespace, 'pod-ips', { status: { podIPs: null } }));
    expect(after.status.podIPs).toEqual([{ ip: '10.1.0.1' }]);
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('no hostIPs when only hostIP is given', async () => {
    await createPod(server.admin, namespace, 'host-ip');
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'host-ip', { status: { hostIP: '192.0.2.1' } }));
    expect(status.hostIP).toBe('192.0.2.1');
    expect(status).not.toHaveProperty('hostIPs');
  });

  it('the old observedGeneration when it is 0 after another value', async () => {
    await createPod(server.admin, namespace, 'observed');
    const first = podOf(await server.admin.patchPodStatus(namespace, 'observed', { status: { observedGeneration: 1 } }));
    expect(first.status.observedGeneration).toBe(1);
    const zero = { status: { observedGeneration: 0 } };
    const second = podOf(await server.admin.patchPodStatus(namespace, 'observed', zero));
    expect(second.status.observedGeneration).toBe(1);
    // The first such patch may still change the owner of the field; a second one changes nothing.
    const third = podOf(await server.admin.patchPodStatus(namespace, 'observed', zero));
    expect(third).toEqual(second);
  });
});
