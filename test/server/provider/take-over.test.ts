import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import { type ApiObject, type ApiResource, resources } from '../../../src/client/resources/api-resource.ts';
import { ResourceClient } from '../../../src/client/resources/resource-client.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { recordedLines } from '../../support/recorded-lines.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { ProviderNodeFixture } from './provider-fixture.ts';

let server: TestServer;
let namespace: string;
let transport: KubeTransport;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('take-over');
  transport = new KubeTransport(server.kubeConfig());
});
afterAll(async () => {
  await transport.close();
  await server.stop();
});

/** Every version of the selected objects from now on, as the server's watch shows them. */
async function historyOf<T extends ApiObject>(resource: ApiResource<T>, fieldSelector: string, onVersion: (object: T) => void) {
  const client = new ResourceClient<T>(transport, resource);
  const stop = new AbortController();
  const { resourceVersion } = await client.list({ fieldSelector });
  const onEvent = (event: { readonly type: string; readonly object: unknown }): void => {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') onVersion(event.object as T);
  };
  const done = client.watch({ fieldSelector, resourceVersion, signal: stop.signal, onEvent }).catch(() => {});
  return async (): Promise<void> => {
    stop.abort();
    await done;
  };
}

it('a node that is taken over again and again stays ready, and no status of its pods goes back in time', async () => {
  const { logger, of } = recordedLines();
  const fixture = await ProviderNodeFixture.start(server, namespace, { removeOnStop: false, logger });
  const names = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(names.map((name) => fixture.create(name)));
  await Promise.all(names.map((name) => fixture.ready(name)));
  const nodes = new ResourceClient<WireNode>(transport, resources.nodes);
  const readyOf = ({ status }: WireNode) => status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  await fixture.until('the node is ready', async () => readyOf(await nodes.get({ name: fixture.name })) === 'True');

  const readiness: (string | undefined)[] = [];
  let isMarked = false;
  const endOfNode = await historyOf<WireNode>(resources.nodes, `metadata.name=${fixture.name}`, (node) => {
    readiness.push(readyOf(node));
    isMarked ||= node.metadata?.labels?.marked === 'yes';
  });
  const starts = new Map(
    (await Promise.all(names.map((name) => fixture.ready(name)))).map((pod) => [pod.metadata.name, pod.status.startTime]),
  );
  const strange: unknown[] = [];
  const endOfPods = await historyOf<WirePod>(resources.pods, `spec.nodeName=${fixture.name}`, ({ metadata, status }) => {
    const { phase, startTime, containerStatuses = [] } = status ?? {};
    const isSame = phase === 'Running' && startTime === starts.get(metadata?.name ?? '');
    const runs = containerStatuses.every(({ restartCount, state }) => restartCount === 0 && state?.running);
    if (!isSame || !runs) strange.push({ name: metadata?.name, status });
  });
  for (let i = 0; i < 3; i += 1) await fixture.restart();
  await fixture.until('the node says how it is', async () => fixture.node.snapshot({ pods: false }).ready);
  await fixture.node.statusManager.flush();
  // what the watch has shown before this is all there was
  await nodes.patch(
    { name: fixture.name },
    { type: 'application/merge-patch+json', body: { metadata: { labels: { marked: 'yes' } } } },
  );
  await fixture.until('the watch shows the mark', async () => isMarked);
  await Promise.all([endOfNode(), endOfPods()]);

  expect(readiness.filter((status) => status !== 'True')).toEqual([]);
  expect(strange).toEqual([]);
  expect(fixture.provider.calls).toHaveLength(names.length);
  expect(of('warn', 'error')).toEqual([]);
  await Promise.all(names.map((name) => fixture.delete(name, 1)));
  await Promise.all(names.map((name) => fixture.gone(name)));
  await fixture.node.stop();
  await nodes.delete({ name: fixture.name });
});
