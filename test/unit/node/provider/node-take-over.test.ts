import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod, PodStatus, WireNode, WirePod } from '../../../../src/api/json/types.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import type { NodePod, PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../../src/node/provider/provider-node-options.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { passUntil } from './pass-until.ts';

const nodeName = 'taken';
let server: InMemoryApiServer;
let clock: FakeClock;
beforeEach(async () => {
  server = await InMemoryApiServer.start();
  clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
});
afterEach(() => server.stop());

/** Machines that outlive the process which began them. */
class Machines {
  readonly runs = new Map<string, { readonly pod: Pod; readonly startedAt: string; restarts: number }>();

  provider(): PodProvider {
    return {
      createPod: (pod: NodePod) => {
        const startedAt = new Date(clock.now()).toISOString();
        this.runs.set(pod.metadata.uid, { pod, startedAt, restarts: 0 });
      },
      deletePod: ({ metadata }: NodePod) => void this.runs.delete(metadata.uid),
      getPodStatus: ({ metadata }: NodePod) => this.#status(metadata.uid),
      getPods: () => Array.from(this.runs.values(), ({ pod }) => pod),
    };
  }

  #status(uid: string): PodStatus | undefined {
    const run = this.runs.get(uid);
    if (run === undefined) return undefined;
    const state = { running: { startedAt: run.startedAt } };
    const container = { name: 'app', ready: true, restartCount: run.restarts, image: 'app:1', imageID: '', state };
    return { phase: 'Running', containerStatuses: [container] };
  }
}

const nodeOf = (given: Partial<ProviderNodeOptions>): ProviderNode =>
  new ProviderNode({
    ...{ kubeConfig: server.kubeConfig(), nodeName, clock, logger: null, rawPods: true },
    provider: new Machines().provider(),
    ...given,
  });

/** What the cluster was told of the node being ready, with the message, each time that it was written. */
function readiness(): string[] {
  const told: string[] = [];
  server.objects<WireNode>(resources.nodes).watch(({ object: { status } }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    told.push(`${ready?.status} ${ready?.message}`);
  });
  return told;
}
const isReady = (node: ProviderNode) => () => node.snapshot().ready;
const notHeard = 'False the pod sources have not been heard yet';

async function stopped(node: ProviderNode): Promise<void> {
  let isOver = false;
  void node.stop().then(() => {
    isOver = true;
  });
  await passUntil(clock, () => isOver);
}

/** A process has run the node, which was ready, and has left it. */
async function leaveReadyNode(): Promise<void> {
  const told = readiness();
  const first = nodeOf({});
  await first.start();
  await passUntil(clock, () => told.at(-1)?.startsWith('True ') === true);
  await stopped(first);
  // heartbeats are in whole seconds: the next one is another
  await clock.advance(2000);
}

describe('a node that one process leaves and the next one takes over', () => {
  it('is never called not ready; nobody takes the other for a rival, and no status goes back', async () => {
    const machines = new Machines();
    const { logger, of } = recordedLines();
    const first = nodeOf({ provider: machines.provider(), logger });
    await first.start();
    const uids = ['a', 'b', 'c'].map(
      (name) =>
        server.store.create({ metadata: { name }, spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }] } }).metadata
          ?.uid ?? '',
    );
    const restarted = machines.runs;
    await passUntil(clock, () => uids.every((uid) => restarted.has(uid)));
    for (const run of restarted.values()) run.restarts = 2;
    for (const uid of uids) first.notify(uid);
    const isSettled = ({ status }: WirePod): boolean => status?.containerStatuses?.[0]?.restartCount === 2;
    await passUntil(clock, () => isReady(first)() && server.store.list().every(isSettled));
    await first.statusManager.flush();

    const told = readiness();
    const statuses: string[] = [];
    server.store.watch(({ object }) => void statuses.push(JSON.stringify((object as WirePod).status)));
    const before = server.store.list().map(({ status }) => JSON.stringify(status));
    let last = first;
    for (let i = 0; i < 3; i += 1) {
      await stopped(last);
      await clock.advance(700);
      last = nodeOf({ provider: machines.provider(), logger });
      await last.start();
      await passUntil(clock, isReady(last));
      await clock.advance(15_000);
      await last.statusManager.flush();
    }
    await stopped(last);
    expect(told.length).toBeGreaterThan(0);
    expect(told.filter((one) => !one.startsWith('True '))).toEqual([]);
    expect(statuses.filter((status) => !before.includes(status))).toEqual([]);
    expect(of('warn', 'error')).toEqual([]);
    expect(server.requestsOn('events').length).toBeGreaterThan(0);
    const events = server.objects(resources.events).list() as readonly { readonly reason?: string }[];
    expect(events.map(({ reason }) => reason)).not.toContain('TwoAgents');
  });

  it('stays ready for thirty seconds while its pods cannot be listed, and then is not', async () => {
    await leaveReadyNode();
    const told = readiness();
    server.fail({ resource: 'pods', fault: { kind: 'hang' }, times: 1e9 });
    await using second = nodeOf({});
    void second.start().catch(() => {});
    await passUntil(clock, () => second.snapshot().registered && told.length > 0);
    const begun = clock.elapsed();
    expect(second.snapshot().ready).toBe(false);
    await passUntil(clock, () => told.includes(notHeard));
    expect(clock.elapsed() - begun).toBeGreaterThan(29_000);
    expect(clock.elapsed() - begun).toBeLessThanOrEqual(31_000);
    expect(told.slice(0, -1).filter((one) => !one.startsWith('True '))).toEqual([]);
    server.clearFaults();
    server.dropWatches({ kind: 'reset' });
    await passUntil(clock, isReady(second));
    expect(told.at(-1)).toMatch(/^True /);
  });

  it('is not ready at once where its own readiness says so, and where the cluster has called it not ready', async () => {
    await leaveReadyNode();
    server.fail({ resource: 'pods', fault: { kind: 'hang' }, times: 1e9 });
    const told = readiness();
    const second = nodeOf({ readiness: () => ({ ready: false, message: 'the cloud is away' }) });
    void second.start().catch(() => {});
    await passUntil(clock, () => told.length > 0);
    expect(told).toEqual(['False the cloud is away']);
    await stopped(second);
    const third = nodeOf({});
    void third.start().catch(() => {});
    await passUntil(clock, () => told.length > 1);
    expect(told.slice(1)).toEqual([notHeard]);
    await stopped(third);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that is new is not ready before its pods are listed', async () => {
    const told = readiness();
    server.fail({ resource: 'pods', fault: { kind: 'hang' }, times: 1e9 });
    await using node = nodeOf({});
    void node.start().catch(() => {});
    await passUntil(clock, () => told.length > 0);
    expect(told[0]).toBe(notHeard);
  });
});
