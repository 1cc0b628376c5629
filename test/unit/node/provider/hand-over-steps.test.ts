import { describe, expect, it } from 'vitest';
import type { Pod, WireNode } from '../../../../src/api/json/types.ts';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { NodeTakeOver } from '../../../../src/node/provider/node-take-over.ts';
import type { NodePod, PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderHandOver } from '../../../../src/node/provider/provider-hand-over.ts';
import { ProviderMetrics } from '../../../../src/node/provider/provider-metrics.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

const startTime = '2026-01-01T00:00:00Z';
const container = { name: 'app', ready: true, restartCount: 0, image: 'app:1', imageID: '' };

const podOf = (name: string, status: Pod['status'], annotations?: Record<string, string>): Pod => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, ...(annotations !== undefined && { annotations }) },
  spec: { containers: [] },
  status,
});
const begun = podOf('begun', { phase: 'Running', startTime });

/** What is told to the provider and of its pods, in order. */
function world(provider: Partial<PodProvider> = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const adoptions: (readonly NodePod[])[] = [];
  const signals: AbortSignal[] = [];
  const does: { adopts: () => unknown; lists: () => Promise<void> } = { adopts: () => undefined, lists: () => Promise.resolve() };
  const lines = recordedLines();
  const handOver = new ProviderHandOver({
    provider: {
      adopt: async (pods, { signal }) => {
        told.push('adopt');
        adoptions.push(pods);
        signals.push(signal);
        await does.adopts();
      },
      ...provider,
    },
    pods: {
      awaitAdoption: (uids) => void told.push(`await ${[...uids]}`),
      noteAdopted: () => void told.push('adopted'),
      list: () => {
        told.push('list');
        return does.lists();
      },
    },
    notice: (uid) => void told.push(`notice ${uid}`),
    nodeName: 'n1',
    metrics: new ProviderMetrics({ metrics: metricsOption(undefined), clock }),
    clock,
    logger: lines.logger,
  });
  return { clock, told, adoptions, signals, does, lines, handOver };
}

describe('the pods that an earlier run has begun', () => {
  it('are those of the first list that have not ended and of which something may run, by the uids that the provider knows', async () => {
    const { handOver, adoptions } = world();
    handOver.seen([
      begun,
      podOf('of-containers', { containerStatuses: [container] }),
      podOf('of-init-containers', { initContainerStatuses: [container] }),
      podOf('new', { phase: 'Pending', containerStatuses: [], initContainerStatuses: [] }),
      podOf('without', undefined),
      podOf('ended', { phase: 'Failed', startTime }),
      podOf('mirror', { startTime }, { 'kubernetes.io/config.mirror': 'static', 'kubernetes.io/config.source': 'file' }),
    ]);
    // only the first one counts, and no later one is looked at
    handOver.seen([undefined as unknown as Pod]);
    await handOver.begin();
    expect(adoptions.map((pods) => pods.map(({ metadata }) => metadata.uid))).toEqual([
      ['uid-begun', 'uid-of-containers', 'uid-of-init-containers', 'static'],
    ]);
  });

  it('are not known to be there until the provider has adopted them, which is then said at once', async () => {
    const { handOver, told } = world();
    handOver.seen([begun]);
    expect([handOver.isAwaited, handOver.awaitsList]).toEqual([true, false]);
    await handOver.begin();
    expect(told).toEqual(['await uid-begun', 'adopt', 'adopted']);
    expect([handOver.isAwaited, handOver.problem]).toEqual([false, undefined]);
  });

  it('are asked about anew where they were adopted late: the list is made again first, also one that fails', async () => {
    const { handOver, told, does, clock } = world();
    does.adopts = () => Promise.reject(new Error('no'));
    does.lists = () => Promise.reject(new Error('no list'));
    handOver.seen([begun, podOf('other', { startTime })]);
    await handOver.begin();
    expect([handOver.isAwaited, handOver.problem]).toMatchObject([false, { kind: 'adopt', attempt: 1 }]);
    await clock.advance(500);
    expect(handOver.problem?.attempt).toBe(2);
    does.adopts = () => undefined;
    await clock.advance(999);
    expect(told).toEqual(['await uid-begun,uid-other', 'adopt', 'adopt']);
    await clock.advance(1);
    expect(told.slice(3)).toEqual(['adopt', 'list', 'adopted', 'notice uid-begun', 'notice uid-other']);
    expect([handOver.problem, clock.pendingTimers]).toEqual([undefined, 0]);
  });
});

