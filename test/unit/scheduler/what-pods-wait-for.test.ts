import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { until } from '../../support/until.ts';
import { all, extenderWorld } from './extenders/extender-world.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

/** A lesser pod on the node n1. */
function lesser(name: string, cpu: string, more: object = {}): WirePod {
  const one = pod(name, cpu, { nodeName: 'n1', priority: 0 } as never);
  return { ...one, metadata: { ...one.metadata, ...more } };
}

const ending = { resourceVersion: '2', deletionTimestamp: '1970-01-01T00:00:00Z' };

describe('a pod that was promised a node', () => {
  it('tells which one, and which pods have yet to end there: who holds each, and what would help', async () => {
    const { scheduler, clock, told } = schedulerWorld();
    scheduler.setNode(node('n1'));
    scheduler.setPod(lesser('held', '2', { finalizers: ['example.com/backup'] }));
    scheduler.setPod(lesser('plain', '2'));
    scheduler.setPod(pod('boss', '4', { priority: 10 }));
    scheduler.start();
    await scheduler.flush();
    expect(told.filter((line) => line.startsWith('delete'))).toHaveLength(2);
    const since = clock.now();
    await clock.advance(12_000);
    const { nominatedNodeName, victims, problem, text } = scheduler.explain('uid-boss');
    expect([nominatedNodeName, problem?.kind]).toEqual(['n1', 'waits-for-victims']);
    const help =
      'See who is to take the finalizer off the pod default/held: as long as it has one, it stays and keeps its place.';
    const reason = 'default/held is held by the finalizer example.com/backup';
    expect(victims.toSorted((one, two) => (one.podName < two.podName ? -1 : 1))).toEqual([
      { podUID: 'uid-held', podNamespace: 'default', podName: 'held', since, reason, help },
      { podUID: 'uid-plain', podNamespace: 'default', podName: 'plain', since, reason: undefined, help: undefined },
    ]);
    expect(text).toContain('It was promised the node n1, where these have yet to end:');
    expect(text).toContain(`- default/held: to end for 12 s; ${reason}.`);
    expect(text).toContain('- default/plain: to end for 12 s.\n');
    expect(text.split(help)).toHaveLength(2);
    scheduler.deletePod('uid-plain');
    expect(scheduler.explain('uid-boss').victims.map(({ podName }) => podName)).toEqual(['held']);
    await scheduler.stop();
  });

  it('tells of the pods that end for it also where another process has chosen them', async () => {
    const { scheduler } = schedulerWorld();
    scheduler.setNode(node('n1'));
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
    scheduler.setPod({ ...lesser('victim', '3', ending), status: { conditions } } as WirePod);
    scheduler.setPod(lesser('other', '1', ending));
    scheduler.setPod({ ...pod('boss', '3', { priority: 10 }), status: { nominatedNodeName: 'n1' } });
    scheduler.start();
    await scheduler.flush();
    const { nominatedNodeName, victims, problem } = scheduler.explain('uid-boss');
    expect([nominatedNodeName, victims.map(({ podName }) => podName)]).toEqual(['n1', ['victim']]);
    expect(problem).toMatchObject({
      kind: 'waits-for-victims',
      message: 'the pod waits until the node n1 has room: default/victim has to end there first',
    });
    await scheduler.stop();
  });

  it('tells of the node alone where it waits for no pod, and of none once it has one', async () => {
    const { scheduler } = schedulerWorld();
    scheduler.setNode(node('n1', '1'));
    scheduler.setPod({ ...pod('web', '2'), status: { nominatedNodeName: 'n1' } });
    expect(scheduler.explain('uid-web')).toMatchObject({ nominatedNodeName: 'n1', victims: [] });
    expect(scheduler.explain('uid-web').text).toContain('It was promised the node n1.');
    scheduler.setNode(node('n1', '2'));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.explain('uid-web')).toMatchObject({ state: 'placed', nominatedNodeName: undefined });
    expect(scheduler.explain('uid-web').text).not.toContain('promised');
    await scheduler.stop();
  });

  it('names ten victims in words, and counts the others', async () => {
    const { scheduler } = schedulerWorld();
    scheduler.setNode(node('n1', '12'));
    for (let index = 0; index < 12; index += 1) scheduler.setPod(lesser(`low${index}`, '1'));
    scheduler.setPod(pod('boss', '12', { priority: 10 }));
    scheduler.start();
    await scheduler.flush();
    const { victims, text } = scheduler.explain('uid-boss');
    expect(victims).toHaveLength(12);
    expect(text.split('\n').filter((line) => line.startsWith('- default/low'))).toHaveLength(10);
    expect(text).toContain('- and 2 more.');
    await scheduler.stop();
  });
});

