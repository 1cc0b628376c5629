import { describe, expect, it } from 'vitest';
import { type ApiResource, resources } from '../../../../src/client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { WatchEvent } from '../../../../src/client/resources/watch-line.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import {
  failureOf,
  kubeConfigFor,
  type Script,
  type SeenRequest,
  scriptedServer,
  sendJson,
} from '../transport/scripted-server.ts';

const metadata = { name: 'a', namespace: 'd', uid: 'u1', resourceVersion: '7' };
const secret = { metadata, data: { key: 'dmFsdWU=' } };
const status = { kind: 'Status', apiVersion: 'v1', status: 'Success' };

type Use<T extends object> = (client: ResourceClient<T>, seen: SeenRequest[]) => Promise<void>;

async function using<T extends object>(resource: ApiResource<T>, script: Script, use: Use<T>): Promise<void> {
  await using server = await scriptedServer(script);
  await using transport = new KubeTransport(kubeConfigFor(server.url), { userAgent: 'agent/1.2 (linux)' });
  await use(new ResourceClient(transport, resource), server.seen);
}

/** Answers every request with `value`, and gives what `use` sent. */
async function sent(value: unknown, use: (client: ResourceClient<typeof secret>) => Promise<unknown>): Promise<object[]> {
  const requests: object[] = [];
  await using(
    resources.secrets as unknown as ApiResource<typeof secret>,
    (_request, response) => sendJson(response, value),
    async (client, seen) => {
      await use(client);
      for (const { method, url, headers, body } of seen) {
        requests.push({
          request: `${method} ${url}`,
          type: headers['content-type'],
          body: body === '' ? undefined : JSON.parse(body),
        });
      }
    },
  );
  return requests;
}

