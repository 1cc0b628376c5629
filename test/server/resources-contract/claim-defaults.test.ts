import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { objectOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';

let server: TestServer;
let path: string;

beforeAll(async () => {
  server = await startTestServer();
  path = `/apis/resource.k8s.io/v1/namespaces/${await server.admin.createNamespace('device-claims')}`;
});
afterAll(() => server.stop());

const deviceClassName = 'gpus';
const requests = [
  { name: 'plain', exactly: { deviceClassName } },
  { name: 'two', exactly: { deviceClassName, count: 2 } },
  { name: 'all', exactly: { deviceClassName, allocationMode: 'All' } },
  { name: 'first', firstAvailable: [{ name: 'best', deviceClassName }] },
];
const exactCount = { deviceClassName, allocationMode: 'ExactCount' };
const written = [
  { name: 'plain', exactly: { ...exactCount, count: 1 } },
  { name: 'two', exactly: { ...exactCount, count: 2 } },
  { name: 'all', exactly: { deviceClassName, allocationMode: 'All' } },
  { name: 'first', firstAvailable: [{ name: 'best', ...exactCount, count: 1 }] },
];

it('a claim of devices says how many devices each request is for, whether its user said so or not', async () => {
  const body = { metadata: { name: 'claim' }, spec: { devices: { requests } } };
  const { spec } = objectOf(await server.admin.send('POST', `${path}/resourceclaims`, { body }));
  expect(spec).toEqual({ devices: { requests: written } });
  const changed = objectOf(
    await server.admin.patch(`${path}/resourceclaims/claim`, { metadata: { labels: { a: 'b' } } }, 'merge'),
  );
  expect((changed.spec as JsonObject).devices).toEqual({ requests: written });
});

it('so does a template of claims', async () => {
  const body = { metadata: { name: 'template' }, spec: { spec: { devices: { requests } } } };
  const { spec } = objectOf(await server.admin.send('POST', `${path}/resourceclaimtemplates`, { body }));
  expect((spec as JsonObject).spec).toEqual({ devices: { requests: written } });
});
