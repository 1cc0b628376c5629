import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins, type SchedulerOptions } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

/** Options with one more plugin. */
function withPlugin(methods: Partial<Plugin>): Partial<SchedulerOptions> {
  return {
    registry: { ...inTreePlugins(), My: () => ({ name: 'My', eventsToRegister: () => [], ...methods }) },
    profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'My' }] } } }],
  };
}

const never = new Promise<never>(() => {});

describe('a pod whose node a more important one takes', () => {
  it.each([
    ['waits for a permit', { permit: (_state, { name }) => (name === 'low' ? { waitMs: 600_000 } : undefined) }],
    ['is prepared for its binding', { preBind: async (_state, { name }) => (name === 'low' ? never : undefined) }],
  ] satisfies [string, Partial<Plugin>][])('is not deleted while it %s, and is tried again', async (_what, methods) => {
    const { scheduler, clock, told } = schedulerWorld(withPlugin(methods));
    scheduler.setNode(node('n1'));
    scheduler.start();
    scheduler.setPod(pod('low', '4'));
    await clock.advance(10);
    scheduler.setPod(pod('high', '4', { priority: 10 }));
    await clock.advance(0);
    expect(scheduler.explain('uid-low')).toMatchObject({
      state: 'backoff',
      text: expect.stringContaining('preempted before it was bound'),
    });
    await clock.advance(5000);
    expect(told).toContain('Preempted low: Preempted by pod uid-high on node n1 (in kube-scheduler memory).');
    expect(told).toContain('bind high n1');
    expect(told.filter((line) => line.startsWith('delete'))).toEqual([]);
    scheduler.setNode(node('n2'));
    await clock.advance(10_000);
    expect(scheduler.explain('uid-low').attempts).toBeGreaterThan(1);
    expect(scheduler.explain('uid-low').state).toBe('binding');
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('is deleted once its binding was sent', async () => {
    const { scheduler, clock, told, bindings } = schedulerWorld({}, true);
    scheduler.setNode(node('n1'));
    scheduler.start();
    scheduler.setPod(pod('low', '4'));
    await clock.advance(10);
    scheduler.setPod(pod('high', '4', { priority: 10 }));
    await clock.advance(10);
    expect(told).toContain('delete low');
    expect(bindings[0]?.signal.aborted).toBe(false);
    await scheduler.stop();
  });

  it('waits in no queue for a free place among the bindings', async () => {
    const { scheduler, clock, told, bindings } = schedulerWorld({ mostBindings: 1 }, true);
    scheduler.setNode(node('n1', '8'));
    for (const name of ['first', 'low']) scheduler.setPod(pod(name, '4'));
    expect([scheduler.scheduleOne(), scheduler.scheduleOne()]).toEqual([true, true]);
    await clock.advance(0);
    expect(bindings.map(({ name }) => name)).toEqual(['first']);
    scheduler.deletePod('uid-low');
    await clock.advance(0);
    expect(scheduler.stats()).toMatchObject({ binding: 1, pods: 1 });
    bindings[0]?.resolve();
    await clock.advance(0);
    expect(told).not.toContain('bind low n1');
    await scheduler.stop();
  });
});

describe('a binding that is given up while it waits for a status to be written', () => {
  it('ends at once, and is not sent when the write ends', async () => {
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const bound: string[] = [];
    const client = {
      bind: async ({ metadata }: { readonly metadata?: { readonly name?: string } }) => void bound.push(metadata?.name ?? ''),
      patchStatus: () => written,
    };
    const { clock, scheduler } = schedulerWorld({ client });
    scheduler.setNode(node('n', '1'));
    scheduler.setPod(pod('web', '4'));
    scheduler.start();
    await clock.advance(0);
    scheduler.setNode(node('n', '8'));
    await clock.advance(1000);
    expect(scheduler.stats()).toMatchObject({ binding: 1 });
    scheduler.deletePod('uid-web');
    await clock.advance(0);
    expect(scheduler.stats()).toMatchObject({ binding: 0, pods: 0 });
    write();
    await clock.advance(1000);
    expect(bound).toEqual([]);
    await scheduler.stop();
  });
});

describe('a pod whose victims cannot be deleted', () => {
  it('is tried again at once, then less and less often, and says so', async () => {
    let asked = 0;
    const client = {
      bind: async () => {},
      deletePod: async () => {
        asked += 1;
        throw new Error('not today');
      },
    };
    const { clock, scheduler } = schedulerWorld({ client });
    scheduler.setNode(node('n', '4'));
    scheduler.setPod({ ...pod('low', '4'), spec: { ...pod('low', '4').spec, nodeName: 'n' } } as never);
    scheduler.start();
    scheduler.setPod(pod('high', '4', { priority: 10 }));
    const counts: number[] = [];
    for (const ms of [900, 1000, 2000, 4000, 120_000]) {
      await clock.advance(ms);
      counts.push(asked);
    }
    expect(counts).toEqual([2, 3, 4, 5, 9]);
    expect(scheduler.explain('uid-high').problem).toMatchObject({
      kind: 'client-failed',
      message: 'a pod that is to go so that this one fits could not be deleted: not today',
      podName: 'high',
    });
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});

/** A pod fits only where another one ends, and `deletePod` is how that one is deleted. */
function preemptingWorld(deletePod: () => Promise<void>) {
  const world = schedulerWorld({ client: { bind: async () => {}, deletePod } });
  const { scheduler } = world;
  scheduler.setNode(node('n', '4'));
  scheduler.setPod(pod('low', '4', { nodeName: 'n' }));
  scheduler.start();
  scheduler.setPod(pod('high', '4', { priority: 10 }));
  return world;
}

describe('the wait of a pod whose victims cannot be deleted', () => {
  it('is told as the time of the next try', async () => {
    const tries: number[] = [];
    const { scheduler, clock } = preemptingWorld(async () => {
      tries.push(clock.now());
      throw new Error('not today');
    });
    await clock.advance(1200);
    const { problem } = scheduler.explain('uid-high');
    expect(tries).toHaveLength(3);
    expect(problem?.retryAt).toBeGreaterThan(clock.now());
    await clock.advance((problem?.retryAt ?? 0) - clock.now() - 1);
    expect(tries).toHaveLength(3);
    await clock.advance(1);
    expect([tries.length, tries[3]]).toEqual([4, problem?.retryAt]);
    await scheduler.stop();
  });

  it('ends with the pod', async () => {
    const { scheduler, clock } = preemptingWorld(() => Promise.reject(new Error('not today')));
    await clock.advance(1200);
    const before = clock.pendingTimers;
    scheduler.deletePod('uid-high');
    expect(before - clock.pendingTimers).toBe(1);
    await scheduler.stop();
  });

  it('does not begin where the pod is deleted before the victim is refused', async () => {
    const answers: PromiseWithResolvers<void>[] = [];
    const { scheduler, clock } = preemptingWorld(() => {
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    });
    await clock.advance(0);
    answers[0]?.reject(new Error('not today'));
    await clock.advance(0);
    expect(answers).toHaveLength(2);
    scheduler.deletePod('uid-high');
    const before = clock.pendingTimers;
    answers[1]?.reject(new Error('not today'));
    await clock.advance(0);
    // that of the request has ended, and none has begun
    expect(before - clock.pendingTimers).toBe(1);
    await scheduler.stop();
  });
});

describe('a scheduler that is suspended', () => {
  it('marks and deletes no other victim, and tries the pod again when it is resumed', async () => {
    const asked: string[] = [];
    const client = {
      bind: async () => {},
      patchStatus: async ({ metadata }: { readonly metadata?: { readonly name?: string } }) => {
        if (metadata?.name !== 'high') asked.push(`mark ${metadata?.name}`);
      },
      deletePod: async ({ metadata }: { readonly metadata?: { readonly name?: string } }) => {
        asked.push(`delete ${metadata?.name}`);
        await never;
      },
    };
    const { clock, scheduler } = schedulerWorld({ client });
    scheduler.setNode(node('n'));
    for (const name of ['a', 'b', 'c']) scheduler.setPod(pod(name, '1', { nodeName: 'n' }));
    scheduler.start();
    scheduler.setPod(pod('high', '4', { priority: 10 }));
    await clock.advance(0);
    expect(asked.toSorted()).toEqual(['delete a', 'delete b', 'mark a', 'mark b']);
    scheduler.suspend();
    await clock.advance(60_000);
    expect(asked).toHaveLength(4);
    expect(scheduler.explain('uid-high').state).toBe('ready');
    scheduler.resume();
    await clock.advance(0);
    expect(asked).toHaveLength(8);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('writes nothing of a pod that was preempted right before', async () => {
    const permit: Plugin['permit'] = (_state, { name }) => (name === 'low' ? { waitMs: 600_000 } : undefined);
    const { scheduler, told } = schedulerWorld(withPlugin({ permit }));
    scheduler.setNode(node('n1'));
    scheduler.setPod(pod('low', '4'));
    scheduler.scheduleOne();
    scheduler.setPod(pod('high', '4', { priority: 10 }));
    scheduler.scheduleOne();
    while (scheduler.waitingPods().size > 0) await Promise.resolve();
    scheduler.suspend();
    await scheduler.flush();
    expect(told.filter((line) => line.startsWith('FailedScheduling low'))).toEqual([]);
    expect(scheduler.explain('uid-low').state).toBe('backoff');
    await scheduler.stop();
  });

  it('gives up the statuses that are being written', async () => {
    const signals: AbortSignal[] = [];
    const patchStatus = (_pod: object, _change: object, signal: AbortSignal): Promise<void> => {
      signals.push(signal);
      return never;
    };
    const { clock, scheduler } = schedulerWorld({ client: { bind: async () => {}, patchStatus } });
    scheduler.setNode(node('n', '1'));
    scheduler.setPod(pod('web', '4'));
    scheduler.start();
    await clock.advance(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    scheduler.suspend();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a scheduler whose client deletes no pods', () => {
  it('preempts none, promises no node, and says why', async () => {
    const told: string[] = [];
    const client = {
      bind: async ({ metadata }: { readonly metadata?: { readonly name?: string } }) => void told.push(`bind ${metadata?.name}`),
      event: ({ reason, note }: { readonly reason: string; readonly note: string }) => void told.push(`${reason} ${note}`),
    };
    const { clock, scheduler } = schedulerWorld({ client });
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('low', '3', { nodeName: 'n' }));
    scheduler.start();
    scheduler.setPod(pod('high', '2', { priority: 10 }));
    await clock.advance(1000);
    scheduler.setPod(pod('small', '1'));
    await clock.advance(1000);
    expect(told[0]).toContain('preemption: not possible, because the client of the scheduler has no `deletePod`');
    expect(told.filter((line) => !line.startsWith('FailedScheduling'))).toEqual([
      'bind small',
      'Scheduled Successfully assigned default/small to n',
    ]);
    await scheduler.stop();
  });
});

describe('a pod that is to wait for its node', () => {
  it('is promised it in its status, until it is refused, also before the watch has told of the promise', async () => {
    const permit = (): { readonly waitMs: number } => ({ waitMs: 60_000 });
    const promises: string[] = [];
    const client: SchedulerOptions['client'] = {
      bind: async () => {},
      patchStatus: async ({ status }, { nominatedNodeName }) => {
        promises.push(`"${status?.nominatedNodeName ?? ''}" -> "${nominatedNodeName}"`);
      },
    };
    const { clock, scheduler } = schedulerWorld({ ...withPlugin({ permit }), client });
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    scheduler.start();
    await clock.advance(0);
    expect(promises).toEqual(['"" -> "n"']);
    scheduler.rejectPod('uid-web', 'My', 'no');
    await clock.advance(0);
    expect(promises.slice(1)).toEqual(['"n" -> ""']);
    await scheduler.stop();
  });
});
