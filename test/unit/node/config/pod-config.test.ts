import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { PodConfig, type PodSource, type SendPods } from '../../../../src/node.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { podNamed, taken, takenUpdates } from './config-pods.ts';

function recordedLogs() {
  const lines: string[] = [];
  const log = (_fields: object, message: string): void => void lines.push(message);
  return { lines, logger: { debug: log, info: log, warn: log, error: log } };
}

describe('PodConfig', () => {
  it('tells the changes between full lists, each in its own operation and in order', async () => {
    const config = new PodConfig();
    const send = config.channel('api');
    send([podNamed('a'), podNamed('b'), podNamed('c'), podNamed('d')]);
    expect(await taken(config)).toEqual(['api ADD a b c d']);
    send([
      podNamed('a', { phase: 'Running' }),
      podNamed('b', { image: 'app:2' }),
      podNamed('c', { metadata: { deletionTimestamp: '2000-01-01T00:00:00Z' } as never }),
      podNamed('e'),
    ]);
    expect(await taken(config)).toEqual(['api REMOVE d', 'api ADD e', 'api UPDATE b', 'api DELETE c', 'api RECONCILE a']);
  });

  it('has nothing to sync after a status that the agent wrote itself', async () => {
    const config = new PodConfig();
    const send = config.channel('api');
    send([podNamed('a')]);
    await taken(config);
    send([podNamed('a', { phase: 'Running', metadata: { resourceVersion: '2', managedFields: [] } })]);
    const [update, ...others] = await takenUpdates(config);
    expect([update?.op, others]).toEqual(['RECONCILE', []]);
    expect(update?.pods[0]).toMatchObject({ status: { phase: 'Running' }, metadata: { resourceVersion: '2' } });
  });

  it.each([
    ['latest', { resourceVersion: '2', finalizers: ['x/y'], generation: 2 }],
    ['firstSeen', { resourceVersion: '1', generation: 2 }],
  ] as const)('gives a changed pod the metadata of option %s, under its first name', async (metadata, expected) => {
    const config = new PodConfig({ metadata, clock: new FakeClock() });
    const send = config.channel('file');
    send([podNamed('a', { uid: 'u', metadata: { resourceVersion: '1', labels: { gone: 'x' } } })]);
    const changed = {
      resourceVersion: '2',
      generation: 2,
      finalizers: ['x/y'],
      annotations: { 'kubernetes.io/config.seen': 'x' },
    };
    send([podNamed('b', { uid: 'u', image: 'app:2', metadata: changed })]);
    const updates = await takenUpdates(config);
    const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.seen': '2000-01-01T00:00:00.000000000Z' };
    expect(updates.map(({ op }) => op)).toEqual(['ADD', 'UPDATE']);
    expect(updates[1]?.pods[0]?.metadata).toEqual({ name: 'a', namespace: 'default', uid: 'u', annotations, ...expected });
  });

  it('changes no pod that it was given, and none that it has handed out', async () => {
    const config = new PodConfig();
    const send = config.channel('file');
    const given = podNamed('a');
    send([given]);
    expect(given).toEqual(podNamed('a'));
    const [added] = await takenUpdates(config);
    const before = structuredClone(added);
    send([podNamed('a', { image: 'app:2', phase: 'Running' })]);
    await taken(config);
    send([podNamed('a', { image: 'app:2', phase: 'Failed' })]);
    await taken(config);
    expect(added).toEqual(before);
  });

  it('takes the same object again for the same pod', async () => {
    const config = new PodConfig();
    const send = config.channel('file');
    let reads = 0;
    const pod = podNamed('a');
    const watched: Pod = {
      ...pod,
      get spec() {
        reads += 1;
        return pod.spec;
      },
    };
    send([watched]);
    const before = reads;
    send([watched]);
    expect([await taken(config), reads]).toEqual([['file ADD a'], before]);
    send([podNamed('a', { image: 'app:2' })]);
    send([watched]);
    const compared = reads;
    send([watched]);
    expect([await taken(config), reads > before, reads]).toEqual([['file UPDATE a', 'file UPDATE a'], true, compared]);
  });

  it('knows an object that is sent again by the name that it has', async () => {
    const config = new PodConfig();
    const send = config.channel('file');
    send([podNamed('a', { uid: 'u' })]);
    const renamed = podNamed('b', { uid: 'u' });
    send([renamed]);
    send([renamed, podNamed('a', { uid: 'other' })]);
    expect(await taken(config)).toEqual(['file ADD a', 'file ADD a']);
  });

  it('removes a pod with the metadata that it had last', async () => {
    const config = new PodConfig();
    const send = config.channel('api');
    send([podNamed('a', { metadata: { resourceVersion: '1' } })]);
    send([podNamed('a', { metadata: { resourceVersion: '2' } })]);
    send([]);
    const [, removed] = await takenUpdates(config);
    expect(removed).toMatchObject({ op: 'REMOVE', pods: [{ metadata: { resourceVersion: '2' } }] });
  });

  it('reads a Date as the time that it is in JSON, and takes null and empty labels for none', async () => {
    const config = new PodConfig();
    const send = config.channel('file');
    const time = '2000-01-01T00:00:00Z';
    send([podNamed('a', { metadata: { deletionTimestamp: time } as never })]);
    await taken(config);
    send([podNamed('a', { metadata: { deletionTimestamp: new Date(time), labels: null, annotations: null } as never })]);
    expect(await taken(config)).toEqual([]);
    send([podNamed('a', { metadata: { deletionTimestamp: time, labels: {}, annotations: {} } as never })]);
    expect(await taken(config)).toEqual([]);
    send([podNamed('a', { metadata: { deletionTimestamp: new Date('2000-01-01T00:00:01Z') } as never })]);
    expect(await taken(config)).toEqual(['file DELETE a']);
  });

  it('leaves out the second pod of one name, with a warning', async () => {
    const events: unknown[] = [];
    const config = new PodConfig({
      logger: null,
      eventRecorder: { event: (pod, ...event) => events.push([pod.metadata?.uid, ...event]) },
    });
    config.channel('file')([podNamed('a'), podNamed('a', { uid: 'other' })]);
    const message = 'Error validating pod a_default(other) from file due to duplicate pod name "a", ignoring';
    expect(events).toEqual([['other', 'Warning', 'FailedValidation', message]]);
    expect(await taken(config)).toEqual(['file ADD a']);
  });

  it('takes the first of two pods of one uid, steadily, and warns of the other', async () => {
    const events: unknown[] = [];
    const { lines, logger } = recordedLogs();
    const config = new PodConfig({
      eventRecorder: { event: (pod, ...event) => events.push([pod.metadata?.name, ...event]) },
      logger,
    });
    const send = config.channel('file');
    const [a, b] = [podNamed('a', { uid: 'u' }), podNamed('b', { uid: 'u', image: 'app:2' })];
    for (let i = 0; i < 3; i += 1) send([{ ...a }, { ...b }]);
    const message = 'Error validating pod b_default(u) from file due to duplicate pod uid "u", ignoring';
    expect(events).toEqual(Array(3).fill(['b', 'Warning', 'FailedValidation', message]));
    expect([await taken(config), lines.length]).toEqual([['file ADD a'], 3]);
    // the name of a pod that is left out is free
    send([a, b, podNamed('b')]);
    expect(await taken(config)).toEqual(['file ADD b']);
  });

  it('keeps the pod that is known when another one of its uid stands before it', async () => {
    const config = new PodConfig({ logger: null });
    const send = config.channel('file');
    const [a, b] = [podNamed('a', { uid: 'u', image: 'app:2' }), podNamed('b', { uid: 'u' })];
    send([b]);
    send([a, { ...b }, null as never]);
    send([a, b]);
    expect(await taken(config)).toEqual(['file ADD b']);
    send([a]);
    expect((await takenUpdates(config)).map(({ op, pods }) => [op, pods[0]?.spec?.containers[0]?.image])).toEqual([
      ['UPDATE', 'app:2'],
    ]);
  });

  it('tells of both pods of one uid as of one with the metadata of the first sight, as the kubelet does', async () => {
    const config = new PodConfig({ metadata: 'firstSeen' });
    const send = config.channel('file');
    for (let i = 0; i < 2; i += 1) send([podNamed('a', { uid: 'u' }), podNamed('b', { uid: 'u', image: 'app:2' })]);
    expect(await taken(config)).toEqual(['file ADD a b', 'file UPDATE b b']);
  });

  it('knows which sources it has heard from', () => {
    const config = new PodConfig();
    expect(config.seenAllSources([])).toBe(true);
    const send = config.channel('file');
    expect([config.hasSeen('file'), config.seenAllSources(), config.seenAllSources(['file'])]).toEqual([false, false, false]);
    send([]);
    expect([config.hasSeen('file'), config.seenAllSources(), config.seenAllSources(['file'])]).toEqual([true, true, true]);
    expect(config.seenAllSources(['api'])).toBe(false);
    config.channel('api');
    expect(config.seenAllSources()).toBe(false);
  });

  it('survives what a source may send: no list, no pods, pods that cannot be read', async () => {
    const { lines, logger } = recordedLogs();
    const config = new PodConfig({ logger });
    const send = config.channel('file') as (pods: unknown) => void;
    send([podNamed('a')]);
    for (const list of [undefined, null, 'pods', {}, 7]) send(list);
    expect([lines.length, await taken(config)]).toEqual([5, ['file ADD a']]);
    const broken = Object.defineProperty(podNamed('a'), 'spec', {
      get: () => {
        throw new Error('broken');
      },
    });
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    send([broken, null, 3, 'pod', {}, { metadata: { name: 'x', namespace: 'y' } }, { metadata: { uid: 7 } }, podNamed('b')]);
    expect([lines.length, await taken(config)]).toEqual([12, ['file ADD b']]);
    send([
      { ...podNamed('a'), spec: endless },
      { ...podNamed('b'), metadata: { ...podNamed('b').metadata, annotations: 'no' } },
    ]);
    send([{ ...podNamed('a'), spec: structuredClone(endless) }, podNamed('b')]);
    // what is endless cannot be compared, and counts as another spec
    expect(await taken(config)).toEqual(['file UPDATE a', 'file UPDATE a']);
  });

  it('outlives an observer, a recorder, a logger and a clock that throw', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const clock = { now: fail, setTimer: fail };
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const config = new PodConfig({ podsObserved: fail, eventRecorder: { event: fail }, clock, logger });
    config.channel('api')([podNamed('a'), podNamed('a', { uid: 'b' })]);
    expect(await taken(config)).toEqual(['api ADD a']);
  });

  it('merges a list that is sent while another one is merged after that one', async () => {
    const sendFile: { call?: SendPods } = {};
    const config = new PodConfig({ podsObserved: () => sendFile.call?.([podNamed('f')]) });
    sendFile.call = config.channel('file');
    config.channel('api')([podNamed('a'), podNamed('b')]);
    expect(await taken(config)).toEqual(['api ADD a b', 'file ADD f']);
  });

  it.each([
    [{ mode: 'Full' }, /`mode`/],
    [{ capacity: 4 }, /`capacity`/],
    [{ metadata: 'none' }, /`metadata`/],
    [{ eventRecorder: {} }, /`eventRecorder`/],
    [{ podsObserved: 1 }, /`podsObserved`/],
    [{ clock: {} }, /`clock`/],
    [{ modes: 'Incremental' }, /`options.modes`/],
  ])('refuses the options %j', (options, message) => {
    expect(() => new PodConfig(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => new PodConfig(options as never)).toThrow(message);
  });
});