describe('ResourceClient', () => {
  it('names the agent in each request', () =>
    using(
      resources.nodes,
      (_request, response) => sendJson(response, { metadata: { name: 'n', resourceVersion: '1' } }),
      async (client, seen) => {
        expect(await client.get({ name: 'n' })).toEqual({ metadata: { name: 'n', resourceVersion: '1' } });
        expect(seen[0]?.url).toBe('/api/v1/nodes/n');
        expect(seen[0]?.headers['user-agent']).toBe('agent/1.2 (linux)');
      },
    ));

  it.each([
    ['get', 'GET /api/v1/namespaces/d/secrets/a', (c) => c.get({ namespace: 'd', name: 'a' })],
    [
      'get from the cache',
      'GET /api/v1/namespaces/d/secrets/a?resourceVersion=0',
      (c) => c.get({ namespace: 'd', name: 'a' }, { resourceVersion: '0' }),
    ],
    ['create', 'POST /api/v1/namespaces/d/secrets', (c) => c.create(secret)],
    [
      'create in a dry run',
      'POST /api/v1/namespaces/e/secrets?dryRun=All&fieldManager=me&fieldValidation=Strict',
      (c) => c.create(secret, { namespace: 'e', dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' }),
    ],
    ['update', 'PUT /api/v1/namespaces/d/secrets/a', (c) => c.update(secret)],
    ['update of a subresource', 'PUT /api/v1/namespaces/d/secrets/a/status', (c) => c.update(secret, { subresource: 'status' })],
  ] as const satisfies [
    string,
    string,
    (client: ResourceClient<typeof secret>) => Promise<unknown>,
  ][])('sends one request for a %s', async (verb, request, use) => {
    const body = verb.startsWith('get') ? undefined : { apiVersion: 'v1', kind: 'Secret', ...secret };
    const type = body && 'application/json';
    expect(await sent(secret, use)).toEqual([{ request, type, body }]);
  });

  it('hands on that a read goes beside the streams', async () => {
    const asked: unknown[] = [];
    const transport: ResourceTransport = {
      request: ({ besideStreams }) => {
        asked.push(besideStreams);
        return Promise.resolve(secret);
      },
      stream: () => Promise.resolve(),
    };
    const client = new ResourceClient(transport, resources.secrets);
    await client.get({ namespace: 'd', name: 'a' }, { besideStreams: true });
    await client.get({ namespace: 'd', name: 'a' });
    expect(asked).toEqual([true, undefined]);
  });

  it('sends a patch as the type that it is', async () => {
    const patch = { type: 'application/merge-patch+json', body: { data: { key: null } } } as const;
    expect(await sent(secret, (c) => c.patch({ namespace: 'd', name: 'a' }, patch))).toEqual([
      { request: 'PATCH /api/v1/namespaces/d/secrets/a', type: patch.type, body: patch.body },
    ]);
  });

  it('deletes with what was asked for, and with nothing else', async () => {
    const request = 'DELETE /api/v1/namespaces/d/secrets/a';
    const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
    const type = 'application/json';
    const target = { namespace: 'd', name: 'a' };
    expect(await sent(status, (c) => c.delete(target))).toEqual([{ request, type, body: options }]);
    const more = { gracePeriodSeconds: 0, propagationPolicy: 'Foreground', dryRun: true } as const;
    expect(await sent(status, (c) => c.delete(target, { ...more, uid: 'u', resourceVersion: '3' }))).toEqual([
      { request, type, body: { ...options, ...more, dryRun: ['All'], preconditions: { uid: 'u', resourceVersion: '3' } } },
    ]);
  });

  it('deletes a collection only of a selection that it was given', async () => {
    const [request] = await sent(status, (c) => c.deleteCollection({ namespace: 'd', labelSelector: 'a=b' }));
    expect(request).toMatchObject({ request: 'DELETE /api/v1/namespaces/d/secrets?labelSelector=a%3Db' });
    await expect(sent(status, (c) => c.deleteCollection({}))).rejects.toThrow('`namespace`');
  });

  it('posts to a subresource, and takes an answer that is no stored object', () =>
    using(
      resources.serviceAccounts,
      (_request, response) => sendJson(response, { kind: 'TokenRequest', status: { token: 't' } }, { status: 201 }),
      async (client, seen) => {
        const target = { namespace: 'd', name: 'default' };
        const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
        const answer = await client.createSubresource(target, 'token', body);
        expect(answer).toMatchObject({ status: { token: 't' } });
        expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/v1/namespaces/d/serviceaccounts/default/token' });
        expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body);
      },
    ));

  it('gives one page of a list, and says whether there is more', async () => {
    let page: unknown;
    const answer = { items: [secret], metadata: { resourceVersion: '9', continue: 'next', remainingItemCount: 4 } };
    const options = { namespace: 'd', limit: 1, labelSelector: 'a in (b,c)', resourceVersion: '5' } as const;
    const requests = await sent(answer, async (c) => {
      page = await c.list({ ...options, resourceVersionMatch: 'NotOlderThan' });
    });
    expect(page).toEqual({ items: [secret], resourceVersion: '9', continue: 'next', remainingItemCount: 4 });
    const query = 'limit=1&labelSelector=a+in+%28b%2Cc%29&resourceVersion=5&resourceVersionMatch=NotOlderThan';
    expect(requests).toMatchObject([{ request: `GET /api/v1/namespaces/d/secrets?${query}` }]);
  });

  it('takes a list whose items are null for an empty one, as Go writes it', async () => {
    await sent({ items: null, metadata: { resourceVersion: '9', continue: '' } }, async (c) => {
      expect(await c.list()).toEqual({ items: [], resourceVersion: '9', continue: undefined, remainingItemCount: undefined });
    });
  });

  it.each([
    ['an object without a resourceVersion', { metadata: {} }, (c) => c.get({ namespace: 'd', name: 'a' })],
    ['a list without a resourceVersion', { items: [], metadata: {} }, (c) => c.list()],
    ['a list whose items are no objects', { items: [{}], metadata: { resourceVersion: '1' } }, (c) => c.list()],
    ['a list whose items are no list', { items: {}, metadata: { resourceVersion: '1' } }, (c) => c.list()],
  ] as const satisfies [
    string,
    unknown,
    (client: ResourceClient<typeof secret>) => Promise<unknown>,
  ][])('takes %s for a broken answer', async (_, answer, use) => {
    await sent(answer, async (c) => {
      expect(await failureOf(use(c))).toMatchObject({ reason: 'BrokenAnswer' });
    });
  });

  it('tells of every event of a watch until the server ends it', async () => {
    const events: WatchEvent[] = [];
    const lines = [
      { type: 'ADDED', object: secret },
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '8' } } },
    ];
    await using(
      resources.secrets,
      (_request, response) => response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
      async (client, seen) => {
        await client.watch({ fieldSelector: 'metadata.name=a', sendInitialEvents: true, onEvent: (event) => events.push(event) });
        expect(seen[0]?.url).toBe('/api/v1/secrets?fieldSelector=metadata.name%3Da&sendInitialEvents=true&watch=true');
      },
    );
    expect(events).toEqual(lines);
  });

  it.each([
    [
      'an ERROR event',
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
      { status: 410, reason: 'Expired' },
    ],
    ['an unknown event', { type: 'GUESSED', object: secret }, { reason: 'BrokenAnswer' }],
    ['an event without an object', { type: 'ADDED' }, { reason: 'BrokenAnswer' }],
  ])('ends a watch with %s, and quotes none of it', (_, line, expected) =>
    using(
      resources.secrets,
      (_request, response) => response.end(`${JSON.stringify(line)}\n`),
      async (client) => {
        const failure = await failureOf(client.watch({ onEvent: () => {} }));
        expect(failure).toMatchObject(expected);
        expect(String(failure)).not.toContain('dmFsdWU=');
      },
    ));

  it('refuses a name that fits in no path, before it sends anything', async () => {
    const requests = await sent(secret, async (c) => {
      await expect(c.get({ namespace: 'd', name: '' })).rejects.toThrow('`name`');
      await expect(c.get({ name: 'a' })).rejects.toThrow('`namespace`');
      await expect(c.update({ ...secret, metadata: { ...metadata, name: '..' } })).rejects.toThrow('`name`');
    });
    expect(requests).toEqual([]);
  });

  it.each([
    [null],
    [undefined],
    ['text'],
    [7],
    [[]],
  ])('refuses %o for an object, a target, a patch and a selection', async (wrong) => {
    const bad = wrong as unknown as never;
    const target = { namespace: 'd', name: 'a' };
    const requests = await sent(secret, async (c) => {
      for (const [name, refused] of [
        ['object', c.create(bad)],
        ['object', c.update(bad)],
        ['object', c.createSubresource(target, 'token', bad)],
        ['target', c.get(bad)],
        ['target', c.delete(bad)],
        ['target', c.createSubresource(bad, 'token', {})],
        ['target', c.patch(bad, { type: 'application/merge-patch+json', body: {} })],
        ['patch', c.patch(target, bad)],
        ['selection', c.deleteCollection(bad)],
        ['options', c.watch(bad)],
      ] as const) {
        const message = expect.stringContaining(`\`${name}\``);
        expect(await failureOf(refused)).toMatchObject({ code: 'ERR_INVALID_ARGUMENT', message });
      }
    });
    expect(requests).toEqual([]);
  });

  it.each(['resolved', 'rejected'])('takes nothing of a watch that has %s', async (how) => {
    const events: string[] = [];
    let send = (_chunk: Buffer): void => {};
    const transport: ResourceTransport = {
      request: () => Promise.resolve({}),
      stream: ({ onChunk }) => {
        send = onChunk;
        return how === 'resolved' ? Promise.resolve() : Promise.reject(new Error('gone'));
      },
    };
    const watch = new ResourceClient(transport, resources.secrets).watch({ onEvent: ({ type }) => events.push(type) });
    const line = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object: secret })}\n`);
    send(line);
    await Promise.allSettled([watch]);
    send(line);
    expect(events).toEqual(['MODIFIED']);
  });

  it('refuses anything that is no transport', () => {
    expect(() => new ResourceClient({} as ResourceTransport, resources.pods)).toThrow('`transport`');
  });
});

describe('the userAgent of a transport', () => {
  it.each(['', 'a\nb', ' a', 'é', 7])('cannot be %o', (userAgent) => {
    const options = { userAgent: userAgent as string };
    expect(() => new KubeTransport(kubeConfigFor('http://127.0.0.1:1'), options)).toThrow('`userAgent`');
  });
});
