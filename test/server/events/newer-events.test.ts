import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newerEvents } from '../../../src/client/resources/api-resource.ts';
import { KubeTransport } from '../../../src/index.ts';
import { ResourceClient, resources } from '../../../src/reflector.ts';
import type { WireEvent } from '../../../src/scheduler/cluster/event-writer.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';

describe('events of events.k8s.io', () => {
  let server: TestServer;
  let transport: KubeTransport;
  let namespace: string;
  let newer: ResourceClient<WireEvent>;

  beforeAll(async () => {
    server = await startTestServer();
    transport = new KubeTransport(server.kubeConfig());
    namespace = await server.admin.createNamespace();
    newer = new ResourceClient(transport, newerEvents);
  });

  afterAll(async () => {
    await transport.close();
    await server.stop();
  });

  const event = (name: string, more: object = {}): WireEvent => ({
    metadata: { name, namespace },
    eventTime: '2026-01-01T00:00:00.000000Z',
    ...{ type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'assigned' },
    ...{ reportingController: 'default-scheduler', reportingInstance: 'host-1' },
    regarding: { kind: 'Pod', namespace, name: 'web', uid: 'u1' },
    ...more,
  });

  it('are those of the core group, by other names', async () => {
    const created = await newer.create(event('first'));
    expect(created).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'assigned', reportingController: 'default-scheduler' });
    const core = await new ResourceClient(transport, resources.events).get({ namespace, name: 'first' });
    expect(core).toMatchObject({
      ...{ message: 'assigned', reportingComponent: 'default-scheduler', reason: 'Scheduled', action: 'Binding' },
      involvedObject: { kind: 'Pod', name: 'web', uid: 'u1' },
    });
    const { items } = await newer.list({ namespace, fieldSelector: 'regarding.uid=u1' });
    expect(items.map(({ metadata }) => metadata?.name)).toEqual(['first']);
    expect((await newer.list({ namespace, fieldSelector: 'regarding.uid=u2' })).items).toEqual([]);
  });

  it('take a series by a patch, and no other change', async () => {
    await newer.create(event('second'));
    const series = { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' };
    const target = { namespace, name: 'second' };
    const type = 'application/merge-patch+json';
    expect((await newer.patch(target, { type, body: { series } })).series).toEqual(series);
    await expect(newer.patch(target, { type, body: { note: 'else' } })).rejects.toMatchObject({ status: 422 });
    await expect(newer.patch(target, { type, body: { series: { ...series, count: 1 } } })).rejects.toMatchObject({ status: 422 });
  });

  it.each([
    ['no time', { eventTime: null }],
    ['no action', { action: '' }],
    ['no instance', { reportingInstance: '' }],
    ['another type', { type: 'Strange' }],
    ['a note that is too long', { note: 'x'.repeat(1025) }],
    ['a count of the old kind', { deprecatedCount: 1 }],
  ])('are refused with %s', async (_, more) => {
    await expect(newer.create(event('bad', more))).rejects.toMatchObject({ status: 422 });
  });
});
