import { describe, expect, it } from 'vitest';
import { type ObjectBudgetOptions, type ObjectManagerOptions, objectBudget } from '../../../../src/object-managers.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import type { ObjectServerOptions } from '../../../support/object-server.ts';
import { failureOf, podWith, secretWorld } from './object-managers-world.ts';

const minute = 60_000;
const names = (count: number, prefix = 's') => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function setUp(limits: ObjectBudgetOptions, options: ObjectManagerOptions = {}, server: ObjectServerOptions = {}) {
  const budget = objectBudget(limits);
  return { budget, ...secretWorld({ budget, ...options }, server) };
}

describe('a pod that names more objects than the budget allows', () => {
  it('has none of them read, is told why, and no other pod notices', async () => {
    const { clock, server, manager, budget, getSecret, read } = setUp({});
    server.put('d', 'ordinary', 'one');
    const [evil, good] = [podWith('evil', names(5000)), podWith('good', ['ordinary'])];
    manager.registerPod(evil);
    manager.registerPod(good);
    await settle();
    expect([server.openWatches, server.requests.length]).toEqual([['d/ordinary'], 1]);
    const refusal = manager.refusalOf(evil);
    expect([refusal?.code, refusal?.message]).toEqual([
      'ERR_OVER_BUDGET',
      "pod d/evil names 5000 secrets and config maps, and this node holds 256 for one pod. Let the pod use less, or set objectBudget.maxObjectsPerPod of the node's agent higher",
    ]);
    expect(manager.refusalOf(good)).toBeUndefined();
    expect(await failureOf(clock, getSecret('s7'))).toBe(refusal);
    expect(await failureOf(clock, getSecret('s7', 'e'))).toMatchObject({ code: 'ERR_NOT_REGISTERED' });
    expect(await read('ordinary')).toBe('one');
    manager.unregisterPod(evil);
    expect(await failureOf(clock, getSecret('s7'))).toMatchObject({ code: 'ERR_NOT_REGISTERED' });
    manager.unregisterPod(good);
    expect(budget.use).toEqual({ pods: 0, watches: 0, bytes: 0 });
  });

  it('lets go of what it had before, and gets it back once it names less', async () => {
    const { server, manager, budget, read } = setUp({ maxObjectsPerPod: 3 });
    server.put('d', 's0', 'one');
    manager.registerPod(podWith('p', names(3)));
    manager.registerPod(podWith('p', names(4)));
    await settle();
    expect([server.openWatches, budget.use.pods]).toEqual([[], 0]);
    manager.registerPod(podWith('p', names(2)));
    expect(await read('s0')).toBe('one');
    expect(budget.use).toMatchObject({ pods: 1, watches: 2 });
  });

  it('is counted over all managers that share the budget', () => {
    const budget = objectBudget({ maxObjectsPerPod: 3 });
    const [one, other] = [secretWorld({ budget }).manager, secretWorld({ budget }).manager];
    one.registerPod(podWith('p', names(2)));
    other.registerPod(podWith('p', names(2)));
    expect([one.refusalOf(podWith('p', [])), other.refusalOf(podWith('p', []))?.code]).toEqual([undefined, 'ERR_OVER_BUDGET']);
  });
});

describe('the watches of a pod and of a node', () => {
  it('are bounded, and what has none is read once in a minute', async () => {
    const { clock, server, manager, budget, read, requests } = setUp({ maxWatchesPerPod: 3, maxWatches: 5 });
    for (const name of [...names(4), ...names(4, 't')]) server.put('d', name, 'one');
    manager.registerPod(podWith('p', names(4)));
    manager.registerPod(podWith('q', names(4, 't')));
    await settle();
    expect(server.openWatches).toEqual(['d/s0', 'd/s1', 'd/s2', 'd/t0', 'd/t1']);
    for (const name of [...names(4), ...names(4, 't')]) expect(await read(name)).toBe('one');
    expect(requests('get')).toBe(3);
    server.put('d', 's3', 'two');
    expect(await read('s3')).toBe('one');
    await clock.advance(minute);
    expect(await read('s3')).toBe('two');
    expect(requests('get')).toBe(4);
    manager.unregisterPod(podWith('p', []));
    manager.unregisterPod(podWith('q', []));
    expect([budget.use, server.openWatches]).toEqual([{ pods: 0, watches: 0, bytes: 0 }, []]);
  });

  it('are opened a few at a time, and each end makes room for the next', async () => {
    const answers: (() => void)[] = [];
    const before = () => new Promise<void>((resolve) => void answers.push(resolve));
    const { clock, server, manager } = setUp({ maxWatchesPerPod: 100 }, {}, { before });
    manager.registerPod(podWith('p', names(40)));
    await settle();
    expect(server.requests).toHaveLength(16);
    answers[0]?.();
    await settle();
    expect(server.requests).toHaveLength(17);
    // one that waits in another namespace has its turn before all that wait in this one
    manager.registerPod(podWith('q', ['own'], { namespace: 'e' }));
    answers[1]?.();
    answers[2]?.();
    await settle();
    expect(server.requests.slice(17).map(({ name }) => name)).toContain('own');
    manager.unregisterPod(podWith('q', [], { namespace: 'e' }));
    manager.unregisterPod(podWith('p', []));
    for (const answer of answers) answer();
    await clock.advance(minute);
    expect([server.requests.length, clock.pendingTimers]).toEqual([19, 0]);
  });
});

