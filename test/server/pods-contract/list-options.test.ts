import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podListOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod } from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('list-options');
  for (const name of ['a', 'b', 'c', 'd', 'e']) await createPod(server.admin, namespace, name);
  await createPod(server.admin, namespace, 'f', { metadata: { labels: { app: 'undefined' } } });
});
afterAll(() => server.stop());

type Query = Readonly<Record<string, string>>;

interface Page {
  readonly names: readonly string[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

async function list(query: Query): Promise<Page> {
  const { items, metadata } = podListOf(await server.admin.listPods(namespace, query));
  return { names: items.map((pod) => pod.metadata.name), ...metadata };
}

describe('a list in pages', () => {
  it('shows each pod once, at the resourceVersion of the first page, whatever is created meanwhile', async () => {
    const first = await list({ limit: '2' });
    expect(first).toMatchObject({ names: ['a', 'b'], remainingItemCount: 4 });
    await createPod(server.admin, namespace, 'bb');
    await server.admin.deletePod(namespace, 'bb', { gracePeriodSeconds: 0 });
    await createPod(server.admin, namespace, 'z');
    const second = await list({ limit: '3', continue: first.continue ?? '' });
    expect(second).toMatchObject({ names: ['c', 'd', 'e'], remainingItemCount: 1 });
    const rest = await list({ continue: second.continue ?? '' });
    expect(rest).toEqual({ names: ['f'], resourceVersion: first.resourceVersion });
    expect(second.resourceVersion).toBe(first.resourceVersion);
    await server.admin.deletePod(namespace, 'z', { gracePeriodSeconds: 0 });
  });

  it('does not say how many pods follow when there is a selector', async () => {
    const page = await list({ limit: '1', fieldSelector: 'metadata.name!=a' });
    expect(page.names).toEqual(['b']);
    expect(page.continue).not.toBe('');
    expect(page).not.toHaveProperty('remainingItemCount');
  });

  it('is whole with a limit below one, and at resourceVersion 0', async () => {
    for (const query of [{ limit: '0' }, { limit: '-1' }, { limit: '1', resourceVersion: '0' }] satisfies Query[]) {
      expect(await list(query)).toEqual({ names: ['a', 'b', 'c', 'd', 'e', 'f'], resourceVersion: expect.any(String) });
    }
  });

  it.each<[Query, number]>([
    [{ limit: 'abc' }, 400],
    [{ limit: '2', continue: 'bogus' }, 400],
    [{ continue: Buffer.from('{"v":"meta.k8s.io/v1","rv":2,"start":"x"}').toString('base64url'), resourceVersion: '5' }, 400],
  ])('refuses the options %o with %d', async (query, status) => {
    expect((await server.admin.listPods(namespace, query)).status).toBe(status);
  });
});

describe('a list of one state', () => {
  it('shows the pods as they were at an exact resourceVersion', async () => {
    const { resourceVersion } = await list({});
    const created = await createPod(server.admin, namespace, 'later');
    const then = await list({ resourceVersion, resourceVersionMatch: 'Exact' });
    expect(then).toEqual({ names: ['a', 'b', 'c', 'd', 'e', 'f'], resourceVersion });
    const now = await list({ resourceVersion: created.metadata.resourceVersion, resourceVersionMatch: 'NotOlderThan' });
    expect(now.names).toContain('later');
    await server.admin.deletePod(namespace, 'later', { gracePeriodSeconds: 0 });
  });

  it.each<[Query, string]>([
    [{ resourceVersionMatch: 'Exact' }, 'resourceVersionMatch'],
    [{ resourceVersionMatch: 'NotOlderThan' }, 'resourceVersionMatch'],
    [{ resourceVersionMatch: 'Exact', resourceVersion: '0' }, 'resourceVersionMatch'],
    [{ resourceVersionMatch: 'Other', resourceVersion: '5' }, 'resourceVersionMatch'],
    [{ sendInitialEvents: 'true' }, 'sendInitialEvents'],
  ])('refuses the options %o with 422', async (query, field) => {
    expect(await server.admin.listPods(namespace, query)).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', details: { kind: 'ListOptions', causes: [{ field }] } },
    });
  });
});

describe('a label selector', () => {
  it.each<[string, readonly string[]]>([
    ['app in (undefined)', ['f']],
    ['app in(undefined)', ['f']],
    ['app notin (undefined)', ['a', 'b', 'c', 'd', 'e']],
    ['app in ()', []],
    ['app!=undefined', ['a', 'b', 'c', 'd', 'e']],
    ['toString', []],
    ['!toString', ['a', 'b', 'c', 'd', 'e', 'f']],
  ])('%s selects by the labels that a pod has', async (labelSelector, names) => {
    expect((await list({ labelSelector })).names).toEqual(names);
  });

  it('that no server can read is refused with 400', async () => {
    expect((await server.admin.listPods(namespace, { labelSelector: 'app in (a b)' })).status).toBe(400);
  });
});
