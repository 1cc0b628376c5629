import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { podOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod, createRunningPod, runningStatus, startedAt } from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('patch');
});
afterAll(() => server.stop());

const condition = (type: string, status: string, more: JsonObject = {}): JsonObject => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: startedAt,
  ...more,
});

describe('a status patch in any format', () => {
  it('is stored, answered with the whole pod, and gives a new resourceVersion', async () => {
    const created = await createPod(server.admin, namespace, 'stored');
    const answer = await server.admin.patchPodStatus(namespace, 'stored', { status: runningStatus() });
    expect(answer.status).toBe(200);
    const patched = podOf(answer);
    expect(patched.status).toEqual({ ...runningStatus(), qosClass: 'BestEffort' });
    expect(patched.metadata.uid).toBe(created.metadata.uid);
    expect(BigInt(patched.metadata.resourceVersion)).toBeGreaterThan(BigInt(created.metadata.resourceVersion));
    expect(podOf(await server.admin.getPod(namespace, 'stored'))).toEqual(patched);
  });

  it('has the same effect as strategic merge, merge and JSON Patch', async () => {
    const change = { phase: 'Running', message: 'hello' };
    const operations = Object.entries(change).map(([field, value]) => ({ op: 'add', path: `/status/${field}`, value }));
    for (const [format, body] of [
      ['strategic', { status: change }],
      ['merge', { status: change }],
      ['json', operations],
    ] as const) {
      await createPod(server.admin, namespace, `format-${format}`);
      const answer = await server.admin.patchPodStatus(namespace, `format-${format}`, body, format);
      expect(podOf(answer).status).toEqual({ ...change, qosClass: 'BestEffort' });
    }
  });

  it('changes neither spec nor generation', async () => {
    const created = await createPod(server.admin, namespace, 'spec-kept');
    const spec = { terminationGracePeriodSeconds: 7, activeDeadlineSeconds: 5 };
    const patched = podOf(await server.admin.patchPodStatus(namespace, 'spec-kept', { spec, status: { message: 'm' } }));
    expect(patched.spec).toEqual(created.spec);
    expect(patched.metadata.generation).toBe(1);
    expect(patched.status.message).toBe('m');
  });

  it('changes labels and annotations, which the status subresource does not protect', async () => {
    await createPod(server.admin, namespace, 'labels');
    const metadata = { labels: { sent: 'label' }, annotations: { sent: 'annotation' } };
    const patched = podOf(await server.admin.patchPodStatus(namespace, 'labels', { metadata, status: { message: 'm' } }));
    expect(patched.metadata).toMatchObject(metadata);
  });

  it('adds a finalizer, and ignores a generation, an owner, a creation time and a deletion time', async () => {
    const created = await createPod(server.admin, namespace, 'metadata');
    const finalizers = ['example.test/added'];
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'u' }];
    const metadata = { finalizers, ownerReferences, generation: 9, creationTimestamp: startedAt, deletionTimestamp: startedAt };
    const patched = podOf(await server.admin.patchPodStatus(namespace, 'metadata', { metadata, status: { message: 'm' } }));
    expect(patched.metadata.finalizers).toEqual(finalizers);
    expect(patched.metadata.generation).toBe(1);
    expect(patched.metadata.creationTimestamp).toBe(created.metadata.creationTimestamp);
    expect(patched.metadata).not.toHaveProperty('ownerReferences');
    expect(patched.metadata).not.toHaveProperty('deletionTimestamp');
  });

  it('keeps the resourceVersion when nothing changes', async () => {
    const before = await createRunningPod(server.admin, namespace, 'no-op');
    const metadata = { uid: before.metadata.uid };
    for (const [format, body] of [
      ['strategic', { metadata, status: runningStatus() }],
      ['merge', { metadata, status: runningStatus() }],
      ['json', [{ op: 'test', path: '/metadata/uid', value: metadata.uid }]],
    ] as const) {
      const after = podOf(await server.admin.patchPodStatus(namespace, 'no-op', body, format));
      expect(after.metadata.resourceVersion, format).toBe(before.metadata.resourceVersion);
    }
  });

  it('is answered with the metadata alone when the client asks for that', async () => {
    await createPod(server.admin, namespace, 'metadata-only');
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const answer = await server.admin.patchPodStatus(namespace, 'metadata-only', { status: { phase: 'Running' } }, 'strategic', {
      accept,
    });
    const after = podOf(await server.admin.getPod(namespace, 'metadata-only'));
    expect(answer).toMatchObject({ status: 200, body: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } });
    expect(answer.body).toMatchObject({ metadata: { uid: after.metadata.uid, resourceVersion: after.metadata.resourceVersion } });
    expect(answer.body).not.toHaveProperty('spec');
    expect(answer.body).not.toHaveProperty('status');
    expect(after.status.phase).toBe('Running');
  });
});