describe.each(['watch', 'cache'] as const)('the bytes of a pod and of a node, strategy %s', (strategy) => {
  const text = 'x'.repeat(75_000);

  it('are bounded for one pod, and no other pod notices', async () => {
    const { clock, server, manager, budget, getSecret, read } = setUp({ maxBytesPerPod: 1_000_000 }, { strategy });
    for (const name of names(30)) server.put('d', name, text);
    server.put('d', 'ordinary', 'one');
    manager.registerPod(podWith('evil', names(30)));
    manager.registerPod(podWith('good', ['ordinary', 's29']));
    const outcomes = await Promise.all(
      names(29).map(async (name) => (await failureOf(clock, getSecret(name))) as Error & { code?: string }),
    );
    const refused = outcomes.filter(({ code }) => code === 'ERR_OVER_BUDGET');
    expect(refused.length).toBeGreaterThan(18);
    expect(refused[0]?.message).toMatch(
      /^the secrets and config maps of pod d\/evil take more than the 1000000 bytes that this node holds for one pod: \d+ without this one, which takes 100\d+\. Let the pod use less/,
    );
    expect(budget.use.bytes).toBeLessThan(1_200_000);
    expect([await read('ordinary'), (await read('s29')).length]).toEqual(['one', text.length]);
    // it is not asked for again before a minute is over
    const asked = server.requests.length;
    for (const name of names(29)) await failureOf(clock, getSecret(name));
    expect(server.requests.length).toBe(asked);
    manager.unregisterPod(podWith('evil', []));
    manager.unregisterPod(podWith('good', []));
    expect([budget.use, server.openWatches]).toEqual([{ pods: 0, watches: 0, bytes: 0 }, []]);
  });

  it('are bounded for all pods, and each pod has its share in any case', async () => {
    const { clock, server, manager, budget, getSecret, read } = setUp({ maxBytes: 1_000_000 }, { strategy });
    for (const name of names(30)) server.put('d', name, text + text);
    for (const name of names(30)) manager.registerPod(podWith(`of-${name}`, [name]));
    const outcomes = await Promise.all(names(30).map((name) => failureOf(clock, getSecret(name))));
    const refused = outcomes.filter(({ code }) => code === 'ERR_OVER_BUDGET');
    expect(refused).toHaveLength(26);
    expect(refused[0]?.message).toMatch(
      /^the secrets and config maps of all pods take 80\d+ of the 1000000 bytes that this node holds, and there is no room for the 200\d+ of one that pod d\/of-s\d+ names\. Let the pod use less, or set objectBudget\.maxBytes /,
    );
    server.put('d', 'ordinary', text);
    manager.registerPod(podWith('good', ['ordinary']));
    expect(await read('ordinary')).toBe(text);
    expect(budget.use.bytes).toBeLessThan(1_000_000);
    for (const name of names(30)) manager.unregisterPod(podWith(`of-${name}`, []));
    manager.registerPod(podWith('of-s29', ['s29']));
    expect((await read('s29')).length).toBe(2 * text.length);
  });

  it('count an object that grows, and one that shrinks', async () => {
    const { clock, server, manager, budget, getSecret, read } = setUp({ maxBytesPerPod: 50_000 }, { strategy });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    expect(await read('s')).toBe('one');
    server.put('d', 's', text);
    await clock.advance(minute);
    expect(await failureOf(clock, getSecret('s'))).toMatchObject({ code: 'ERR_OVER_BUDGET' });
    expect(budget.use.bytes).toBe(0);
    server.put('d', 's', 'two');
    await clock.advance(minute);
    expect(await read('s')).toBe('two');
  });
});

describe('the text of an object that was deleted', () => {
  it('counts no more', async () => {
    const { server, manager, budget, read } = setUp({});
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    expect(await read('s')).toBe('one');
    expect(budget.use.bytes).toBeGreaterThan(0);
    server.delete('d', 's');
    await settle();
    expect(budget.use).toEqual({ pods: 1, watches: 1, bytes: 0 });
  });
});

describe('a budget', () => {
  it.each([{ maxWatches: -1 }, { maxBytes: 1.5 }, { maxObjectsPerPod: '7' }, { maxWatch: 1 }])('is refused: %j', (options) => {
    expect(() => objectBudget(options as ObjectBudgetOptions)).toThrow(/^Expected `objectBudget\./);
  });

  it('of a manager is one that objectBudget has made', () => {
    expect(() => secretWorld({ budget: { use: { pods: 0, watches: 0, bytes: 0 } } })).toThrow(
      /^Expected `budget` to be an object with podOf/,
    );
  });
});
