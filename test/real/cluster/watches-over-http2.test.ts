import { setTimeout as delay } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { KubeTransport } from '../../../src/index.ts';
import { ResourceClient, resources } from '../../../src/reflector.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { ControlPlane } from '../../support/control-plane/control-plane.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';

const count = 250;

let admin: AdminClient;
let kubeConfig: KubeConfig;
let namespace: string;

beforeAll(async () => {
  kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(kubeConfig);
  namespace = await admin.createNamespace('http2');
});
afterAll(() => admin.close());

async function createSecrets(): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const body = { metadata: { name: `secret-${i}` }, stringData: { key: `value-${i}` } };
    expect((await admin.send('POST', `/api/v1/namespaces/${namespace}/secrets`, { body })).status).toBe(201);
  }
}

async function eventually(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 600 && !condition(); i += 1) await delay(50);
  expect(condition()).toBe(true);
}

describe('Watches of a real apiserver', () => {
  it('of 250 secrets are readable, told of changes and ended over three connections', async () => {
    await createSecrets();
    await using relay = await TcpRelay.start(kubeConfig);
    await using transport = new KubeTransport(relay.through(kubeConfig));
    const client = new ResourceClient(transport, resources.secrets);
    const [added, changed, stops] = [new Set<string>(), new Set<string>(), new Map<string, AbortController>()];
    const endings = Array.from({ length: count }, (_, i) => {
      const name = `secret-${i}`;
      const stop = new AbortController();
      stops.set(name, stop);
      return client
        .watch({
          namespace,
          fieldSelector: `metadata.name=${name}`,
          sendInitialEvents: true,
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: true,
          idleTimeoutMs: 60_000,
          signal: stop.signal,
          onEvent: ({ type, object }) => {
            if (type === 'ADDED' && object.metadata?.name === name) added.add(name);
            if (type === 'MODIFIED') changed.add(name);
          },
        })
        .then(
          () => 'ended',
          (error: { reason?: string }) => error.reason,
        );
    });
    await eventually(() => added.size === count);
    expect(relay.connections).toBe(3);

    // one that is given up leaves the others of its connection alone
    stops.get('secret-0')?.abort();
    expect(await endings[0]).toBe('Aborted');
    for (const name of ['secret-0', 'secret-1', `secret-${count - 1}`]) {
      const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
      const headers = { 'content-type': 'application/merge-patch+json' };
      expect((await admin.send('PATCH', path, { body: { metadata: { labels: { changed: 'yes' } } }, headers })).status).toBe(200);
    }
    await eventually(() => changed.size === 2);
    expect([...changed].sort()).toEqual(['secret-1', `secret-${count - 1}`]);
    expect(relay.connections).toBe(3);

    await transport.close();
    expect(new Set(await Promise.all(endings.slice(1)))).toEqual(new Set(['Aborted']));
    await eventually(() => relay.connections === 0);
  });

  it('come to an end that the reader is told of when the server goes down', async () => {
    await using controlPlane = await ControlPlane.start();
    await using transport = new KubeTransport(controlPlane.kubeConfig());
    const client = new ResourceClient(transport, resources.namespaces);
    const watch = (onEvent: () => void): Promise<string | undefined> =>
      client.watch({ idleTimeoutMs: 60_000, signal: new AbortController().signal, onEvent }).then(
        () => 'ended',
        (error: { reason?: string }) => error.reason,
      );
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      let heard = 0;
      const endings = Array.from({ length: 5 }, () =>
        watch(() => {
          heard += 1;
        }),
      );
      await eventually(() => heard >= 5);
      await controlPlane.restartApiServer({ signal });
      for (const ending of await Promise.all(endings)) expect(['ended', 'Network']).toContain(ending);
    }
  });
});