describe('a strategic merge patch', () => {
  it('merges conditions by type and keeps the others in place', async () => {
    await createPod(server.admin, namespace, 'conditions');
    const foreign = condition('example.test/Foreign', 'True', { reason: 'Theirs' });
    await server.admin.patchPodStatus(namespace, 'conditions', {
      status: { conditions: [foreign, condition('Ready', 'False')] },
    });
    const changed = { status: { conditions: [condition('Ready', 'True'), condition('Initialized', 'True')] } };
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'conditions', changed));
    const byType = new Map(status.conditions?.map((each) => [each.type, each]));
    expect([...byType.keys()].sort()).toEqual(['Initialized', 'Ready', 'example.test/Foreign']);
    expect(byType.get('example.test/Foreign')).toEqual(foreign);
    expect(byType.get('Ready')?.status).toBe('True');
  });

  it('drops a condition by `$patch: delete`', async () => {
    await createPod(server.admin, namespace, 'dropped');
    const conditions = [condition('Ready', 'True'), condition('Initialized', 'True')];
    await server.admin.patchPodStatus(namespace, 'dropped', { status: { conditions } });
    const drop = { status: { conditions: [{ type: 'Initialized', $patch: 'delete' }] } };
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'dropped', drop));
    expect(status.conditions).toEqual([condition('Ready', 'True')]);
  });

  it('removes a field of a condition by null', async () => {
    await createPod(server.admin, namespace, 'field');
    await server.admin.patchPodStatus(namespace, 'field', {
      status: { conditions: [condition('Ready', 'False', { reason: 'Why' })] },
    });
    const change = { status: { conditions: [{ type: 'Ready', reason: null }] } };
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'field', change));
    expect(status.conditions).toEqual([condition('Ready', 'False')]);
  });

  it('orders conditions by `$setElementOrder`', async () => {
    await createPod(server.admin, namespace, 'ordered');
    await server.admin.patchPodStatus(namespace, 'ordered', { status: { conditions: [condition('Ready', 'True')] } });
    const order = [{ type: 'Initialized' }, { type: 'Ready' }];
    const change = { status: { conditions: [condition('Initialized', 'True')], '$setElementOrder/conditions': order } };
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'ordered', change));
    expect(status.conditions?.map((each) => each.type)).toEqual(['Initialized', 'Ready']);
  });

  it('replaces container statuses as a whole: they do not merge by name', async () => {
    await createRunningPod(server.admin, namespace, 'atomic');
    const change = { status: { containerStatuses: [{ name: 'main', ready: true, restartCount: 3, image: 'i', imageID: '' }] } };
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'atomic', change));
    expect(status.containerStatuses).toEqual([
      { name: 'main', ready: true, restartCount: 3, image: 'i', imageID: '', state: {}, lastState: {} },
    ]);
  });

  it('removes a field by null', async () => {
    await createRunningPod(server.admin, namespace, 'nulls');
    const { status } = podOf(
      await server.admin.patchPodStatus(namespace, 'nulls', { status: { containerStatuses: null, startTime: null } }),
    );
    expect(status).not.toHaveProperty('containerStatuses');
    expect(status).not.toHaveProperty('startTime');
  });

  it('refuses a new pod address in addition to the old one (422): two addresses of one family', async () => {
    const before = await createRunningPod(server.admin, namespace, 'addresses');
    const change = { status: { podIP: '10.1.0.2', podIPs: [{ ip: '10.1.0.2' }] } };
    expect(await server.admin.patchPodStatus(namespace, 'addresses', change)).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', details: { name: 'addresses', kind: 'Pod' } },
    });
    expect(podOf(await server.admin.getPod(namespace, 'addresses'))).toEqual(before);
  });

  it.each([
    ['with the old one deleted', [{ ip: '10.1.0.2' }, { ip: '10.1.0.1', $patch: 'delete' }]],
    ['as a replacement of the list', [{ ip: '10.1.0.2' }, { $patch: 'replace' }]],
  ])('takes a new pod address %s', async (how, podIPs) => {
    const name = how.replaceAll(' ', '-');
    await createRunningPod(server.admin, namespace, name);
    const { status } = podOf(await server.admin.patchPodStatus(namespace, name, { status: { podIP: '10.1.0.2', podIPs } }));
    expect(status).toMatchObject({ podIP: '10.1.0.2', podIPs: [{ ip: '10.1.0.2' }] });
  });
});

describe('a merge patch', () => {
  it('replaces lists as a whole', async () => {
    await createRunningPod(server.admin, namespace, 'merge-lists');
    const change = {
      status: { conditions: [condition('Initialized', 'True')], podIP: '10.1.0.2', podIPs: [{ ip: '10.1.0.2' }] },
    };
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'merge-lists', change, 'merge'));
    expect(status.conditions).toEqual([condition('Initialized', 'True')]);
    expect(status.podIPs).toEqual([{ ip: '10.1.0.2' }]);
    expect(status.phase).toBe('Running');
  });
});

describe('a JSON Patch', () => {
  it('adds, replaces and removes what its paths name', async () => {
    await createRunningPod(server.admin, namespace, 'paths');
    const operations = [
      { op: 'replace', path: '/status/conditions/0/status', value: 'False' },
      { op: 'add', path: '/status/conditions/-', value: condition('Initialized', 'True') },
      { op: 'remove', path: '/status/startTime' },
    ];
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'paths', operations, 'json'));
    expect(status.conditions).toEqual([condition('Ready', 'False'), condition('Initialized', 'True')]);
    expect(status).not.toHaveProperty('startTime');
  });

  it('can change the first status of a pod: phase and qosClass', async () => {
    await createPod(server.admin, namespace, 'guarded');
    const operations = [
      { op: 'test', path: '/status/phase', value: 'Pending' },
      { op: 'replace', path: '/status/phase', value: 'Running' },
    ];
    expect(podOf(await server.admin.patchPodStatus(namespace, 'guarded', operations, 'json')).status.phase).toBe('Running');
  });
});
