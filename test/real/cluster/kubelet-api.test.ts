import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { KubeTransport } from '../../../src/index.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { apiWorld } from '../../unit/kubelet/server/api-world.ts';

let admin: AdminClient;
let adminConfig: KubeConfig;
let namespace: string;

beforeAll(async () => {
  adminConfig = new KubeConfig();
  adminConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(adminConfig);
  namespace = await admin.createNamespace('kubelet-api');
});
afterAll(() => admin.close());

async function create(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await admin.send('POST', path, { body });
  expect(answer.status).toBe(201);
  return answer.body as JsonObject;
}

/** A token of a new service account that may read one subresource of nodes. */
async function tokenOf(name: string, subresource: string | undefined): Promise<string> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await create(accounts, { metadata: { name } });
  if (subresource !== undefined) {
    const metadata = { name: `${namespace}-${name}` };
    await create(`${rbac}/clusterroles`, {
      metadata,
      rules: [{ apiGroups: [''], resources: [`nodes/${subresource}`], verbs: ['get'] }],
    });
    await create(`${rbac}/clusterrolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
  }
  const { status } = await create(`${accounts}/${name}/token`, { spec: {} });
  return String((status as JsonObject).token);
}

/** A kubelet API whose reviews the real apiserver answers. */
async function realWorld() {
  const transport = new KubeTransport(adminConfig);
  onTestFinished(() => transport.close());
  return apiWorld({ transport });
}

const withToken = (token: string) => ({ client: undefined, token });

describe('the kubelet API before a real apiserver', () => {
  it('lets a service account do what its role allows, and nothing else', async () => {
    const token = await tokenOf('metrics-reader', 'metrics');
    const { get } = await realWorld();
    expect((await get('/metrics', withToken(token))).status).toBe(200);
    expect(await get('/pods', withToken(token))).toMatchObject({
      status: 403,
      text: expect.stringContaining(`user=system:serviceaccount:${namespace}:metrics-reader, verb=get`),
    });
    expect((await get('/containerLogs/default/web/app', withToken(token))).status).toBe(403);
    expect((await get('/stats/summary', { ...withToken(token), method: 'POST' })).status).toBe(403);
  });

  it('knows the rights to single pages', async () => {
    const token = await tokenOf('pods-reader', 'pods');
    const { get } = await realWorld();
    expect((await get('/pods', withToken(token))).status).toBe(200);
    expect((await get('/runningpods/', withToken(token))).status).toBe(200);
    expect((await get('/healthz', withToken(token))).status).toBe(403);
  });

  it('refuses a token that is not known, and a known sender without rights', async () => {
    const token = await tokenOf('nobody', undefined);
    const { get } = await realWorld();
    expect((await get('/metrics', withToken(token))).status).toBe(403);
    expect((await get('/metrics', withToken(`${token.slice(0, -4)}AAAA`))).status).toBe(401);
    expect((await get('/metrics', withToken('a'.repeat(20_000)))).status).toBe(401);
  });

  it('asks for the rights of who a certificate names', async () => {
    const { get, issue } = await realWorld();
    const master = issue({ commonName: 'apiserver', organizations: ['system:masters'] });
    expect((await get('/pods', { client: master })).status).toBe(200);
    expect((await get('/pods', { client: issue({ commonName: 'eve' }) })).status).toBe(403);
  });
});
