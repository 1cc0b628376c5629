import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairTurns, type FairTurnsOptions } from '../../../../src/base/concurrency/fair-turns.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

/** Turns whose calls end when a test says so. */
function turnsOf(options: Partial<FairTurnsOptions> = {}) {
  const clock = new FakeClock();
  const turns = new FairTurns({ concurrency: 1, clock, ...options });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const underWay = new Map<string, number>();
  /** The name of a call is its key, and what tells it from others. */
  const run = (name: string, { isUrgent = false, signal }: { isUrgent?: boolean; signal?: AbortSignal } = {}) => {
    const key = name.replace(/\d+$/, '');
    return turns.run({ key, isUrgent, signal }, () => {
      begun.push(name);
      underWay.set(key, (underWay.get(key) ?? 0) + 1);
      return new Promise<void>((resolve) => {
        ends.push(() => {
          underWay.set(key, (underWay.get(key) ?? 0) - 1);
          resolve();
        });
      });
    });
  };
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  const endAll = async (): Promise<void> => {
    await settle();
    while (ends.length > 0) await endOne();
  };
  return { clock, turns, begun, ends, run, endOne, endAll, underWay };
}

describe('FairTurns', () => {
  it('lets a call of one key wait for no more than one call of a key that has a thousand', async () => {
    const { turns, begun, run, endOne, endAll } = turnsOf();
    const runs = Array.from({ length: 1000 }, (_, i) => run(`a${i}`));
    await settle();
    runs.push(run('b0'), run('b1'));
    await endOne();
    await endOne();
    await endOne();
    expect(begun).toEqual(['a0', 'a1', 'b0', 'a2']);
    await endOne();
    expect(begun[4]).toBe('b1');
    await endAll();
    await Promise.all(runs);
    expect([turns.underWay, turns.waiting, turns.keys]).toEqual([0, 0, 0]);
  });

  it('has urgent calls go first, and every fifth turn go to another that waits', async () => {
    const { begun, run, endAll } = turnsOf();
    const runs = [run('first')];
    for (let i = 0; i < 3; i += 1) runs.push(run(`usual${i}`));
    for (let i = 0; i < 10; i += 1) runs.push(run(`urgent${i}`, { isUrgent: true }));
    await endAll();
    await Promise.all(runs);
    expect(begun.map((name) => name[1])).toEqual([...'i', ...'rrrr', 's', ...'rrrr', 's', ...'rr', 's']);
  });

  it('keeps one place of several for what is urgent', async () => {
    const { begun, run, endAll, ends } = turnsOf({ concurrency: 3 });
    const runs = Array.from({ length: 4 }, (_, i) => run(`a${i}`));
    await settle();
    expect(begun).toEqual(['a0', 'a1']);
    runs.push(run('lease', { isUrgent: true }));
    await settle();
    expect([begun[2], ends.length]).toEqual(['lease', 3]);
    await endAll();
    await Promise.all(runs);
  });

  it('gives one key so many places at most, and the others to other keys', async () => {
    const { begun, run, endAll, endOne } = turnsOf({ concurrency: 5, concurrencyPerKey: 2 });
    const runs = [...Array.from({ length: 4 }, (_, i) => run(`a${i}`)), run('b0')];
    await settle();
    expect(begun).toEqual(['a0', 'a1', 'b0']);
    await endOne();
    expect(begun).toEqual(['a0', 'a1', 'b0', 'a2']);
    await endAll();
    await Promise.all(runs);
  });

  it('begins no more calls in a second than its rate, in turn by key', async () => {
    const { clock, turns, begun, run, endAll } = turnsOf({ concurrency: 10, rateLimiter: { qps: 2, burst: 1 } });
    const runs = [run('a0'), run('a1'), run('a2'), run('b0')];
    await settle();
    expect(begun).toEqual(['a0']);
    await clock.advance(500);
    expect(begun).toEqual(['a0', 'a1']);
    await clock.advance(1000);
    expect(begun).toEqual(['a0', 'a1', 'b0', 'a2']);
    await endAll();
    await Promise.all(runs);
    turns.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends a wait with its signal: nothing is kept of it, and its place goes to the next one', async () => {
    const { turns, begun, run, endOne, endAll } = turnsOf();
    const leaving = new AbortController();
    const first = run('a0');
    const gaveUp = expect(run('b0', { signal: leaving.signal })).rejects.toBe('enough');
    const last = run('c0');
    await settle();
    expect([turns.waiting, turns.keys]).toEqual([2, 3]);
    leaving.abort('enough');
    await gaveUp;
    expect([turns.waiting, turns.keys]).toEqual([1, 2]);
    await endOne();
    await endAll();
    await Promise.all([first, last]);
    expect(begun).toEqual(['a0', 'c0']);
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0);
    await expect(run('d0', { signal: leaving.signal })).rejects.toBe('enough');
    expect(turns.keys).toBe(0);
  });

  it('makes no call whose signal aborts in the moment of its turn', async () => {
    const { turns, begun, run, endAll, ends } = turnsOf();
    const leaving = new AbortController();
    const first = run('a0');
    const late = run('b0', { signal: leaving.signal });
    const next = run('c0');
    await settle();
    const refused = expect(late).rejects.toBe('enough');
    // the place comes free now, and the signal aborts before the call goes on
    ends.shift()?.();
    queueMicrotask(() => queueMicrotask(() => leaving.abort('enough')));
    await refused;
    await settle();
    await endAll();
    await Promise.all([first, next]);
    expect([begun, turns.underWay]).toEqual([['a0', 'c0'], 0]);
  });

  it('gives up the place of a call that throws', async () => {
    const { turns } = turnsOf();
    const call = (): never => {
      throw new Error('no');
    };
    await expect(turns.run({ key: 'a' }, call)).rejects.toThrow('no');
    expect([turns.underWay, turns.keys]).toEqual([0, 0]);
  });

  it('ends every wait when it is stopped', async () => {
    const { clock, turns, begun, run, endAll } = turnsOf({ rateLimiter: { qps: 1, burst: 2 }, concurrencyPerKey: 1 });
    const first = run('a0');
    const waits = [run('a1'), run('a2'), run('b0'), run('c0', { isUrgent: true })].map((wait) =>
      expect(wait).rejects.toMatchObject({ code: 'ERR_STOPPED' }),
    );
    await settle();
    turns.stop();
    await Promise.all(waits);
    await expect(run('d0')).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await endAll();
    await first;
    expect([begun, turns.underWay, turns.waiting, turns.keys, clock.pendingTimers]).toEqual([['a0'], 0, 0, 0, 0]);
  });

  it.each([
    ['concurrency', { concurrency: 0 }],
    ['concurrencyPerKey', { concurrencyPerKey: 1.5 }],
  ])('refuses a wrong %s', (name, options) => {
    expect(() => turnsOf(options)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(name) }),
    );
  });
});

