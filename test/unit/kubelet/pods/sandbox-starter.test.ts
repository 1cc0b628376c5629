import { expect, it } from 'vitest';
import { SandboxStarter } from '../../../../src/kubelet/pods/sandbox-starter.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { container, podOf } from './syncer-world.ts';

/** A starter whose sandboxes are made when the test says so. */
function setUp() {
  const clock = new FakeClock();
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const starter = new SandboxStarter({
    clock,
    runtime: {
      runPodSandbox: ({ metadata: { uid } }) => {
        begun.push(uid);
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        ends.set(uid, (error) => (error === undefined ? resolve(uid) : reject(error)));
        return promise;
      },
      podSandboxStatus: async (id) => ({
        ...{ id, state: 'ready', createdAt: 0, metadata: sandboxConfigOf(id).metadata, runtimeHandler: '' },
        ...{ labels: {}, annotations: {}, ips: ['10.0.0.1'] },
      }),
      listPodSandboxes: async () => [],
      stopPodSandbox: async () => {},
      removePodSandbox: async () => {},
    },
    configs: { sandboxConfig: async ({ pod }) => sandboxConfigOf(pod.metadata?.uid ?? '') },
    runtimeHandlerOf: async () => '',
    eventRecorder: { event: () => {} },
  });
  const start = (uid: string, signal = new AbortController().signal, spec = {}) =>
    starter.start(podOf({ containers: [container('app')], ...spec }, { uid }), 0, signal);
  return { clock, begun, ends, start };
}

it('of many sandboxes four begin at once, and the others in their order as these are made', async () => {
  const { begun, ends, start, clock } = setUp();
  const made = ['a', 'b', 'c', 'd', 'e', 'f'].map((uid) => start(uid));
  await settle();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  ends.get('c')?.();
  expect(await made[2]).toMatchObject({ id: 'c', ips: ['10.0.0.1'] });
  await settle();
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  ends.get('a')?.(new Error('no network'));
  await expect(made[0]).rejects.toThrow('Failed to create pod sandbox: no network');
  await settle();
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  for (const end of ends.values()) end();
  await Promise.allSettled(made);
  expect(clock.pendingTimers).toBe(0);
});

it('sandboxes that hang keep others waiting for a second, and are still made', async () => {
  const { begun, ends, start, clock } = setUp();
  const hanging = ['a', 'b', 'c', 'd'].map((uid) => start(uid));
  const other = start('e');
  await clock.advance(999);
  expect(begun).not.toContain('e');
  await clock.advance(1);
  expect(begun).toContain('e');
  for (const end of ends.values()) end();
  expect(await other).toMatchObject({ id: 'e' });
  expect((await Promise.all(hanging)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
});

it('a start that is given up while it waits makes nothing', async () => {
  const { begun, ends, start, clock } = setUp();
  const first = ['a', 'b', 'c', 'd'].map((uid) => start(uid));
  const abort = new AbortController();
  const given = start('e', abort.signal);
  await settle();
  abort.abort(new Error('the pod is deleted'));
  await expect(given).rejects.toThrow('the pod is deleted');
  for (const end of ends.values()) end();
  await Promise.all(first);
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  expect(clock.pendingTimers).toBe(0);
});

it('a start that is given up as its turn comes makes nothing', async () => {
  for (let steps = 0; steps < 30; steps += 1) {
    const { begun, ends, start } = setUp();
    const first = ['a', 'b', 'c', 'd'].map((uid) => start(uid));
    const abort = new AbortController();
    const given = start('e', abort.signal).catch((error: Error) => error.message);
    await settle();
    ends.get('a')?.();
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    const hasBegun = begun.includes('e');
    abort.abort(new Error('the pod is deleted'));
    await settle();
    expect(begun.includes('e')).toBe(hasBegun);
    for (const end of ends.values()) end();
    expect(await given).toBe('the pod is deleted');
    await Promise.all(first);
  }
});

it.each([
  ['a critical pod', { priority: 2_000_000_000 }],
  ['a pod in the network of the node', { hostNetwork: true }],
])('%s waits for no turn: others may not begin without it', async (_, spec) => {
  const { begun, ends, start } = setUp();
  const hanging = ['a', 'b', 'c', 'd'].map((uid) => start(uid));
  await settle();
  const needed = start('e', undefined, spec);
  await settle();
  expect(begun).toContain('e');
  for (const end of ends.values()) end();
  await Promise.all([...hanging, needed]);
});
