import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import type { Plugin } from '../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

const waits: Plugin = {
  name: 'My',
  permit: (_state, { name }) => (name === 'first' ? { waitMs: 600_000 } : undefined),
  eventsToRegister: () => [],
};
const withPermit = {
  registry: { ...inTreePlugins(), My: () => waits },
  profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'My' }] } } }],
};

/** A node with room for one pod: the first has it, and the second waits for it. */
async function fullNode(options = {}, holds = false, first: WirePod = pod('first', '4')) {
  const world = schedulerWorld(options, holds);
  const { scheduler, clock, bindings } = world;
  scheduler.setNode(node('n', '4'));
  scheduler.start();
  scheduler.setPod(first);
  await clock.advance(10);
  scheduler.setPod(pod('second', '4'));
  await clock.advance(10);
  expect(scheduler.explain('uid-second').state).toBe('waiting');
  const asked = (): string[] => bindings.map(({ name }) => name);
  return { ...world, asked };
}

describe('a place that is given back', () => {
  it('helps a pod that waits for it where a permit was refused', async () => {
    const { scheduler, clock, asked } = await fullNode(withPermit);
    scheduler.rejectPod('uid-first', 'My', 'no');
    await clock.advance(2000);
    expect(asked()).toEqual(['second']);
    await scheduler.stop();
  });

  it('helps a pod that waits for it where the binding was refused', async () => {
    const { scheduler, clock, bindings, asked } = await fullNode({}, true);
    bindings[0]?.reject(new Error('refused by a webhook'));
    await clock.advance(2000);
    expect(asked()).toContain('second');
    await scheduler.stop();
  });

  it.each(['gone', 'ending'])('helps a pod that waits for it where a pod was %s while it was bound', async (how) => {
    const first = pod('first', '4');
    const { scheduler, clock, asked } = await fullNode({}, true, first);
    if (how === 'gone') scheduler.deletePod('uid-first');
    else scheduler.setPod({ ...first, metadata: { ...first.metadata, deletionTimestamp: '2000-01-01T00:00:00Z' } });
    // at once, whatever becomes of the binding
    expect(scheduler.stats().pods).toBe(0);
    await clock.advance(2000);
    expect(asked()).toEqual(['first', 'second']);
    await scheduler.stop();
  });

  it('helps a pod that waits for it where a bound pod was deleted before any watch told of it', async () => {
    const { scheduler, clock, asked } = await fullNode();
    scheduler.deletePod('uid-first');
    await clock.advance(2000);
    expect(asked()).toEqual(['first', 'second']);
    await scheduler.stop();
  });

  it('is free for good where the pod was deleted in the moment of its binding', async () => {
    const { scheduler, clock, bindings, asked } = await fullNode({}, true);
    bindings[0]?.resolve();
    await Promise.resolve();
    await Promise.resolve();
    scheduler.deletePod('uid-first');
    await clock.advance(2000);
    expect(asked()).toEqual(['first', 'second']);
    expect(scheduler.stats().pods).toBe(1);
    await scheduler.stop();
  });
});

describe('a pod that was promised a node', () => {
  it('lets the others in when it is deleted, also where no status names the node', async () => {
    const { scheduler, clock, bindings } = schedulerWorld();
    scheduler.setNode(node('n', '4'));
    scheduler.setPod(pod('lesser', '4', { nodeName: 'n' }));
    scheduler.setPod(pod('urgent', '4', { priority: 10 }));
    scheduler.start();
    await clock.advance(0);
    scheduler.setPod(pod('third', '1'));
    await clock.advance(0);
    scheduler.setPod(pod('lesser', '2', { nodeName: 'n' }));
    await clock.advance(2000);
    expect(scheduler.explain('uid-third').state).toBe('waiting');
    scheduler.deletePod('uid-urgent');
    await clock.advance(2000);
    expect(bindings.map(({ name }) => name)).toEqual(['third']);
    await scheduler.stop();
  });
});

describe('a pod that was bound', () => {
  const near = {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } } },
      ],
    },
  };
  const db = pod('db');
  const labelled: WirePod = { ...db, metadata: { ...db.metadata, labels: { app: 'db' } } };

  it('helps a pod that wants to be near it, though no watch tells of it', async () => {
    const { scheduler, clock, bindings } = schedulerWorld();
    scheduler.setNode({ ...node('n'), metadata: { name: 'n', labels: { 'kubernetes.io/hostname': 'n' } } });
    scheduler.start();
    scheduler.setPod(pod('web', '1', { affinity: near }));
    await clock.advance(1000);
    scheduler.setPod(labelled);
    await clock.advance(2000);
    expect(bindings.map(({ name }) => name)).toEqual(['db', 'web']);
    expect(scheduler.explain('uid-db').state).toBe('placed');
    await scheduler.stop();
  });

  it('is told once as added: the watch then tells what has changed', async () => {
    const seen: string[] = [];
    const curious: Plugin = {
      name: 'Curious',
      filter: (_state, { name }) => (name === 'web' ? { code: 'Unschedulable', reasons: ['no'] } : undefined),
      eventsToRegister: () => [
        {
          resource: 'Pod',
          actions: ['*'],
          hint: (_pod, before, after) => {
            const [was, is] = [before as WirePod | undefined, after as WirePod | undefined];
            seen.push(`${was?.spec?.nodeName} -> ${is?.spec?.nodeName}`);
            return 'Skip';
          },
        },
      ],
    };
    const { scheduler, clock } = schedulerWorld({
      registry: { ...inTreePlugins(), Curious: () => curious },
      profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'Curious' }] } } }],
    });
    scheduler.setNode(node('n'));
    scheduler.start();
    scheduler.setPod(pod('web'));
    await clock.advance(0);
    scheduler.setPod(labelled);
    await clock.advance(0);
    scheduler.setPod({ ...labelled, spec: { ...labelled.spec, nodeName: 'n' } } as WirePod);
    expect(seen).toEqual(['undefined -> n', 'n -> n']);
    await scheduler.stop();
  });
});
