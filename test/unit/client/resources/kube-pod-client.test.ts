import { describe, expect, it } from 'vitest';
import { classifyApiError } from '../../../../src/client/resources/error-class.ts';
import {
  KubePodClient,
  type KubePodClientOptions,
  type RequestOptions,
} from '../../../../src/client/resources/kube-pod-client.ts';
import type { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor, type Script, scriptedServer, sendJson } from '../transport/scripted-server.ts';

const { signal } = new AbortController();
const metadata = { name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '7' };
const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const patch = { type: 'application/strategic-merge-patch+json', body: { status: { phase: 'Running' } } } as const;
const deletion = { gracePeriodSeconds: 0, uid: 'u1', signal };

async function using(
  script: Script,
  use: (client: KubePodClient, seen: { [key: string]: unknown }[]) => Promise<void>,
): Promise<void> {
  await using server = await scriptedServer(script);
  await using client = KubePodClient.fromKubeConfig(kubeConfigFor(server.url));
  await use(client, server.seen as unknown as { [key: string]: unknown }[]);
}

describe('KubePodClient', () => {
  it('reads one pod', () =>
    using(
      (_request, response) => sendJson(response, { metadata, spec: { containers: [] } }),
      async (client, seen) => {
        expect(await client.getPod('default', 'web', { signal })).toEqual({ metadata, spec: { containers: [] } });
        expect(seen).toMatchObject([{ method: 'GET', url: '/api/v1/namespaces/default/pods/web', body: '' }]);
      },
    ));

  it('patches the status subresource and asks for the metadata alone', () =>
    using(
      (_request, response) =>
        sendJson(response, {
          kind: 'PartialObjectMetadata',
          metadata: { ...metadata, deletionTimestamp: 't', finalizers: ['f'] },
        }),
      async (client, seen) => {
        const answer = await client.patchPodStatus('default', 'web', patch, { signal });
        expect(answer).toEqual({ uid: 'u1', resourceVersion: '7', deletionTimestamp: 't', finalizers: ['f'] });
        expect(seen).toMatchObject([
          {
            method: 'PATCH',
            url: '/api/v1/namespaces/default/pods/web/status',
            headers: { accept: metadataOnly, 'content-type': 'application/strategic-merge-patch+json' },
            body: '{"status":{"phase":"Running"}}',
          },
        ]);
      },
    ));

  it('sends a JSON Patch as what it is', () =>
    using(
      (_request, response) => sendJson(response, { metadata }),
      async (client, seen) => {
        const body = [{ op: 'test', path: '/metadata/uid', value: 'u1' }];
        await client.patchPodStatus('default', 'web', { type: 'application/json-patch+json', body }, { signal });
        expect(seen).toMatchObject([{ headers: { 'content-type': 'application/json-patch+json' }, body: JSON.stringify(body) }]);
      },
    ));

  it('deletes with the grace period and the uid as a precondition', () =>
    using(
      (_request, response) => sendJson(response, { metadata }),
      async (client, seen) => {
        expect(await client.deletePod('default', 'web', deletion)).toEqual({ uid: 'u1', resourceVersion: '7' });
        expect(seen).toMatchObject([
          {
            method: 'DELETE',
            url: '/api/v1/namespaces/default/pods/web',
            headers: { accept: metadataOnly, 'content-type': 'application/json' },
          },
        ]);
        expect(JSON.parse(String(seen[0]?.body))).toEqual({
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          gracePeriodSeconds: 0,
          preconditions: { uid: 'u1' },
        });
      },
    ));

  it('knows no metadata where a DELETE is answered with a Status', () =>
    using(
      (_request, response) => sendJson(response, { kind: 'Status', status: 'Success', metadata: {} }),
      async (client) => expect(await client.deletePod('default', 'web', deletion)).toBeUndefined(),
    ));

  it('takes an object without uid and resourceVersion for a broken answer', () =>
    using(
      (_request, response) => sendJson(response, { kind: 'Status', metadata: { uid: 'u1' } }),
      async (client) => {
        const errors = [
          await failureOf(client.getPod('default', 'web', { signal })),
          await failureOf(client.patchPodStatus('default', 'web', patch, { signal })),
        ];
        expect(errors.map(classifyApiError)).toEqual(['broken-answer', 'broken-answer']);
      },
    ));

  it.each(['', '.', '..', 'a/b', 'a%2Fb', '../../nodes', '\ud800'])('sends nothing for the name %j', (name) =>
    using(
      (_request, response) => sendJson(response, { metadata }),
      async (client, seen) => {
        const refused = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' });
        expect(await failureOf(client.getPod('default', name, { signal }))).toEqual(refused);
        expect(await failureOf(client.patchPodStatus(name, 'web', patch, { signal }))).toEqual(refused);
        expect(await failureOf(client.deletePod('default', name, deletion))).toEqual(refused);
        expect(seen).toEqual([]);
      },
    ));

  it.each([
    ['getPod', (client: KubePodClient, options: RequestOptions) => client.getPod('default', 'web', options)],
    [
      'patchPodStatus',
      (client: KubePodClient, options: RequestOptions) => client.patchPodStatus('default', 'web', patch, options),
    ],
    [
      'deletePod',
      (client: KubePodClient, options: RequestOptions) => client.deletePod('default', 'web', { ...deletion, ...options }),
    ],
  ])('waits in %s as long as the caller says, and not as long as its own limit', async (_method, call) => {
    await using server = await scriptedServer(() => {});
    const clock = new FakeClock();
    await using client = KubePodClient.fromKubeConfig(kubeConfigFor(server.url), { clock, requestTimeoutMs: 1000 });
    const failure = failureOf(call(client, { signal, timeoutMs: 30_000 }));
    await until(() => server.seen.length === 1);
    await clock.advance(29_999);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(await failure).toMatchObject({ reason: 'Timeout', message: expect.stringContaining('no answer within 30000 ms') });
  });

  it('encodes what else a name may hold', () =>
    using(
      (_request, response) => sendJson(response, { metadata }),
      async (client, seen) => {
        await client.getPod('a b', 'web?x=1#é', { signal });
        expect(seen).toMatchObject([{ url: '/api/v1/namespaces/a%20b/pods/web%3Fx%3D1%23%C3%A9' }]);
      },
    ));

  it.each([undefined, null, {}])('refuses %j in place of a transport', (transport) => {
    expect(() => new KubePodClient(transport as unknown as KubeTransport)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });

  it('refuses an option that it does not know, by its name', () => {
    const options = { requestTimeout: 5 } as KubePodClientOptions;
    expect(() => KubePodClient.fromKubeConfig(kubeConfigFor('https://127.0.0.1'), options)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('Expected `options.requestTimeout` to be absent') }),
    );
  });

  it('ends its sockets when it is disposed of', async () => {
    await using server = await scriptedServer((_request, response) => sendJson(response, { metadata }));
    {
      await using client = KubePodClient.fromKubeConfig(kubeConfigFor(server.url), { connections: 2 });
      await client.getPod('default', 'web', { signal });
      expect(server.connections.open.size).toBe(1);
    }
    await until(() => server.connections.open.size === 0);
  });
});