describe('the sources of a PodConfig', () => {
  function source(overrides: Partial<PodSource> = {}) {
    const calls: string[] = [];
    const taken: { send?: SendPods } = {};
    const start = (send: SendPods): void => {
      calls.push('start');
      taken.send = send;
    };
    return { calls, taken, source: { start, stop: () => void calls.push('stop'), ...overrides } };
  }

  it('start and stop with it, also those that are added later', async () => {
    const config = new PodConfig();
    const [first, second] = [source(), source()];
    config.addSource('file', first.source);
    expect([first.calls, config.state]).toEqual([[], 'idle']);
    config.start();
    config.addSource('http', second.source);
    expect([first.calls, second.calls, config.state]).toEqual([['start'], ['start'], 'running']);
    first.taken.send?.([podNamed('a')]);
    expect(await taken(config)).toEqual(['file ADD a']);
    await config.stop();
    expect([first.calls, second.calls, config.state]).toEqual([['start', 'stop'], ['start', 'stop'], 'stopped']);
  });

  it('say nothing any more once it is stopped, and the iterator ends', async () => {
    const config = new PodConfig();
    const { source: one, taken: held } = source();
    config.addSource('file', one);
    config.start();
    const next = config.updates().next();
    await config.stop();
    held.send?.([podNamed('a')]);
    expect([await next, await taken(config), config.hasSeen('file')]).toEqual([{ done: true, value: undefined }, [], false]);
    expect(() => config.addSource('x', one)).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
    expect(() => config.channel('x')).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
    expect(() => config.start()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it('are not stopped where they were never started', async () => {
    const config = new PodConfig();
    const { calls, source: one } = source();
    config.addSource('file', one);
    await config.stop();
    expect(calls).toEqual([]);
  });

  it('may throw, reject, and never stop: the others go on, and the end waits ten seconds at most', async () => {
    const clock = new FakeClock();
    const { lines, logger } = recordedLogs();
    const config = new PodConfig({ clock, logger });
    const rejected = (): Promise<never> => Promise.reject(new Error('no'));
    const thrown = (): never => {
      throw new Error('no');
    };
    const sound = source();
    config.addSource('rejects', { start: rejected, stop: rejected });
    config.addSource('throws', { start: thrown, stop: thrown });
    config.addSource('hangs', { start: () => new Promise(() => {}), stop: () => new Promise(() => {}) });
    config.addSource('sound', sound.source);
    let isStopped = false;
    const unhandled = await unhandledRejectionsOf(async () => {
      config.start();
      await settle();
      const stopping = config.stop().then(() => {
        isStopped = true;
      });
      await clock.advance(9_999);
      expect(isStopped).toBe(false);
      await clock.advance(1);
      await stopping;
    });
    expect([unhandled, sound.calls, clock.pendingTimers]).toEqual([[], ['start', 'stop'], 0]);
    expect(lines.filter((line) => /start$/.test(line))).toHaveLength(2);
    expect(lines.filter((line) => /to stop$/.test(line))).toHaveLength(2);
    expect(lines.at(-1)).toMatch(/left behind/);
  });

  it('leave no timer behind when all of them stop', async () => {
    const clock = new FakeClock();
    const config = new PodConfig({ clock });
    config.addSource('file', source().source);
    config.start();
    await config.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('have names of their own', () => {
    const config = new PodConfig();
    const send = config.channel('hand');
    expect(config.channel('hand')).toBe(send);
    config.addSource('file', source().source);
    const invalid = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' });
    expect(() => config.addSource('hand', source().source)).toThrow(invalid);
    expect(() => config.addSource('file', source().source)).toThrow(invalid);
    expect(() => config.channel('file')).toThrow(invalid);
    expect(() => config.channel('')).toThrow(invalid);
    expect(() => config.addSource('x', { start: () => {} } as never)).toThrow(invalid);
    expect(() => config.addSource('x', undefined as never)).toThrow(invalid);
  });
});
