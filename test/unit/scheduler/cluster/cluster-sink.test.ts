import { describe, expect, it } from 'vitest';
import { sinkOf } from '../../../../src/scheduler/cluster/cluster-watches.ts';
import { node, pod, schedulerWorld } from '../scheduler-world.ts';

describe('a pod that loses its node because etcd was set back', () => {
  it('is scheduled again, and its place helps others until then', async () => {
    const { clock, bindings, scheduler } = schedulerWorld();
    const sink = sinkOf(scheduler);
    sink.nodeAdded(node('n', '4'));
    scheduler.start();
    const unbound = pod('web', '3');
    const bound = pod('web', '3', { nodeName: 'n' });
    sink.podAdded(unbound);
    await clock.advance(0);
    sink.podUpdated(unbound, bound);
    sink.podAdded(pod('big', '4'));
    await clock.advance(0);
    expect(scheduler.explain('uid-big').state).toBe('waiting');
    // a late copy, as no watch brings it, changes nothing
    scheduler.setPod(unbound);
    expect(scheduler.explain('uid-web').state).toBe('placed');
    sink.podUpdated(bound, unbound);
    expect(scheduler.stats().pods).toBe(0);
    await clock.advance(0);
    expect(bindings.map(({ name }) => name)).toEqual(['web', 'web']);
    await scheduler.stop();
  });

  it('is scheduled again also where no watch had told of its binding, but not for a list that was begun before it', async () => {
    const { clock, bindings, scheduler } = schedulerWorld();
    const sink = sinkOf(scheduler);
    sink.nodeAdded(node('n', '8'));
    scheduler.start();
    const [lost, kept] = [pod('lost', '3'), pod('kept', '3')];
    for (const one of [lost, kept]) sink.podAdded(one);
    await clock.advance(0);
    const listed = new Map([
      ['lost', lost],
      ['kept', pod('kept', '3', { nodeName: 'n' })],
    ]);
    const find = (_namespace: string | undefined, name: string) => listed.get(name);
    sink.podsListed(clock.now() - 1, find);
    expect(scheduler.stats().pods).toBe(2);
    sink.podsListed(clock.now() + 1, find);
    expect(scheduler.stats().pods).toBe(1);
    await clock.advance(0);
    expect(bindings.map(({ name }) => name)).toEqual(['lost', 'kept', 'lost']);
    await scheduler.stop();
  });

  it('is the only one that a list says anything new of', () => {
    const told: string[] = [];
    const unconfirmed = ['lost', 'bound', 'gone', 'anew'].map((name) => pod(name));
    const sink = sinkOf({
      ...{
        setNode: () => {},
        deleteNode: () => {},
        setObject: () => {},
        deleteObject: () => {},
        unconfirmedPods: () => unconfirmed,
      },
      setPod: ({ metadata }) => void told.push(`set ${metadata?.name}`),
      deletePod: (uid) => void told.push(`delete ${uid}`),
    });
    const anew = { ...pod('anew'), metadata: { name: 'anew', namespace: 'default', uid: 'another' } };
    const listed = [pod('lost'), pod('bound', '1', { nodeName: 'n' }), anew];
    sink.podsListed(0, (_namespace, name) => listed.find(({ metadata }) => metadata?.name === name));
    expect(told).toEqual(['delete uid-lost', 'set lost']);
  });
});
