import { describe, expect, it } from 'vitest';
import { inTreePlugins, type Plugin } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

describe('the snapshot of a scheduler', () => {
  it('has no notes where nothing is wrong, is frozen and can be turned into JSON', async () => {
    const { scheduler } = schedulerWorld();
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    scheduler.start();
    await scheduler.flush();
    const snapshot = scheduler.snapshot();
    expect(snapshot).toEqual({
      ...{ at: expect.any(Number), state: 'running', ready: true, counts: scheduler.stats() },
      ...{ problems: [], problemCount: 0, notes: [] },
    });
    for (const part of [snapshot, snapshot.counts, snapshot.problems, snapshot.notes]) expect(Object.isFrozen(part)).toBe(true);
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    await scheduler.stop();
    expect(scheduler.snapshot().notes).toEqual(['the scheduler has stopped']);
  });

  it('lists the problem that has lasted longest first, at most 1000, and counts and groups all of them', async () => {
    const { scheduler, clock } = schedulerWorld();
    scheduler.start();
    for (let index = 0; index < 1200; index++) {
      const gates = index % 2 === 0 ? [{ name: 'g' }] : [];
      scheduler.setPod(pod(`p${index}`, '1', { schedulingGates: gates }));
      if (index === 0) await clock.advance(5000);
    }
    for (let turn = 0; turn < 10; turn++) await clock.advance(0);
    await scheduler.flush();
    const { problems, problemCount, notes } = scheduler.snapshot();
    expect([problems.length, problemCount]).toEqual([1000, 1200]);
    expect(problems.every(({ help }) => help !== undefined)).toBe(true);
    expect(problems[0]).toMatchObject({ podName: 'p0', kind: 'gated', attempt: 0, since: clock.now() - 5000 });
    expect(notes).toEqual([
      'default/p0: the pod is not tried: waiting for scheduling gates: [g] (SchedulingGates) (600 pods have a problem of this kind)',
      expect.stringMatching(
        /^default\/p\d+: no node fits: no nodes available to schedule pods.* \(600 pods have a problem of this kind\)$/,
      ),
    ]);
    await scheduler.stop();
  });

  it('says how often a pod has failed, since when and when it is tried next', async () => {
    let tries = 0;
    const client = {
      bind: async () => {
        tries += 1;
        throw new Error('no link');
      },
    };
    const warnings: { readonly fields: object; readonly message: string }[] = [];
    const warn = (fields: object, message: string): void => void warnings.push({ fields, message });
    const logger = { debug: () => {}, info: () => {}, warn, error: warn };
    const { scheduler, clock } = schedulerWorld({ client, logger });
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    scheduler.start();
    const begun = clock.now();
    await clock.advance(0);
    await clock.advance(3100);
    expect(tries).toBeGreaterThan(1);
    const { problem, nextAttemptAt, text } = scheduler.explain('uid-web');
    expect(problem).toEqual({
      kind: 'client-failed',
      message: 'the pod could not be bound to the node n: no link',
      ...{ since: begun, attempt: tries, retryAt: nextAttemptAt },
      help: 'See why the client of the scheduler fails: its error is in the log.',
      ...{ podUID: 'uid-web', podNamespace: 'default', podName: 'web' },
    });
    expect(text).toContain(`It has failed ${tries === 2 ? 'twice' : `${tries} times`} in a row, for 3.1 s.`);
    expect(scheduler.snapshot().problems).toEqual([problem]);
    expect(warnings).toHaveLength(tries);
    expect(warnings[0]).toMatchObject({
      message: 'a pod could not be placed',
      fields: {
        ...{ podUID: 'uid-web', podNamespace: 'default', podName: 'web' },
        ...{ node: 'n', plugin: 'DefaultBinder', attempt: 1, retryInMs: 1000, help: problem?.help },
      },
    });
    await scheduler.stop();
  });

  it('has a problem for a binding that gets no answer, and none any more once it has', async () => {
    const { scheduler, clock, bindings } = schedulerWorld({}, true);
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    scheduler.start();
    await clock.advance(5000);
    expect(scheduler.snapshot().notes).toEqual([]);
    await clock.advance(5000);
    expect(scheduler.snapshot().problems).toMatchObject([
      {
        kind: 'slow-binding',
        message: 'the binding of the pod to the node n has got no answer yet',
        since: clock.now() - 10_000,
      },
    ]);
    bindings[0]?.resolve();
    await scheduler.flush();
    expect(scheduler.snapshot().notes).toEqual([]);
    await scheduler.stop();
  });

  it('has none of pods while another process may schedule', async () => {
    const { scheduler } = schedulerWorld();
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web', '9'));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.snapshot().problemCount).toBe(1);
    scheduler.suspend();
    expect(scheduler.snapshot()).toMatchObject({ ready: false, problems: [], notes: [] });
    expect(scheduler.explain('uid-web')).toMatchObject({ state: 'waiting', problem: undefined });
    scheduler.resume();
    expect(scheduler.snapshot()).toMatchObject({ ready: true, problemCount: 1 });
    await scheduler.stop();
  });

  it('names the pod at which a plugin failed that has no say any more', async () => {
    const lines: object[] = [];
    const warn = (fields: object, message: string): void => void lines.push({ message, ...fields });
    const logger = { debug: () => {}, info: () => {}, warn, error: warn };
    const Late: Plugin = {
      name: 'Late',
      postBind: () => {
        throw new Error('too late');
      },
    };
    const registry = { ...inTreePlugins(), Late: () => Late };
    const profiles = [{ plugins: { multiPoint: { enabled: [{ name: 'Late' }] } } }];
    const { scheduler } = schedulerWorld({ logger, registry, profiles });
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    scheduler.start();
    await scheduler.flush();
    const names = { podUID: 'uid-web', podNamespace: 'default', podName: 'web' };
    expect(lines).toMatchObject([{ message: 'a plugin of the scheduler failed', plugin: 'Late', ...names }]);
    await scheduler.stop();
  });

  it('keeps what is known of a status that could not be written until it is, or the pod is gone', async () => {
    let isRefusing = true;
    const client = {
      bind: async () => {},
      patchStatus: async () => {
        if (isRefusing) throw new Error('no link');
      },
    };
    const { scheduler, clock } = schedulerWorld({ client });
    scheduler.setNode(node('n', '1'));
    for (const name of ['one', 'two']) scheduler.setPod(pod(name, '9'));
    scheduler.start();
    await clock.advance(0);
    await scheduler.flush();
    const message = (): string | undefined => scheduler.snapshot().problems.find(({ kind }) => kind === 'client-failed')?.message;
    expect(message()).toBe('the status of the pod default/two could not be written: no link (it is so with 1 more pod)');
    scheduler.deletePod('uid-two');
    expect(message()).toBe('the status of the pod default/one could not be written: no link');
    isRefusing = false;
    // a pod that waits is tried again after five minutes in any case
    await clock.advance(330_000);
    await scheduler.flush();
    expect(message()).toBeUndefined();
    await scheduler.stop();
  });
});
