import { expect, it } from 'vitest';
import { ApiServerPodSource } from '../../../../src/node/sources/api-server-pod-source.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { until } from '../../../support/until.ts';

const names = Array.from({ length: 1001 }, (_, index) => `pod-${index}`);

it.each([
  ['takes a list of several pages from a server as one list', false, ['list', 'list', 'list', 'watch']],
  ['takes a streamed list from a server as one list, and watches on by the same request', true, ['watch']],
] as const)('%s', async (_what, streamLists, requests) => {
  await using server = await InMemoryApiServer.start();
  for (const name of names) server.store.put(buildPod({ metadata: { name } }));
  const podManager = new BasicPodManager();
  const source = new ApiServerPodSource({ kubeConfig: server.kubeConfig(), nodeName: 'node-1', podManager, streamLists });
  await source.start();
  expect(podManager.getPods().map((pod) => pod.metadata?.name)).toEqual([...names].sort());
  server.store.put(buildPod({ metadata: { name: 'later' } }));
  await until(() => podManager.getPodByName('default', 'later') !== undefined);
  expect(server.requests.map(({ verb }) => verb)).toEqual(requests);
  await source.stop();
});
