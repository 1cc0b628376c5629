import { describe, expect, it } from 'vitest';
import type { PodClient } from '../../../src/client/resources/kube-pod-client.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient } from '../../../src/testing/fakes/fake-pod-client.ts';
import { deleting, settle, testPod } from './status-harness.ts';

// Calls stop({ drainTimeoutMs: 0 }) after each number of microtasks within a pod's whole sync: GET, PATCH, conflict and
// DELETE. Wherever the stop comes, nothing is left and nothing more is sent.

const longEnough = 200;

interface Scene {
  readonly manager: StatusManager;
  readonly client: FakePodClient;
  readonly clock: FakeClock;
  readonly open: () => number;
}

/** Counts the requests without an answer. */
function counted(client: FakePodClient): { podClient: PodClient; open: () => number } {
  let open = 0;
  const count = async <T>(request: Promise<T>): Promise<T> => {
    open++;
    try {
      return await request;
    } finally {
      open--;
    }
  };
  const podClient: PodClient = {
    getPod: (...args) => count(client.getPod(...args)),
    patchPodStatus: (...args) => count(client.patchPodStatus(...args)),
    deletePod: (...args) => count(client.deletePod(...args)),
  };
  return { podClient, open: () => open };
}

function begin(script: (client: FakePodClient) => void, limited: boolean): Scene {
  const clock = new FakeClock();
  const client = new FakePodClient();
  const podManager = new BasicPodManager();
  const pod = testPod({ metadata: deleting });
  client.store.put(pod);
  podManager.addPod(pod);
  script(client);
  const { podClient, open } = counted(client);
  const manager = new StatusManager({
    logger: null,
    podClient,
    podManager,
    podDeletionSafety: { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true },
    clock,
    random: () => 0.5,
    fetchBeforePatch: 'always',
    ...(limited && { rateLimiter: { qps: 1, burst: 1 } }),
  });
  manager.start();
  manager.setPodStatus(pod, { phase: 'Failed', message: 'm' });
  manager.terminatePod(pod);
  return { manager, client, clock, open };
}

async function microtasks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await undefined;
}

const scripts: Readonly<Record<string, (client: FakePodClient) => void>> = {
  'everything answered': () => {},
  'a conflict': (client) => client.failNext('patch', { code: 409 }),
  'the DELETE refused': (client) => client.failNext('delete', { code: 409 }),
  'the credentials refused once': (client) => client.failNext('patch', { code: 401 }),
  'the server failing': (client) => client.failNext('patch', { code: 500 }),
  'the client told to wait': (client) => client.failNext('get', { code: 429, retryAfterMs: 5000 }),
  'a GET that hangs': (client) => client.hold('get'),
  'a PATCH that hangs': (client) => client.hold('patch'),
  'a DELETE that hangs': (client) => client.hold('delete'),
};
const cases = Object.keys(scripts).flatMap((name) => [false, true].map((limited) => ({ name, limited })));

describe('StatusManager.stop, at every await of a sync', () => {
  it.each(cases)('with $name, rate limit $limited', async ({ name, limited }) => {
    const ends = new Set<string>();
    for (let ticks = 0; ticks < longEnough; ticks++) {
      const { manager, client, clock, open } = begin(scripts[name] ?? (() => {}), limited);
      await microtasks(ticks);
      const stopped = manager.stop({ drainTimeoutMs: 0 });
      await stopped;
      const sent = client.actions.length;
      const left = { state: manager.state, timers: clock.pendingTimers, requests: open(), held: client.heldRequests };
      expect(left, `after ${ticks} microtasks`).toEqual({ state: 'stopped', timers: 0, requests: 0, held: 0 });
      client.release();
      await clock.advance(60_000);
      await settle();
      expect(client.actions.length, `requests after a stop at microtask ${ticks}`).toBe(sent);
      ends.add(client.verbs().join(' '));
    }
    // the stop came before the first request, and also at other places
    expect(ends).toContain('');
    expect(ends.size).toBeGreaterThan(1);
  });
});
