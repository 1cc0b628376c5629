// A test of an agent's own code without a network and without waiting: npx vitest run examples/testing/with-vitest.test.ts
import { buildPod, FakeClock, FakePodClient, PodStore, settle } from 'pod-status-manager/testing';
import { beforeEach, expect, it } from 'vitest';
import { JobAgent } from './job-agent.ts';

const clock = new FakeClock();
let podClient: FakePodClient;
let agent: JobAgent;

beforeEach(() => {
  podClient = new FakePodClient({ store: new PodStore({ clock }) });
  agent = new JobAgent({ podClient, clock, logger: null });
  return () => agent.stop();
});

const makePod = (name: string) =>
  podClient.store.create(
    buildPod({ metadata: { name }, spec: { restartPolicy: 'Never', containers: [{ name: 'job', image: 'job:1' }] } }),
  );
const statusOf = (name: string) => podClient.store.get('default', name).status;

it('says that a job runs, and that it has succeeded', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ended = agent.run(makePod('web'), () => promise);
  await settle();
  expect(statusOf('web')?.phase).toBe('Running');
  resolve();
  await ended;
  await settle();
  expect(statusOf('web')?.phase).toBe('Succeeded');
});

it('says why a job has failed', async () => {
  await agent.run(makePod('web'), () => Promise.reject(new Error('no disk')));
  await settle();
  expect(statusOf('web')).toMatchObject({
    phase: 'Failed',
    containerStatuses: [{ state: { terminated: { exitCode: 1, message: 'Error: no disk' } } }],
  });
});

it('writes a status later that the apiserver refuses at first', async () => {
  podClient.failNext('patch', { code: 503 });
  await agent.run(makePod('web'), async () => {});
  await settle();
  expect(statusOf('web')?.phase).toBe('Pending');
  await clock.advance(10_000); // takes no time
  expect(statusOf('web')?.phase).toBe('Succeeded');
});