describe('the stop of a hand-over', () => {
  it('ends a call of adopt that is under way, and calls that no failure', async () => {
    const { handOver, does, signals, lines, clock } = world();
    does.adopts = () => new Promise(() => {});
    handOver.seen([begun]);
    const began = handOver.begin();
    await clock.advance(0);
    handOver.stop();
    await began;
    expect([signals.map(({ aborted }) => aborted), handOver.problem, lines.of('error'), clock.pendingTimers]).toEqual([
      [true],
      undefined,
      [],
      0,
    ]);
  });

  it('ends the wait for the next call of adopt', async () => {
    const { handOver, does, told, clock } = world();
    does.adopts = () => Promise.reject(new Error('no'));
    handOver.seen([begun]);
    await handOver.begin();
    handOver.stop();
    await clock.advance(60_000);
    expect([told, clock.pendingTimers]).toEqual([['await uid-begun', 'adopt'], 0]);
  });

  it.each([
    [60_000, 10_000],
    [3000, 3000],
    [0, 1],
  ])('waits for release for %i ms at most, and no longer than ten seconds', async (timeoutMs, limitMs) => {
    const { handOver, clock } = world({ release: () => new Promise(() => {}) });
    let isOver = false;
    const released = handOver.release(timeoutMs).then(() => {
      isOver = true;
    });
    await clock.advance(limitMs - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await released;
    expect(handOver.releaseProblem?.message).toContain(`no answer within ${limitMs} ms`);
  });
});

describe('a node that another process has just left', () => {
  type Conditions = readonly { readonly type: string; readonly status: string }[];

  function node(conditions: Conditions | undefined = [{ type: 'Ready', status: 'True' }]) {
    const clock = new FakeClock();
    let changes = 0;
    const nodeObject = {
      newest: { status: { conditions } } as unknown as WireNode,
      changed: (): void => {
        changes += 1;
      },
    };
    return { clock, nodeObject, took: () => changes, takeOver: new NodeTakeOver({ nodeObject, clock }) };
  }

  it('stays ready from its start until its pods are known', () => {
    const { takeOver, clock } = node();
    expect(takeOver.staysReady).toBe(false);
    takeOver.begin();
    expect(takeOver.staysReady).toBe(true);
    takeOver.end();
    expect([takeOver.staysReady, clock.pendingTimers]).toEqual([false, 0]);
  });

  it('for thirty seconds, and is looked at again then', async () => {
    const { takeOver, clock, took } = node();
    takeOver.begin();
    await clock.advance(29_999);
    expect([takeOver.staysReady, took()]).toEqual([true, 0]);
    await clock.advance(1);
    expect([takeOver.staysReady, took()]).toEqual([false, 1]);
  });

  it.each<[string, Conditions | undefined]>([
    ['was not ready', [{ type: 'Ready', status: 'False' }]],
    ['says something else', [{ type: 'DiskPressure', status: 'True' }]],
    ['says nothing', undefined],
  ])('only where it was ready: one that %s is not', (_, conditions) => {
    const { takeOver, nodeObject } = node([]);
    nodeObject.newest = { status: { conditions } } as unknown as WireNode;
    takeOver.begin();
    expect(takeOver.staysReady).toBe(false);
  });

  it('also where no timer can be had', () => {
    const { takeOver, clock } = node();
    clock.setTimer = () => {
      throw new Error('no timer');
    };
    takeOver.begin();
    expect(takeOver.staysReady).toBe(true);
  });
});
