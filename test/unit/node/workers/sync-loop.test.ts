import { describe, expect, it } from 'vitest';
import { SyncLoop } from '../../../../src/node/workers/sync-loop.ts';
import { buildMirrorPodOf, buildPod, buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { LoopWorld } from './loop-world.ts';

const pod = (name: string, metadata = {}, rest = {}) => buildPod({ metadata: { name, uid: name, ...metadata }, ...rest });
const gated = (status: string) =>
  pod(
    'gated',
    {},
    {
      spec: { readinessGates: [{ conditionType: 'example.com/gate' }] },
      status: {
        phase: 'Running',
        conditions: [
          { type: 'example.com/gate', status },
          { type: 'Ready', status: 'True' },
        ],
        containerStatuses: [{ name: 'app', ready: true, restartCount: 0, image: 'i', imageID: '', state: { running: {} } }],
      },
    },
  );

describe('updates', () => {
  it('go to the pod manager first, then to the workers, the oldest pod first', async () => {
    await using world = await LoopWorld.started();
    const [younger, older] = [
      pod('younger', { creationTimestamp: '2000-01-02T00:00:00Z' }),
      pod('older', { creationTimestamp: '2000-01-01T00:00:00Z' }),
    ];
    await world.send('ADD', [younger, older]);
    expect(world.took()).toEqual(['create older', 'create younger']);
    expect(world.podManager.getPods()).toHaveLength(2);
    const changed = pod('older', { labels: { a: 'b' } });
    await world.send('UPDATE', [changed]);
    expect(world.took()).toEqual(['update older']);
    expect(world.updates.at(-1)?.pod).toBe(changed);
    expect(world.podManager.getPodByUID('older')).toBe(changed);
    await world.send('DELETE', [pod('older', { deletionTimestamp: '2000-01-01T00:00:30Z' })]);
    expect(world.took()).toEqual(['update older']);
  });

  it('of a removed pod kill it, but only once every source was heard from', async () => {
    await using world = await LoopWorld.started();
    world.sources = ['api', 'file'];
    await world.send('ADD', [pod('web')]);
    await world.send('REMOVE', [pod('web')]);
    expect(world.took()).toEqual(['create web']);
    expect(world.podManager.getPods()).toEqual([]);
    await world.send('ADD', [pod('api')], 'file');
    await world.send('REMOVE', [pod('api')]);
    expect(world.took()).toEqual(['create api', 'kill api']);
  });

  it('of the status alone sync the pod only where its readiness gates ask for it', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', [pod('web'), gated('True')]);
    world.took();
    const running = pod('web', {}, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } });
    await world.send('RECONCILE', [running, gated('True')]);
    expect(world.took()).toEqual([]);
    expect(world.podManager.getPodByUID('web')).toBe(running);
    await world.send('RECONCILE', [gated('False')]);
    expect(world.took()).toEqual(['sync gated']);
  });

  it('of a mirror pod are an update of its static pod, and nothing while there is none', async () => {
    await using world = await LoopWorld.started();
    const staticPod = buildStaticPod({ metadata: { name: 'proxy', uid: 'static' } });
    const mirror = buildMirrorPodOf(staticPod, { metadata: { uid: 'mirror' } });
    await world.send('ADD', [mirror]);
    expect(world.took()).toEqual([]);
    await world.send('ADD', [staticPod], 'file');
    await world.send('UPDATE', [buildMirrorPodOf(staticPod, { metadata: { uid: 'mirror', labels: { a: 'b' } } })]);
    expect(world.took()).toEqual(['create static mirror mirror', 'update static mirror mirror']);
    await world.send('REMOVE', [mirror]);
    expect(world.took()).toEqual(['update static']);
  });

  it('that cannot be handled cost the other pods nothing', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', [pod('poison'), {}, null as never, pod('web')]);
    expect(world.took()).toEqual(['create web']);
    expect(world.errors).toEqual(Array(3).fill('the sync loop could not handle a pod'));
    await world.send('SET', [pod('other')]);
    await world.send('ADD', [pod('other')]);
    expect(world.took()).toEqual(['create other']);
  });

  it('end when the iterator fails, and the loop goes on', async () => {
    const world = new LoopWorld({
      config: { updates: () => ({ next: () => Promise.reject(new Error('no')) }), seenAllSources: () => true },
    });
    world.loop.start();
    await settle();
    expect(world.errors).toEqual(['the updates of pods have failed; none follow']);
    world.podManager.addPod(pod('web'));
    await world.housekeeping();
    expect(world.took()).toEqual(['create web']);
    await world.loop.stop();
  });
});

