import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../../src/node/workers/work-queue.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

function queueOf(): { clock: FakeClock; queue: WorkQueue; woken: boolean[] } {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock });
  const woken: boolean[] = [];
  return { clock, queue, woken };
}

describe('a work queue', () => {
  it('gives the pods that are due, the one first due first, each once', async () => {
    const { clock, queue } = queueOf();
    queue.enqueue('a', 3000);
    queue.enqueue('b', 1000);
    queue.enqueue('c', 9000);
    expect(queue.getWork()).toEqual([]);
    await clock.advance(3000);
    expect(queue.getWork()).toEqual(['b', 'a']);
    expect(queue.getWork()).toEqual([]);
    expect(queue.size).toBe(1);
  });

  it('counts the last delay given, a longer one too', async () => {
    const { clock, queue } = queueOf();
    queue.enqueue('a', 1000);
    queue.enqueue('a', 5000);
    queue.enqueue('b', 5000);
    queue.enqueue('b', 0);
    expect(queue.getWork()).toEqual(['b']);
    await clock.advance(4999);
    expect(queue.getWork()).toEqual([]);
    await clock.advance(1);
    expect(queue.getWork()).toEqual(['a']);
  });

  it('wakes its reader when a pod is due, with one timer, and takes nothing', async () => {
    const { clock, queue, woken } = queueOf();
    const wait = queue.readable();
    expect(queue.readable()).toBe(wait);
    void wait.then((isOpen) => woken.push(isOpen));
    expect(clock.pendingTimers).toBe(0);
    for (const delayMs of [9000, 4000, 7000]) queue.enqueue(`after ${delayMs}`, delayMs);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(3999);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual([true]);
    expect(clock.pendingTimers).toBe(0);
    expect(queue.getWork()).toEqual(['after 4000']);
  });

  it('wakes its reader at once where a pod is due already, or becomes so', async () => {
    const { queue, woken } = queueOf();
    queue.enqueue('a', 0);
    expect(await queue.readable()).toBe(true);
    queue.getWork();
    void queue.readable().then((isOpen) => woken.push(isOpen));
    queue.enqueue('a', 0);
    await settle();
    expect(woken).toEqual([true]);
  });

  it('does not wake its reader for a delay that counts no more', async () => {
    const { clock, queue, woken } = queueOf();
    void queue.readable().then((isOpen) => woken.push(isOpen));
    queue.enqueue('a', 1000);
    queue.enqueue('a', 5000);
    await clock.advance(4999);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual([true]);
  });

  it('ends the wait when it is closed, keeps nothing, and leaves no timer', async () => {
    const { clock, queue } = queueOf();
    queue.enqueue('a', 1000);
    const wait = queue.readable();
    queue.close();
    expect(await wait).toBe(false);
    expect(await queue.readable()).toBe(false);
    queue.enqueue('b', 0);
    expect([queue.size, queue.getWork(), clock.pendingTimers]).toEqual([0, [], 0]);
  });

  it('waits longer than one timer can', async () => {
    const { clock, queue, woken } = queueOf();
    queue.enqueue('a', 3_000_000_000);
    void queue.readable().then((isOpen) => woken.push(isOpen));
    await clock.advance(2_999_999_999);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual([true]);
  });

  it('is not hastened by a clock that is set forward', async () => {
    const { clock, queue, woken } = queueOf();
    queue.enqueue('a', 5000);
    void queue.readable().then((isOpen) => woken.push(isOpen));
    clock.jump(3_600_000);
    queue.enqueue('b', 6000);
    await clock.advance(4999);
    expect([queue.getWork(), woken, queue.latenessMs, queue.dueAt('a')]).toEqual([[], [], 0, clock.now() + 1]);
    await clock.advance(1001);
    expect(queue.getWork()).toEqual(['a', 'b']);
  });

  it('is not delayed by a clock that is set back', async () => {
    const { clock, queue } = queueOf();
    queue.enqueue('a', 5000);
    await clock.advance(1000);
    queue.getWork();
    clock.jump(-3_600_000);
    queue.getWork();
    await clock.advance(4000);
    expect(queue.getWork()).toEqual(['a']);
  });

  it('keeps a pod once, however often it is put into it', () => {
    const { queue } = queueOf();
    for (let i = 0; i < 10_000; i++) queue.enqueue(`pod ${i % 10}`, 10_000 - i);
    expect([queue.size, queue.latenessMs]).toEqual([10, 0]);
    queue.close();
    expect(queue.size).toBe(0);
  });

  describe('of a clock that sets no timer', () => {
    /** A queue of which `failing` timers fail, one after another. */
    function failingQueue(): { clock: FakeClock; queue: WorkQueue; failing: { left: number } } {
      const clock = new FakeClock();
      const failing = { left: 1 };
      const setTimer: FakeClock['setTimer'] = (...args) => {
        if (failing.left-- > 0) throw new Error('no timer');
        return clock.setTimer(...args);
      };
      return { clock, queue: new WorkQueue({ clock: { now: () => clock.now(), setTimer } }), failing };
    }

    it('tells its reader, which may ask again', async () => {
      const { clock, queue } = failingQueue();
      queue.enqueue('a', 1000);
      await expect(queue.readable()).rejects.toThrow('no timer');
      const wait = queue.readable();
      await clock.advance(1000);
      expect(await wait).toBe(true);
      expect(queue.getWork()).toEqual(['a']);
    });

    it('keeps what it is given, and tells the reader alone', async () => {
      const { clock, queue } = failingQueue();
      const refused = expect(queue.readable()).rejects.toThrow('no timer');
      queue.enqueue('a', 1000);
      await refused;
      const wait = queue.readable();
      await clock.advance(1000);
      expect(await wait).toBe(true);
      expect(queue.getWork()).toEqual(['a']);
    });

    it('tells its reader also where the next timer of a long wait fails', async () => {
      const { clock, queue, failing } = failingQueue();
      failing.left = 0;
      queue.enqueue('a', 3_000_000_000);
      const refused = expect(queue.readable()).rejects.toThrow('no timer');
      failing.left = 1;
      await clock.advance(2 ** 31 - 1);
      await refused;
      expect(queue.size).toBe(1);
    });

    it('harms nobody where nobody waits', async () => {
      const { queue } = failingQueue();
      queue.enqueue('a', 1000);
      void queue.readable();
      await settle();
      expect(queue.size).toBe(1);
    });
  });

  it.each([[''], [undefined], [7]])('refuses the uid %j', (podUID) => {
    expect(() => new WorkQueue().enqueue(podUID as never, 1)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
  });

  it.each([[-1], [Number.NaN], [Number.POSITIVE_INFINITY], [undefined]])('refuses the delay %j', (delayMs) => {
    expect(() => new WorkQueue().enqueue('a', delayMs as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
    );
  });

  it('refuses options that break a rule', () => {
    const refused = expect.objectContaining({ code: 'ERR_INVALID_OPTION' });
    expect(() => new WorkQueue({ clock: {} } as never)).toThrow(refused);
    expect(() => new WorkQueue({ timer: 1 } as never)).toThrow(refused);
  });
});
