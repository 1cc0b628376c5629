// A test of an agent's own code over HTTP, against an apiserver in memory: node --test examples/testing/with-node-test.ts
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { KubePodClient } from 'pod-status-manager';
import { buildPod, InMemoryApiServer } from 'pod-status-manager/testing';
import { JobAgent } from './job-agent.ts';

let server: InMemoryApiServer;
before(async () => {
  server = await InMemoryApiServer.start();
});
after(() => server.stop());

const job = { restartPolicy: 'Never', containers: [{ name: 'job', image: 'job:1' }] };

test('the apiserver says that a job has succeeded', async () => {
  await using podClient = KubePodClient.fromKubeConfig(server.kubeConfig());
  const agent = new JobAgent({ podClient });
  await agent.run(server.store.create(buildPod({ metadata: { name: 'good' }, spec: job })), async () => {});
  await agent.stop();
  assert.equal(server.store.get('default', 'good').status?.phase, 'Succeeded');
});

test('a status arrives although the apiserver refuses the first write', async () => {
  await using podClient = KubePodClient.fromKubeConfig(server.kubeConfig());
  const agent = new JobAgent({ podClient });
  server.fail({ verb: 'patch', times: 1, fault: { kind: 'status', code: 503 } });
  const pod = server.store.create(buildPod({ metadata: { name: 'bad' }, spec: job }));
  await agent.run(pod, () => Promise.reject(new Error('no disk')));
  await agent.stop();
  assert.equal(server.store.get('default', 'bad').status?.phase, 'Failed');
  assert.ok(server.countRequests('patch') >= 2);
});