describe('admission', () => {
  it('refuses a pod for good, and not one that has ended', async () => {
    const asked: string[] = [];
    await using world = await LoopWorld.started({
      admitPod: ({ metadata }, active) => {
        asked.push(`${metadata?.uid} beside ${active.map((other) => other.metadata?.uid).join(',')}`);
        return metadata?.uid === 'big' ? { admit: false, reason: 'OutOfcpu', message: 'no cpu' } : { admit: true };
      },
    });
    await world.send('ADD', [pod('web'), pod('done', {}, { status: { phase: 'Succeeded' } }), pod('big')]);
    expect(world.took()).toEqual(['create web', 'create done']);
    expect(asked).toEqual(['web beside ', 'big beside web']);
    expect(world.statuses.get('big')).toEqual({ phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected: no cpu' });
    expect(world.events).toEqual(['big Warning OutOfcpu no cpu']);
    await world.housekeeping();
    expect(world.took()).toEqual([]);
  });

  it('of many pods at once looks at each a few times, and not at all of them for each', async () => {
    const most = 20;
    await using world = await LoopWorld.started({
      admitPod: (_, active) =>
        active.length < most ? { admit: true } : { admit: false, reason: 'OutOfpods', message: `${active.length} pods` },
    });
    const pods = Array.from({ length: 1000 }, (_, i) => pod(`p${i}`));
    await world.send('ADD', pods);
    expect(world.took()).toHaveLength(most);
    expect(world.events).toHaveLength(pods.length - most);
    expect(world.questions).toBeLessThan(5 * pods.length);
  });

  it('that fails or answers anything else leaves the pod waiting until the next housekeeping', async () => {
    const answers: unknown[] = [{ admit: false, reason: '' }, undefined, { admit: true }];
    await using world = await LoopWorld.started({
      admitPod: () => {
        if (answers.length === 2) {
          answers.shift();
          throw new Error('no');
        }
        return answers.shift() as never;
      },
    });
    await world.send('ADD', [pod('web')]);
    await world.housekeeping();
    expect([world.took(), world.statuses.size]).toEqual([[], 0]);
    await world.housekeeping();
    expect(world.took()).toEqual(['create web']);
  });
});

describe('pods that are due or have changed', () => {
  it('are synced, those of no pod are not, and many changes are one sync', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', [pod('web'), pod('other')]);
    world.took();
    world.workQueue.enqueue('web', 500);
    world.workQueue.enqueue('gone', 500);
    await world.clock.advance(499);
    expect(world.took()).toEqual([]);
    await world.clock.advance(1);
    expect(world.took()).toEqual(['sync web']);
    for (let i = 0; i < 5; i++) world.loop.podChanged('other');
    world.loop.podChanged('gone');
    await settle();
    expect(world.took()).toEqual(['sync other']);
    expect(() => world.loop.podChanged('')).toThrow('podUID');
    world.workQueue.enqueue('web', 100);
    await world.clock.advance(100);
    expect(world.took()).toEqual(['sync web']);
  });

  it('are found later when the work queue fails', async () => {
    const failures = ['readable', 'getWork', 'readable'];
    const failNow = (method: string): boolean => failures[0] === method && failures.shift() !== undefined;
    const work: string[] = [];
    await using world = await LoopWorld.started({
      workQueue: {
        getWork: () => {
          if (failNow('getWork')) throw new Error('no');
          return work.splice(0);
        },
        readable: () => (failNow('readable') ? Promise.reject(new Error('no')) : Promise.resolve(true)),
      },
    });
    await world.send('ADD', [pod('web')]);
    world.took();
    work.push('web');
    await world.clock.advance(2999);
    expect([world.took(), failures]).toEqual([[], []]);
    await world.clock.advance(1001);
    expect(world.took()).toEqual(['sync web']);
  });
});

describe('housekeeping', () => {
  it('waits until every source was heard from', async () => {
    await using world = await LoopWorld.started();
    world.sources = ['api', 'file'];
    await world.send('ADD', [pod('web')]);
    await world.housekeeping();
    expect(world.desired).toEqual([]);
    await world.send('ADD', [], 'file');
    await world.housekeeping();
    expect(world.desired).toEqual([['web']]);
    expect(world.keptStatuses).toEqual([['web']]);
  });

  it('tells the workers of the pods, keeps their statuses and those of mirror pods, and reports', async () => {
    const reports: unknown[] = [];
    await using world = await LoopWorld.started({
      onHousekeeping: ({ pods, possiblyRunning }) => reports.push([pods.length, [...possiblyRunning]]),
    });
    const staticPod = buildStaticPod({ metadata: { name: 'proxy', uid: 'static' } });
    await world.send('ADD', [pod('web'), buildMirrorPodOf(staticPod, { metadata: { uid: 'mirror' } })]);
    world.known.set('over', 'terminated');
    world.known.set('ending', 'terminating');
    await world.housekeeping();
    expect(world.keptStatuses).toEqual([['mirror', 'web']]);
    expect(reports).toEqual([[1, ['web', 'ending']]]);
  });

  it('begins a pod again that was created under the uid of one that has ended', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', [pod('web'), pod('done', {}, { status: { phase: 'Succeeded' } })]);
    world.took();
    world.known.delete('web');
    world.known.delete('done');
    await world.housekeeping();
    expect(world.took()).toEqual(['create web']);
  });

  it('ends what the runtime has and nobody wants, with a grace period of a second', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', [pod('web')]);
    world.took();
    const orphan = { uid: 'orphan', name: 'orphan', namespace: 'default' };
    world.running = () => [{ uid: 'web', name: 'web', namespace: 'default' }, orphan, { uid: '' } as never, null as never];
    await world.housekeeping();
    expect(world.took()).toEqual(['kill orphan']);
    expect(world.updates.at(-1)).toMatchObject({ runningPod: orphan, killPodOptions: { gracePeriodSeconds: 1 } });
    await world.housekeeping();
    expect(world.took()).toEqual([]);
  });

  it('ends no pod that came, or was forgotten, while the runtime was asked', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', [pod('web')]);
    const list = Promise.withResolvers<{ uid: string; name: string; namespace: string }[]>();
    world.running = () => list.promise;
    world.known.set('ended', 'terminating');
    await world.housekeeping();
    await world.send('ADD', [pod('new')]);
    world.known.set('ended', 'terminated');
    await world.housekeeping();
    expect(world.known.has('ended')).toBe(false);
    world.took();
    list.resolve(['web', 'new', 'ended'].map((uid) => ({ uid, name: uid, namespace: 'default' })));
    await settle();
    expect(world.took()).toEqual([]);
    await world.housekeeping();
    expect(world.took()).toEqual(['kill ended']);
  });

  it('ends no pod that came after the runtime was asked', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', []);
    const list = Promise.withResolvers<{ uid: string; name: string; namespace: string }[]>();
    world.running = () => list.promise;
    await world.housekeeping();
    await world.send('ADD', [pod('new')]);
    list.resolve([{ uid: 'new', name: 'new', namespace: 'default' }]);
    await settle();
    expect(world.took()).toEqual(['create new']);
  });

  it('finishes deleted pods that were over before the agent started, unless the runtime has them', async () => {
    await using world = await LoopWorld.started();
    const over = (name: string) => pod(name, { deletionTimestamp: '2000-01-01T00:00:00Z' }, { status: { phase: 'Failed' } });
    await world.send('ADD', [over('left'), over('running')]);
    world.known.clear();
    world.took();
    world.running = () => [{ uid: 'running', name: 'running', namespace: 'default' }];
    await world.housekeeping();
    expect(world.took()).toEqual(['kill left', 'kill running']);
    expect(world.updates.at(-1)?.pod).toBeUndefined();
  });

  it('goes on without a list that fails, is none, or never comes', async () => {
    await using world = await LoopWorld.started();
    await world.send('ADD', [pod('web')]);
    const lists = [() => Promise.reject(new Error('no')), () => 'none' as never, () => new Promise<never>(() => {})];
    const signals: AbortSignal[] = [];
    world.running = (signal) => {
      signals.push(signal);
      return (lists.shift() ?? (() => [{ uid: 'orphan', name: 'o', namespace: 'd' }]))();
    };
    for (let i = 0; i < 3; i++) await world.housekeeping();
    expect(world.errors).toHaveLength(2);
    await world.clock.advance(29_000);
    expect(world.desired.length).toBeGreaterThan(14);
    expect([signals.length, signals.at(-1)?.aborted]).toEqual([3, false]);
    await world.clock.advance(4000);
    expect(signals[2]?.aborted).toBe(true);
    expect(world.took()).toEqual(['create web', 'kill orphan']);
  });
});

