import { expect, it } from 'vitest';
import { BasicPodManager } from '../../../src/pod/basic-pod-manager.ts';
import { ApiServerPodSource } from '../../../src/sources/api-server-pod-source.ts';
import { InMemoryApiServer } from '../../../src/testing/apiserver/in-memory-apiserver.ts';
import { buildPod } from '../../../src/testing/fakes/builders.ts';

it('takes a list of several pages from a server as one list', async () => {
  await using server = await InMemoryApiServer.start();
  const names = Array.from({ length: 1001 }, (_, index) => `pod-${index}`);
  for (const name of names) server.store.put(buildPod({ metadata: { name } }));
  const podManager = new BasicPodManager();
  const source = new ApiServerPodSource({ kubeConfig: server.kubeConfig(), nodeName: 'node-1', podManager });
  await source.start();
  expect(server.countRequests('list')).toBe(3);
  expect(podManager.getPods().map((pod) => pod.metadata?.name)).toEqual(names.sort());
  await source.stop();
});