describe('a pod that waits for an extender', () => {
  async function asked(verb: 'filter' | 'bind') {
    const gate = Promise.withResolvers<void>();
    const slow = (): Promise<object> => gate.promise.then(() => ({}));
    const answers = verb === 'bind' ? { filter: all, bind: slow } : { filter: slow };
    const world = await extenderWorld(answers, { httpTimeout: '30s' });
    world.scheduler.setNode(node('n1'));
    world.scheduler.setPod(pod('web'));
    world.scheduler.start();
    await until(() => world.server.verbs().includes(`${verb} web`));
    const extender = world.server.url.slice(0, -1);
    return { ...world, gate, extender, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
  }

  it('says for which one, for what, since when, and how long that may take; after a second as a note, too', async () => {
    await using world = await asked('filter');
    const { scheduler, clock, extender, gate } = world;
    const since = clock.now();
    await clock.advance(999);
    expect(scheduler.snapshot().notes).toEqual([]);
    await clock.advance(1);
    const { state, askedExtenders, text, problem } = scheduler.explain('uid-web');
    expect(state).toBe('trying');
    expect(askedExtenders).toEqual([{ extender, step: 'filter', since, timeoutMs: 30_000 }]);
    const line = `The extender ${extender} is asked to filter nodes for it: for 1 s its answer has been waited for, and it may take 30 s.`;
    expect(text.split('\n')[1]).toBe(line);
    const message = `the extender ${extender} was asked to filter nodes for the pod and has not answered yet`;
    const help = `See why the extender ${extender} is slow: it has 30 s for its answer, and no other pod is tried meanwhile.`;
    expect(problem).toMatchObject({ kind: 'waits-for-extender', message, since, help });
    expect(scheduler.snapshot().problems).toEqual([problem]);
    expect(scheduler.snapshot().notes[0]).toContain(extender);
    gate.resolve();
    await scheduler.flush();
    expect(scheduler.explain('uid-web').askedExtenders).toEqual([]);
    expect(scheduler.snapshot().problems.map(({ kind }) => kind)).toEqual(['no-node-fits']);
  });

  it('says so of a binding, too', async () => {
    await using world = await asked('bind');
    const { scheduler, clock, extender, gate } = world;
    await clock.advance(2000);
    const { state, askedExtenders, problem } = scheduler.explain('uid-web');
    expect([state, askedExtenders.map(({ step }) => step)]).toEqual(['binding', ['bind']]);
    expect(problem).toMatchObject({
      kind: 'waits-for-extender',
      help: `See why the extender ${extender} is slow: it has 30 s for its answer.`,
    });
    gate.resolve();
    await scheduler.flush();
    expect(scheduler.snapshot().problems).toEqual([]);
  });
});

describe('an extender that fails and is passed over', () => {
  it('is a problem of the scheduler until it does the same again, and none while another process schedules', async () => {
    let works = false;
    const filter = (asked: Parameters<typeof all>[0]): unknown => (works ? all(asked) : 'nonsense');
    await using world = await extenderWorld({ filter, prioritize: () => [] }, { ignorable: true });
    const { scheduler, clock, server } = world;
    const extender = server.url.slice(0, -1);
    for (const name of ['n1', 'n2']) scheduler.setNode(node(name));
    scheduler.start();
    const since = clock.now();
    for (const name of ['a', 'b', 'c']) {
      scheduler.setPod(pod(name));
      await scheduler.flush();
      await clock.advance(5000);
    }
    expect(scheduler.snapshot().problems).toEqual([
      {
        kind: 'extender-passed-over',
        message: `an extender fails and is passed over: The extender ${extender} failed to filter nodes for default/c: its answer is no JSON`,
        ...{ since, attempt: 3 },
        help: `See whether the extender ${extender} runs and answers: until then it has no say in what it fails at.`,
      },
    ]);
    expect(scheduler.snapshot().notes[0]).toMatch(/its answer is no JSON; failed 3 times$/);
    scheduler.suspend();
    expect(scheduler.snapshot().problems).toEqual([]);
    scheduler.resume();
    works = true;
    scheduler.setPod(pod('d'));
    await scheduler.flush();
    expect(scheduler.snapshot()).toMatchObject({ problems: [], notes: [] });
  });
});