interface Operation {
  readonly kind: 'run' | 'urgent' | 'end' | 'abort';
  readonly key: string;
  readonly at: number;
}

const operations = fc.array(
  fc.record<Operation>({
    kind: fc.constantFrom('run', 'run', 'run', 'urgent', 'end', 'end', 'abort'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    at: fc.nat(50),
  }),
  { maxLength: 80 },
);

describe('FairTurns, whatever comes and goes', () => {
  it('keeps its limits, leaves no place free that may be taken, passes nobody over, and forgets all in the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        operations,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, most, perKey) => {
          const { turns, begun, run, ends, endAll, underWay } = turnsOf({ concurrency: most, concurrencyPerKey: perKey });
          const usualMost = Math.max(1, most - 1);
          const waits: { name: string; key: string; isUrgent: boolean; stop: AbortController; turnsOfOthers: number }[] = [];
          const settled: Promise<unknown>[] = [];
          let count = 0;
          for (const { kind, key, at } of steps) {
            const before = begun.length;
            if (kind === 'run' || kind === 'urgent') {
              const stop = new AbortController();
              const isUrgent = kind === 'urgent';
              const name = `${isUrgent ? key.toUpperCase() : key}${count++}`;
              waits.push({ name, key: name.replace(/\d+$/, ''), isUrgent, stop, turnsOfOthers: 0 });
              settled.push(run(name, { isUrgent, signal: stop.signal }).catch(() => {}));
            } else if (kind === 'end') ends.splice(at % Math.max(1, ends.length), 1)[0]?.();
            else waits.splice(at % Math.max(1, waits.length), 1)[0]?.stop.abort('enough');
            await settle();
            const heads = new Map<string, string>();
            for (const { name, key: of } of waits) if (!heads.has(of)) heads.set(of, name);
            for (const name of begun.slice(before)) {
              const of = name.replace(/\d+$/, '');
              // in its key, the one that came first is the first
              expect(heads.get(of)).toBe(name);
              waits.splice(
                waits.findIndex((wait) => wait.name === name),
                1,
              );
              heads.set(of, waits.find((wait) => wait.key === of)?.name ?? '');
              for (const wait of waits)
                if (!wait.isUrgent && /[a-e]/.test(of) && heads.get(wait.key) === wait.name) wait.turnsOfOthers += 1;
            }
            const usual = [...underWay].filter(([of]) => /[a-e]/.test(of));
            const usualUnderWay = usual.reduce((sum, [, each]) => sum + each, 0);
            expect(turns.underWay).toBe(ends.length);
            expect(turns.underWay).toBeLessThanOrEqual(most);
            expect(usualUnderWay).toBeLessThanOrEqual(usualMost);
            for (const [, each] of usual) expect(each).toBeLessThanOrEqual(perKey);
            const mayGo = waits.filter(
              (wait) => wait.isUrgent || (usualUnderWay < usualMost && (underWay.get(wait.key) ?? 0) < perKey),
            );
            if (ends.length < most) expect(mayGo).toEqual([]);
            // four others, and what of its own key is under way
            for (const wait of waits) if (perKey >= most) expect(wait.turnsOfOthers).toBeLessThanOrEqual(4);
            expect(turns.waiting).toBe(waits.length);
          }
          await endAll();
          await Promise.all(settled);
          expect([turns.underWay, turns.waiting, turns.keys]).toEqual([0, 0, 0]);
        },
      ),
      { numRuns: 150 },
    );
  });
});
