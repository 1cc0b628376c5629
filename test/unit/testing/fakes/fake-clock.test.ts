import { describe, expect, it } from 'vitest';
import { sleep } from '../../../../src/base/clock.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

describe('FakeClock', () => {
  it('stands at 2000-01-01T00:00:00Z until a test moves it', async () => {
    const clock = new FakeClock();
    await settle();
    expect(new Date(clock.now()).toISOString()).toBe('2000-01-01T00:00:00.000Z');
  });

  it('starts at a date or at milliseconds', () => {
    expect(new FakeClock({ start: new Date(5_000) }).now()).toBe(5_000);
    expect(new FakeClock({ start: 7_000 }).now()).toBe(7_000);
  });

  it('fires timers in order of time, each at its own time, and those of one instant in order of creation', async () => {
    const clock = new FakeClock({ start: 0 });
    const fired: [string, number][] = [];
    const arm = (name: string, delayMs: number) => clock.setTimer(() => fired.push([name, clock.now()]), delayMs);
    arm('late', 30);
    arm('early', 10);
    arm('also early', 10);
    arm('never', 31);
    await clock.advance(30);
    expect(fired).toEqual([
      ['early', 10],
      ['also early', 10],
      ['late', 30],
    ]);
    expect(clock.pendingTimers).toBe(1);
    expect(clock.now()).toBe(30);
  });

  it('fires a timer that another timer has set, if it falls due in the same advance', async () => {
    const clock = new FakeClock({ start: 0 });
    const fired: number[] = [];
    const tick = (): void => {
      fired.push(clock.now());
      clock.setTimer(tick, 10);
    };
    clock.setTimer(tick, 10);
    await clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
  });

  it('lets continuations run between two timers', async () => {
    const clock = new FakeClock({ start: 0 });
    const seen: string[] = [];
    void sleep(clock, 10, new AbortController().signal).then(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`after the first at ${clock.now()}`);
    });
    clock.setTimer(() => seen.push('second'), 20);
    await clock.advance(20);
    expect(seen).toEqual(['after the first at 10', 'second']);
  });

  it('fires a timer set by a continuation that was pending when advance began', async () => {
    const clock = new FakeClock();
    let fired = false;
    void Promise.resolve().then(() => clock.setTimer(() => (fired = true), 5));
    await clock.advance(5);
    expect(fired).toBe(true);
  });

  it('does not fire a cancelled timer, and a second cancel does nothing', async () => {
    const clock = new FakeClock();
    let fired = 0;
    const cancel = clock.setTimer(() => (fired += 1), 5);
    clock.setTimer(() => (fired += 10), 5);
    cancel();
    cancel();
    await clock.advance(5);
    expect(fired).toBe(10);
  });

  it('jumps without firing timers and without changing the time left to them', async () => {
    const clock = new FakeClock({ start: 0 });
    let firedAt: number | undefined;
    clock.setTimer(() => (firedAt = clock.now()), 10);
    clock.jump(3_600_000);
    await settle();
    expect(firedAt).toBeUndefined();
    clock.set(500);
    await clock.advance(9);
    expect(firedAt).toBeUndefined();
    await clock.advance(1);
    expect(firedAt).toBe(510);
  });

  it('refuses a delay so long that a real timer would fire at once', () => {
    const clock = new FakeClock();
    expect(() => clock.setTimer(() => {}, 2 ** 31)).toThrow(/`delayMs`.*2147483648 \(number\)/);
    expect(() => clock.setTimer(() => {}, Number.NaN)).toThrow(/`delayMs`/);
  });

  it('refuses to go backwards, and times that are no number', async () => {
    const clock = new FakeClock();
    await expect(clock.advance(-1)).rejects.toThrow(/`ms` to be zero or more, got -1/);
    expect(() => clock.jump(Number.NaN)).toThrow(/`ms`/);
    expect(() => new FakeClock({ start: new Date('nonsense') })).toThrow(/`start`/);
  });
});
