import { describe, expect, it } from 'vitest';
import { sinkOf } from '../../../../src/scheduler/cluster/cluster-sink.ts';
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
});
