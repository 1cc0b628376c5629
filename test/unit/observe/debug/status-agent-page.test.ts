import { afterEach, beforeEach, expect, it } from 'vitest';
import { PodStatusAgent } from '../../../../src/node/status-agent/pod-status-agent.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { DebugHarness } from './debug-harness.ts';

let server: InMemoryApiServer;
beforeEach(async () => {
  server = await InMemoryApiServer.start();
});
afterEach(() => server.stop());

it('a status agent that may not list its pods has that at the top of its page, and no word of a Node object', async () => {
  for (const verb of ['list', 'watch'] as const)
    server.fail({ verb, resource: 'pods', fault: { kind: 'status', code: 403 }, times: 1 });
  const clock = new FakeClock();
  const runtimeCache = { hasSynced: () => true, getContainers: () => [] };
  await using agent = new PodStatusAgent({
    kubeConfig: server.kubeConfig(),
    nodeName: 'n1',
    runtimeCache,
    clock,
    logger: null,
  });
  await using debug = await DebugHarness.start({ manager: agent.statusManager, node: agent, clock });
  const started = agent.start();
  await until(() => agent.podSource.lastFailure() !== undefined);
  const lines = (await debug.ask('/')).body.split('\n');
  expect(lines[0]).toBe('trouble    ! 1 problem of the node');
  expect(lines[1]).toMatch(/^note {7}the source "api" has not sent its pods: /);
  expect(lines).toContain('node       n1 running, its pods are not listed');
  expect((await debug.ask('/node')).body.split('\n')[1]).toMatch(/^trouble +! the source "api" has not sent its pods: /);
  expect((await debug.snapshot()).summary.node).not.toHaveProperty('registered');
  await clock.advance(60_000);
  await started;
  const healed = (await debug.ask('/')).body.split('\n');
  expect([healed[0], healed.find((line) => line.startsWith('node'))]).toEqual([
    'trouble    none',
    'node       n1 running, its pods are listed',
  ]);
});

it('a status agent whose server is gone says as of when its pods are listed', async () => {
  const clock = new FakeClock();
  const runtimeCache = { hasSynced: () => true, getContainers: () => [] };
  const options = { kubeConfig: server.kubeConfig(), nodeName: 'n1', runtimeCache, clock, logger: null };
  await using agent = new PodStatusAgent(options);
  await using debug = await DebugHarness.start({ manager: agent.statusManager, node: agent, clock });
  await agent.start();
  await server.stop();
  await until(() => agent.podSource.lastFailure() !== undefined);
  const { lastObservedAt } = agent.snapshot();
  expect(lastObservedAt).toBe(agent.podSource.lastObservedAt());
  const { body } = await debug.ask('/');
  expect(body).toMatch(/^note {7}the source "api" cannot be read: /m);
  expect(body).toMatch(/^node {7}n1 running, its pods are listed as the server had them \S+ \w+ ago$/m);
});

it('a pod of a status agent whose status nobody has set has a row of its own', async () => {
  const pod = server.store.create({
    metadata: { name: 'web' },
    spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'i' }] },
  });
  const runtimeCache = { hasSynced: () => true, getContainers: () => [] };
  await using agent = new PodStatusAgent({ kubeConfig: server.kubeConfig(), nodeName: 'n1', runtimeCache, logger: null });
  await using debug = await DebugHarness.start({ manager: agent.statusManager, node: agent });
  await agent.start();
  const page = (await debug.ask('/')).body;
  expect(page).toMatch(/^pods +1: unknown 1$/m);
  expect(page).toMatch(/^default +web +- +no +0 +unknown /m);
  expect((await debug.ask(`/pods/${pod.metadata?.uid}`)).body).toContain('default/web');
});
