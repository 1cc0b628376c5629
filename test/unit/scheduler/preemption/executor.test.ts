import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import type { SchedulerClient } from '../../../../src/scheduler/framework/scheduler-client.ts';
import type { PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { PreemptionExecutor } from '../../../../src/scheduler/preemption/executor.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { type PodShape, podOf } from './preemption-world.ts';

type Client = Pick<SchedulerClient, 'patchStatus' | 'deletePod' | 'event'>;

interface Parts {
  readonly client?: Partial<Client>;
  readonly nominated?: readonly PodShape[];
  readonly waiting?: readonly string[];
  readonly current?: (pod: PodInfo) => WirePod | undefined;
}

function executorWorld({ client, nominated = [], waiting = [], current = ({ pod }) => pod }: Parts = {}) {
  const clock = new FakeClock();
  const done: string[] = [];
  const lines: string[] = [];
  const recording: Client = {
    async patchStatus({ metadata }, { condition, nominatedNodeName }) {
      done.push(
        `patch ${metadata?.name} ${condition ? `${condition.type}=${condition.status} ${condition.reason}: ${condition.message}` : `"${nominatedNodeName}"`}`,
      );
    },
    async deletePod({ metadata }) {
      done.push(`delete ${metadata?.name}`);
    },
    event: ({ pod, related, type, reason, action, note }) => {
      done.push(`event ${pod.metadata?.name} ${related?.metadata?.name} ${type} ${reason} ${action}: ${note}`);
    },
    ...client,
  };
  const log = (_fields: object, message: string) => void lines.push(message);
  const executor = new PreemptionExecutor({
    client: recording,
    nominated: { onNode: (name) => (name === 'n1' ? nominated.map(podOf) : []) },
    currentPod: current,
    withdraw: ({ name }) => waiting.includes(name),
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
  });
  const stop = new AbortController();
  return {
    executor,
    clock,
    done,
    lines,
    stop,
    execute: (...victims: PodShape[]) =>
      executor.execute(
        { preemptor: podOf({ name: 'new', priority: 10 }), nodeName: 'n1', victims: victims.map(podOf) },
        stop.signal,
      ),
  };
}

const note = 'Preempted by pod u-new on node n1';

describe('the executor of preemption', () => {
  it('says on each victim why it ends, then deletes it, and tells people', async () => {
    const { execute, done } = executorWorld();
    await expect(execute({ name: 'a' })).resolves.toBe(true);
    expect(done).toEqual([
      'patch a DisruptionTarget=True PreemptionByScheduler: s: preempting to accommodate a higher priority pod',
      'delete a',
      `event a new Normal Preempted Preempting: ${note}`,
    ]);
  });

  it('leaves pods to end that are ending already', async () => {
    const { execute, done } = executorWorld();
    await expect(execute({ name: 'a', ending: 'eviction' })).resolves.toBe(true);
    expect(done).toEqual([]);
  });

  it('does not delete a pod that waits and is not being bound yet', async () => {
    const { execute, done } = executorWorld({ waiting: ['a'] });
    await execute({ name: 'a' });
    expect(done).toEqual([`event a new Normal Preempted Preempting: ${note} (in kube-scheduler memory).`]);
  });

  it('takes the node from lesser pods that were promised it, before the victims go', async () => {
    const { execute, done } = executorWorld({
      nominated: [
        { name: 'lesser', priority: 9 },
        { name: 'equal', priority: 10 },
      ],
    });
    await execute({ name: 'a' });
    expect(done.filter((line) => line.startsWith('patch') || line.startsWith('delete')).map((line) => line.slice(0, 14))).toEqual(
      ['patch lesser "', 'patch a Disrup', 'delete a'],
    );
  });

  it('deletes the last victim alone, and preempts until that one is seen to end', async () => {
    const answers = new Map<string, () => void>();
    const ended = new Set<string>();
    const { executor, execute } = executorWorld({
      client: { deletePod: ({ metadata }) => new Promise((resolve) => answers.set(metadata?.name ?? '', resolve)) },
      current: ({ pod, name }) => (ended.has(name) ? undefined : pod),
    });
    const settled = execute({ name: 'a' }, { name: 'b' }, { name: 'c' });
    await drain();
    expect([[...answers.keys()], executor.isPreempting('u-new'), executor.isPreempting('u-other')]).toEqual([
      ['a', 'b'],
      true,
      false,
    ]);
    for (const name of ['a', 'b']) {
      ended.add(name);
      answers.get(name)?.();
    }
    await drain();
    expect([[...answers.keys()], executor.isPreempting('u-new')]).toEqual([['a', 'b', 'c'], true]);
    ended.add('c');
    expect(executor.isPreempting('u-new')).toBe(false);
    answers.get('c')?.();
    await expect(settled).resolves.toBe(true);
    expect(executor.isPreempting('u-new')).toBe(false);
  });

  it.each([
    ['has a time of deletion', (pod: PodInfo) => podOf({ name: pod.name, ending: 'eviction' }).pod],
    [
      'is another pod of the name',
      (pod: PodInfo) => ({ ...pod.pod, metadata: { ...pod.pod.metadata, uid: 'other' } }) as WirePod,
    ],
  ])('counts the last victim as ended when it %s', async (_name, current) => {
    let preempting: boolean | undefined;
    const { executor, execute } = executorWorld({
      current,
      client: {
        deletePod: async () => {
          preempting = executor.isPreempting('u-new');
        },
      },
    });
    await execute({ name: 'a' });
    expect(preempting).toBe(false);
  });

  it('deletes no more than 16 victims at a time', async () => {
    let [now, most] = [0, 0];
    const { execute } = executorWorld({
      client: {
        deletePod: async () => {
          most = Math.max(most, ++now);
          await drain();
          now -= 1;
        },
      },
    });
    const victims = Array.from({ length: 40 }, (_, index) => ({ name: `v${index}` }));
    await expect(execute(...victims)).resolves.toBe(true);
    expect(most).toBe(16);
  });

  it('spares the last victim where another one could not be deleted, and the pod may be tried again', async () => {
    const deleted: (string | undefined)[] = [];
    const { executor, execute, lines } = executorWorld({
      client: {
        deletePod: async ({ metadata }) => {
          deleted.push(metadata?.name);
          if (metadata?.name === 'a') throw new Error('no');
        },
      },
    });
    await expect(execute({ name: 'a' }, { name: 'b' }, { name: 'c' })).resolves.toBe(false);
    expect(deleted).toEqual(['a', 'b']);
    expect(lines).toEqual(['a victim of preemption could not be deleted']);
    expect(executor.isPreempting('u-new')).toBe(false);
  });

  it('gives up a victim whose deletion is never answered, so that the pod is tried again', async () => {
    const { executor, execute, clock, lines } = executorWorld({ client: { deletePod: () => new Promise(() => {}) } });
    const settled = execute({ name: 'a' });
    await clock.advance(119_999);
    expect(executor.isPreempting('u-new')).toBe(true);
    await clock.advance(1);
    await expect(settled).resolves.toBe(false);
    expect([executor.isPreempting('u-new'), lines]).toEqual([false, ['a victim of preemption could not be deleted']]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes no node back in memory once it is given up', async () => {
    const { execute, stop, done } = executorWorld({
      client: { patchStatus: () => new Promise(() => {}) },
      nominated: [{ name: 'lesser', priority: 9 }],
      waiting: ['a'],
    });
    const settled = execute({ name: 'a' });
    stop.abort(new Error('given up'));
    await expect(settled).resolves.toBe(false);
    expect(done).toEqual([]);
  });

  it('begins no other deletion after one has failed', async () => {
    let begun = 0;
    const { execute } = executorWorld({
      client: {
        deletePod: async () => {
          begun += 1;
          throw new Error('no');
        },
      },
    });
    await expect(execute(...Array.from({ length: 40 }, (_, index) => ({ name: `v${index}` })))).resolves.toBe(false);
    expect(begun).toBeLessThanOrEqual(16);
    expect(begun).toBeGreaterThan(0);
  });

  it('deletes no victim that could not be marked', async () => {
    const { execute, done } = executorWorld({
      client: {
        patchStatus: () => {
          throw new Error('no');
        },
      },
    });
    await expect(execute({ name: 'a' })).resolves.toBe(false);
    expect(done).toEqual([]);
  });

  it('goes on where a promise could not be taken back, and has the pod tried again', async () => {
    const { execute, done, lines } = executorWorld({
      nominated: [{ name: 'lesser' }],
      client: {
        patchStatus: async (_pod, { condition }) => {
          if (!condition) throw new Error('no');
        },
      },
    });
    await expect(execute({ name: 'a' })).resolves.toBe(false);
    expect(done[0]).toBe('delete a');
    expect(lines).toEqual(['a lesser pod could not be told that its node is taken']);
  });

  it('ends by the signal although the client never settles, without a line', async () => {
    const { executor, execute, stop, lines } = executorWorld({ client: { deletePod: () => new Promise(() => {}) } });
    const settled = execute({ name: 'a' });
    await drain();
    stop.abort();
    await expect(settled).resolves.toBe(false);
    expect([lines, executor.isPreempting('u-new')]).toEqual([[], false]);
  });

  it('does not fail where people cannot be told', async () => {
    const { execute } = executorWorld({
      client: {
        event: () => {
          throw new Error('no');
        },
      },
    });
    await expect(execute({ name: 'a' })).resolves.toBe(true);
  });
});

async function drain(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

describe('another change than the end of a pod', () => {
  const change = (name: string, done: string[], error?: Error) => ({
    ...{ kind: 'change' as const, what: `${name} could not be changed` },
    change: async () => {
      done.push(name);
      if (error !== undefined) throw error;
    },
  });

  it('is carried out beside others, and one that fails is told of', async () => {
    const { executor, lines, stop } = executorWorld();
    const done: string[] = [];
    const pod = podOf({ name: 'new' });
    expect(await executor.carryOut(pod, [change('a', done), change('b', done)], stop.signal)).toBe(true);
    expect(await executor.carryOut(pod, [change('c', done, new Error('no')), change('d', done)], stop.signal)).toBe(false);
    expect(done).toEqual(['a', 'b', 'c', 'd']);
    expect(lines).toEqual(['what would let a pod fit could not be done']);
  });

  it('is not told of where it was given up', async () => {
    const { executor, lines, stop } = executorWorld();
    const never = { ...change('a', []), change: () => new Promise<void>(() => {}) };
    const work = executor.carryOut(podOf({ name: 'new' }), [never], stop.signal);
    stop.abort(new Error('stopped'));
    expect(await work).toBe(false);
    expect(lines).toEqual([]);
  });
});
