import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resources } from '../../../src/client/resources/api-resource.ts';
import { objectOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { Collection, namesOf, type Subject, services } from './resources-contract-fixture.ts';

let server: TestServer;
let namespace: string;
let myServices: Collection;
let myEvents: Collection;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('services');
  myServices = new Collection(server.admin, services, namespace);
  const involvedObject = { kind: 'Pod', namespace, name: 'pod' };
  const contents = { involvedObject, reason: 'Started', type: 'Normal', source: { component: 'agent' } };
  const events: Subject = { resource: resources.events, contents, change: { count: 2 } };
  myEvents = new Collection(server.admin, events, namespace);
});
afterAll(() => server.stop());

describe('a service', () => {
  it('gets an address, and what a client left out', async () => {
    const { spec, status } = await myServices.create('filled');
    expect(spec).toMatchObject({
      clusterIP: expect.stringMatching(/^10\.\d+\.\d+\.\d+$/),
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      sessionAffinity: 'None',
      type: 'ClusterIP',
    });
    expect(spec).toMatchObject({ clusterIPs: [(spec as { clusterIP: string }).clusterIP] });
    expect(status).toEqual({ loadBalancer: {} });
  });

  it('keeps its address in an update that leaves it out, and refuses another', async () => {
    const { spec } = await myServices.create('kept');
    const { clusterIP } = spec as { clusterIP: string };
    const updated = objectOf(await myServices.put('kept', myServices.json('kept', { spec: { ports: [{ port: 81 }] } })));
    expect(updated.spec).toMatchObject({ clusterIP, clusterIPs: [clusterIP], ports: [{ port: 81, targetPort: 81 }] });
    expect(await myServices.merge('kept', { spec: { clusterIP: '10.0.0.250' } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'spec.clusterIPs[0]' }] } },
    });
  });

  it('has no address when it is headless or external', async () => {
    const headless = await myServices.create('headless', { spec: { clusterIP: 'None', selector: { a: 'b' } } });
    expect(headless.spec).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
    expect(namesOf(await myServices.list({ fieldSelector: 'spec.clusterIP=None' }))).toEqual(['headless']);
    const spec = { type: 'ExternalName', externalName: 'x.example.com' };
    const external = await myServices.create('external', { spec });
    expect(external.spec).toEqual({ ...spec, sessionAffinity: 'None' });
  });

  it('merges ports by their number in a strategic merge', async () => {
    await myServices.create('ports');
    const ports = [
      { port: 81, name: 'b' },
      { port: 80, name: 'a' },
    ];
    const { spec } = objectOf(await server.admin.patch(myServices.path('ports'), { spec: { ports } }));
    expect(spec).toMatchObject({
      ports: [
        { port: 81, name: 'b', protocol: 'TCP' },
        { port: 80, name: 'a' },
      ],
    });
  });

  it.each<[string, string, object]>([
    ['no ports', 'a', {}],
    ['two ports without names', 'a', { ports: [{ port: 80 }, { port: 81 }] }],
    ['a dot in its name', 'a.b', { ports: [{ port: 80 }] }],
  ])('is refused with %s', async (_, name, spec) => {
    expect((await myServices.post(myServices.json(name, { spec: spec as never }))).status).toBe(422);
  });

  it('is refused when its name is longer than a label, or made from a longer prefix', async () => {
    expect((await myServices.post(myServices.json('x'.repeat(64)))).status).toBe(422);
    const metadata = { name: '', generateName: 'x'.repeat(64) };
    expect(await myServices.post(myServices.json('unused', { metadata }))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'metadata.generateName', message: expect.stringContaining('no more than 63') }] } },
    });
  });

  it('is the answer to its deletion', async () => {
    const { metadata } = await myServices.create('deleted');
    expect(objectOf(await myServices.delete('deleted'))).toMatchObject({ kind: 'Service', metadata: { uid: metadata.uid } });
  });
});

describe('an event', () => {
  it('has the members that are always there, and is made by a PUT too', async () => {
    const posted = await myEvents.create('posted');
    const always = { eventTime: null, firstTimestamp: null, lastTimestamp: null, reportingComponent: '', reportingInstance: '' };
    expect(posted).toMatchObject(always);
    expect((await myEvents.put('put', myEvents.json('put'))).status).toBe(201);
    expect(objectOf(await myEvents.merge('put', { count: 2 }))).toMatchObject({ count: 2, reason: 'Started' });
  });

  it('is selected by its object, its reason, its type and its source', async () => {
    await myEvents.create('selected', { reason: 'Killing', type: 'Warning' });
    for (const fieldSelector of [
      'involvedObject.kind=Pod,reason=Killing',
      'type=Warning,source=agent',
      'involvedObject.name=pod,involvedObject.namespace!=x,reason!=Started',
    ]) {
      expect(namesOf(await myEvents.list({ fieldSelector }))).toEqual(['selected']);
    }
  });

  it('is in the namespace of its object, or in `default` for one of the cluster', async () => {
    const involvedObject = { kind: 'Pod', name: 'p', namespace: 'elsewhere' };
    expect(await myEvents.post(myEvents.json('astray', { involvedObject }))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'involvedObject.namespace' }] } },
    });
    const ofNode = { involvedObject: { kind: 'Node', name: 'n' } };
    expect((await myEvents.post(myEvents.json('of-node', ofNode))).status).toBe(422);
    const inDefault = new Collection(server.admin, myEvents.subject, 'default');
    const made = await inDefault.create('unused', { ...ofNode, metadata: { name: '', generateName: 'of-node-' } });
    expect((await inDefault.delete(made.metadata.name)).status).toBe(200);
  });
});
