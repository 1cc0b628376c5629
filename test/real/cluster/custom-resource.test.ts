import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Reflector } from '../../../src/client/reflector/reflector.ts';
import { type ApiObject, apiResource } from '../../../src/client/resources/api-resource.ts';
import { ResourceClient } from '../../../src/client/resources/resource-client.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { Facts } from '../../server/manager/facts.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';

type Widget = ApiObject & { spec?: { size?: number } };

const group = `g${randomBytes(4).toString('hex')}.example.test`;
const widgets = apiResource<Widget>({ group, version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true });
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('widgets');
});
afterAll(async () => {
  await server.admin.send('DELETE', `${definitions}/widgets.${group}`);
  await server.stop();
});

describe('a reflector of a custom resource', () => {
  it('waits for its definition, then follows its objects', async () => {
    const facts = new Facts();
    await using transport = new KubeTransport(server.kubeConfig());
    const client = new ResourceClient(transport, widgets);
    await using reflector = new Reflector({
      logger: null,
      transport,
      resource: widgets,
      namespace,
      // the server answers 404 until it knows the resource
      random: () => 0.1,
      handlers: { added: facts.changed, updated: facts.changed, deleted: facts.changed, interrupted: facts.changed },
    });
    const started = reflector.start();
    expect((await server.admin.send('POST', definitions, { body: definition })).status).toBe(201);
    await started;
    const held = () => reflector.store.get(namespace, 'one');
    await client.create({ metadata: { name: 'one', namespace }, spec: { size: 1 } });
    const made = await facts.until('it shows the new object', held);
    expect(made).toMatchObject({ apiVersion: `${group}/v1`, kind: 'Widget', spec: { size: 1 } });
    expect(made.metadata).not.toHaveProperty('managedFields');
    await client.update({ ...made, spec: { size: 2 } });
    await facts.until('it shows the change', () => held()?.spec?.size === 2);
    await client.delete({ namespace, name: 'one' });
    await facts.until('it shows the deletion', () => held() === undefined);
  });
});