describe('the loop', () => {
  it('refuses options that are unknown or of the wrong type', () => {
    expect(() => new SyncLoop({} as never)).toThrow('`config`');
    expect(() => new LoopWorld({ housekeepingIntervalMs: 0 })).toThrow('housekeepingIntervalMs');
    expect(() => new LoopWorld({ admitPod: 1 as never })).toThrow('admitPod');
    expect(() => new LoopWorld({ typo: 1 } as never)).toThrow('typo');
  });

  it('says when it has caught up with the updates, and when it was last alive', async () => {
    let caughtUp = 0;
    await using world = await LoopWorld.started({ onCaughtUp: () => (caughtUp += 1) });
    expect(world.loop.lastIterationAt()).toBeUndefined();
    await world.send('ADD', [pod('web')]);
    expect(caughtUp).toBe(1);
    expect(world.loop.lastIterationAt()).toBe(world.clock.now());
    world.clock.jump(3_600_000);
    expect(world.loop.lastIterationAt()).toBe(world.clock.now());
  });

  it('leaves no timer and tells nothing after its stop, also while a list is waited for', async () => {
    const world = await LoopWorld.started();
    await world.send('ADD', [pod('web')]);
    let signal: AbortSignal | undefined;
    world.running = (given) => {
      signal = given;
      return new Promise(() => {});
    };
    await world.housekeeping();
    world.took();
    await world.loop.stop();
    world.workQueue.close();
    expect([world.loop.state, signal?.aborted, world.clock.pendingTimers]).toEqual(['stopped', true, 0]);
    world.loop.podChanged('web');
    await world.send('ADD', [pod('late')]);
    await world.clock.advance(10_000);
    expect([world.took(), world.errors]).toEqual([[], []]);
  });
});
