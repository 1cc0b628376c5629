import { describe, expect, it } from 'vitest';
import { Scheduler } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

describe('a scheduler', () => {
  it('binds a pod to a node that has room, and tells of it', async () => {
    const { clock, told, scheduler } = schedulerWorld();
    scheduler.setNode(node('small', '1'));
    scheduler.setNode(node('large', '8'));
    scheduler.setPod(pod('web', '4'));
    scheduler.start();
    await scheduler.flush();
    expect(told).toEqual(['bind web large', 'Scheduled web: Successfully assigned default/web to large']);
    expect(scheduler.stats()).toMatchObject({ bound: 1, failedAttempts: 0, active: 0, binding: 0, nodes: 2, pods: 1 });
    expect(scheduler.explain('uid-web')).toMatchObject({ state: 'placed' });
    scheduler.setPod(pod('web', '4', { nodeName: 'large' }));
    expect(scheduler.explain('uid-web')).toMatchObject({ state: 'placed', text: 'The pod default/web is on the node large.' });
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves alone the pods of other schedulers', async () => {
    const { told, scheduler } = schedulerWorld();
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web', '1', { schedulerName: 'another' }));
    scheduler.start();
    await scheduler.flush();
    expect(told).toEqual([]);
    await scheduler.stop();
  });

  it('says why a pod fits nowhere, and binds it once a node has room', async () => {
    const { told, scheduler } = schedulerWorld();
    scheduler.setNode(node('n', '1'));
    scheduler.setPod(pod('web', '4'));
    scheduler.start();
    await scheduler.flush();
    expect(told[0]).toMatch(/^FailedScheduling web: 0\/1 nodes are available: 1 Insufficient cpu\. /);
    expect(told.slice(1)).toEqual(['status web Unschedulable']);
    const { state, nodes, text } = scheduler.explain('uid-web');
    expect([state, nodes]).toEqual([
      'waiting',
      [{ nodeName: 'n', plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'], mayFitWithoutOtherPods: false }],
    ]);
    expect(text).toContain('Insufficient cpu');
    scheduler.setNode(node('n', '8'));
    await scheduler.flush();
    expect(told.slice(2)).toEqual(['bind web n', 'Scheduled web: Successfully assigned default/web to n']);
    await scheduler.stop();
  });

  it('counts a pod on its node from the moment of its choice', async () => {
    const { clock, told, bindings, scheduler } = schedulerWorld({}, true);
    scheduler.setNode(node('n', '4'));
    for (const name of ['a', 'b']) scheduler.setPod(pod(name, '3'));
    expect([scheduler.scheduleOne(), scheduler.scheduleOne(), scheduler.scheduleOne()]).toEqual([true, true, false]);
    expect(told[0]).toContain('FailedScheduling b: 0/1 nodes are available: 1 Insufficient cpu.');
    await clock.advance(0);
    expect(bindings.map(({ name }) => name)).toEqual(['a']);
    bindings[0]?.resolve();
    await scheduler.flush();
    await scheduler.stop();
  });

  it('gives the place back when a binding fails, and tries the pod again after its back-off', async () => {
    const { clock, told, bindings, scheduler } = schedulerWorld({}, true);
    scheduler.setNode(node('n', '4'));
    scheduler.setPod(pod('web', '4'));
    scheduler.start();
    await clock.advance(0);
    bindings[0]?.reject(new Error('the server is gone'));
    await clock.advance(0);
    expect(told[1]).toContain("FailedScheduling web: The scheduler's plugin DefaultBinder failed in bind: the server is gone");
    expect(told[2]).toBe('status web SchedulerError');
    expect(scheduler.stats()).toMatchObject({ pods: 0, backoff: 1, binding: 0 });
    await clock.advance(999);
    expect(bindings).toHaveLength(1);
    await clock.advance(1001);
    bindings[1]?.resolve();
    await scheduler.flush();
    expect(scheduler.stats()).toMatchObject({ bound: 1, failedAttempts: 1, pods: 1 });
    await scheduler.stop();
  });

  it('ends a binding that never settles', async () => {
    const { clock, bindings, scheduler } = schedulerWorld({ bindTimeoutMs: 5000 }, true);
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    scheduler.start();
    await clock.advance(4999);
    expect(scheduler.stats()).toMatchObject({ binding: 1, pods: 1 });
    await clock.advance(1);
    expect(bindings[0]?.signal.aborted).toBe(true);
    expect(scheduler.stats()).toMatchObject({ binding: 0, pods: 0, failedAttempts: 1 });
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('looks at no further pod while as many bindings are under way as there may be', async () => {
    const { clock, bindings, scheduler } = schedulerWorld({ mostBindings: 2 }, true);
    scheduler.setNode(node('n', '100'));
    for (let i = 0; i < 5; i += 1) scheduler.setPod(pod(`p${i}`));
    scheduler.start();
    await clock.advance(0);
    expect(bindings).toHaveLength(2);
    expect(scheduler.stats()).toMatchObject({ active: 3 });
    bindings[0]?.resolve();
    await clock.advance(0);
    expect(bindings).toHaveLength(3);
    for (let i = 0; i < 5; i += 1) {
      for (const binding of bindings) binding.resolve();
      await clock.advance(0);
    }
    expect(scheduler.stats()).toMatchObject({ bound: 5, active: 0 });
    await scheduler.stop();
  });

  it('gives up its bindings when it is suspended, warns of none of them, and goes on when it is resumed', async () => {
    const warnings: unknown[] = [];
    const warn = (...args: readonly unknown[]) => warnings.push(args);
    const logger = { debug: () => {}, info: () => {}, warn, error: warn };
    const { clock, told, bindings, scheduler } = schedulerWorld({ logger }, true);
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    scheduler.start();
    await clock.advance(0);
    scheduler.suspend();
    expect(bindings[0]?.signal.aborted).toBe(true);
    await clock.advance(0);
    // another scheduler may have the pod by now: nothing is written of it
    expect([told, warnings]).toEqual([['bind web n'], []]);
    expect(scheduler.explain('uid-web')).toMatchObject({
      state: 'backoff',
      text: expect.stringMatching(/failed: the scheduler was suspended\.$/),
    });
    scheduler.setPod(pod('other'));
    await clock.advance(60_000);
    expect(bindings).toHaveLength(1);
    expect(scheduler.scheduleOne()).toBe(false);
    scheduler.resume();
    await clock.advance(0);
    expect(
      bindings
        .slice(1)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['other', 'web']);
    await scheduler.stop();
    expect(bindings.every(({ signal }) => signal.aborted)).toBe(true);
    expect(warnings).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not bind a pod that was deleted meanwhile, and frees its place', async () => {
    const { clock, told, bindings, scheduler } = schedulerWorld({}, true);
    scheduler.setNode(node('n', '4'));
    scheduler.setPod(pod('web', '4'));
    scheduler.start();
    await clock.advance(0);
    scheduler.deletePod('uid-web');
    await clock.advance(0);
    expect(bindings[0]?.signal.aborted).toBe(true);
    expect(told).toEqual(['bind web n']);
    expect(scheduler.stats()).toMatchObject({ pods: 0, active: 0, backoff: 0, unschedulable: 0 });
    await scheduler.stop();
  });

  it('does not write "not scheduled" after the binding', async () => {
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const told: string[] = [];
    const patchStatus = async (): Promise<void> => {
      told.push('status begins');
      await written;
      told.push('status ends');
    };
    const bind = async (): Promise<void> => {
      told.push('bind');
    };
    const { clock, scheduler } = schedulerWorld({ client: { bind, patchStatus } });
    scheduler.setNode(node('n', '1'));
    scheduler.setPod(pod('web', '4'));
    scheduler.start();
    await clock.advance(0);
    scheduler.setNode(node('n', '8'));
    await clock.advance(1000);
    expect(told).toEqual(['status begins']);
    write();
    await scheduler.flush();
    expect(told).toEqual(['status begins', 'status ends', 'bind']);
    await scheduler.stop();
  });

  it('lets a pod wait for a permit', async () => {
    const { clock, told, scheduler } = schedulerWorld({
      profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'Gate' }] } } }],
      registry: { ...(await import('../../../src/scheduler.ts')).inTreePlugins(), Gate: gate },
    });
    scheduler.setNode(node('n'));
    for (const name of ['a', 'b', 'c']) scheduler.setPod(pod(name));
    scheduler.start();
    await clock.advance(0);
    expect([...scheduler.waitingPods()]).toEqual(['a', 'b', 'c'].map((name) => [`uid-${name}`, ['Gate']]));
    expect(scheduler.allowPod('uid-a', 'Gate')).toBe(true);
    expect(scheduler.rejectPod('uid-b', 'Gate', 'not today')).toBe(true);
    await clock.advance(0);
    expect(told.slice(3, 6)).toEqual([
      'bind a n',
      'FailedScheduling b: 0/1 nodes are available: 1 not today.',
      'status b Unschedulable',
    ]);
    await clock.advance(10_000);
    expect(told).toContain(
      'FailedScheduling c: 0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin Gate.',
    );
    expect(scheduler.allowPod('uid-z', 'Gate')).toBe(false);
    await scheduler.stop();
  });

  it('sees what has changed in an object that was changed in place and is given again', async () => {
    const { clock, bindings, scheduler } = schedulerWorld();
    const spec = { unschedulable: true };
    const cordoned = { ...node('n'), spec };
    const gates = [{ name: 'g' }];
    const gated = pod('gated', '1', { schedulingGates: gates });
    scheduler.setNode(cordoned);
    for (const one of [gated, pod('web')]) scheduler.setPod(one);
    scheduler.start();
    await clock.advance(0);
    expect(bindings).toEqual([]);
    spec.unschedulable = false;
    gates.length = 0;
    scheduler.setNode(cordoned);
    scheduler.setPod({ ...gated, metadata: { ...gated.metadata, resourceVersion: '2' } });
    await clock.advance(2000);
    expect(bindings.map(({ name }) => name).sort()).toEqual(['gated', 'web']);
    await scheduler.stop();
  });

  it('keeps nothing of the attempts at a pod that has ended', async () => {
    const { scheduler } = schedulerWorld();
    scheduler.setNode(node('n', '1'));
    const web = pod('web', '4');
    scheduler.setPod(web);
    scheduler.scheduleOne();
    expect(scheduler.explain('uid-web').text).toContain('Its last attempt');
    scheduler.setPod({ ...web, status: { phase: 'Failed' } });
    scheduler.setPod(web);
    expect(scheduler.explain('uid-web').text).not.toContain('Its last attempt');
    await scheduler.stop();
  });

  it('makes room for a more important pod', async () => {
    const { clock, told, scheduler } = schedulerWorld();
    scheduler.setNode(node('n', '4'));
    scheduler.setPod(pod('lesser', '4', { nodeName: 'n' }));
    scheduler.setPod(pod('urgent', '4', { priority: 10 }));
    scheduler.start();
    await clock.advance(0);
    expect(told.filter((line) => !line.startsWith('FailedScheduling'))).toEqual([
      'status urgent Unschedulable n',
      'status lesser PreemptionByScheduler',
      'delete lesser',
      'Preempted lesser: Preempted by pod uid-urgent on node n',
    ]);
    scheduler.deletePod('uid-lesser');
    await clock.advance(2000);
    expect(told.at(-2)).toBe('bind urgent n');
    await scheduler.stop();
  });

  it.each([
    [{}, 'Expected `client` to be an object with bind'],
    [{ client: { bind() {}, event: 1 } }, 'Expected `client.event` to be a function'],
    [{ client: { bind() {} }, mostBindings: 0 }, 'Expected `mostBindings` to be an integer from 1 up'],
    [{ client: { bind() {} }, podMaxBackoffMs: 10 }, 'Expected `podMaxBackoffMs`'],
    [{ client: { bind() {} }, profiles: [] }, 'Expected `profiles`'],
    [{ client: { bind() {} }, profile: {} }, 'Expected `options.profile` to be absent'],
  ])('refuses %j', (options, message) => {
    expect(() => new Scheduler({ ...(options as object) } as never)).toThrow(message);
    expect(() => new Scheduler({ ...(options as object) } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });

  it('starts once, and says in which state it is', async () => {
    const { scheduler } = schedulerWorld();
    expect(scheduler.state).toBe('idle');
    scheduler.start();
    expect(scheduler.state).toBe('running');
    expect(() => scheduler.start()).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_STARTED' }));
    await scheduler.stop();
    expect(scheduler.state).toBe('stopped');
    expect(() => scheduler.scheduleOne()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });
});

const gate = () => ({ name: 'Gate', permit: () => ({ waitMs: 10_000 }) });
