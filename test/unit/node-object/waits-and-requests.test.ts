import { afterEach, describe, expect, it, vi } from 'vitest';
import { NodeRequests } from '../../../src/node-object/node-requests.ts';
import { WakeableWait } from '../../../src/node-object/wakeable-wait.ts';
import { silentLogger } from '../../../src/seams/logger.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await settle();
  return over;
}

describe('a wait', () => {
  it('ends after its time, when it is woken, and at once when it was woken before', async () => {
    const clock = new FakeClock();
    const wait = new WakeableWait(clock, silentLogger);
    const first = wait.wait(1000);
    expect(await isOver(first)).toBe(false);
    await clock.advance(1000);
    expect(await isOver(first)).toBe(true);
    const second = wait.wait(1000);
    wait.wake();
    expect(await isOver(second)).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    wait.wake();
    expect(await isOver(wait.wait(1000))).toBe(true);
    const third = wait.wait(1000);
    expect(await isOver(third)).toBe(false);
    wait.close();
    expect(await isOver(third)).toBe(true);
    expect(await isOver(wait.wait(1000))).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is counted by the machine where the clock sets no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const setTimer = (): never => {
      throw new Error('no timer');
    };
    const wait = new WakeableWait({ now: () => 0, setTimer }, silentLogger);
    const first = wait.wait(1000);
    vi.advanceTimersByTime(999);
    expect(await isOver(first)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await isOver(first)).toBe(true);
    void wait.wait(1000);
    wait.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('requests', () => {
  it('hear of the stop, and none is sent after it', async () => {
    const requests = new NodeRequests({ clock: new FakeClock(), timeoutMs: 1000, leavesBehind: false });
    let signal: AbortSignal | undefined;
    const answer = requests.call('a request', (call) => {
      signal = call.signal;
      return new Promise(() => {});
    });
    const waiting = requests.call('another', async () => 'sent');
    await settle();
    requests.stop();
    expect(signal?.aborted).toBe(true);
    await expect(answer).rejects.toMatchObject({ reason: 'Aborted' });
    await expect(waiting).rejects.toMatchObject({ reason: 'Aborted' });
    await expect(requests.call('a third', async () => 'sent')).rejects.toMatchObject({ reason: 'Aborted' });
  });

  it('hear of it when they are given up, and hold up the next until they have settled', async () => {
    const clock = new FakeClock();
    const requests = new NodeRequests({ clock, timeoutMs: 1000, leavesBehind: false });
    const late = Promise.withResolvers<string>();
    let signal: AbortSignal | undefined;
    const first = requests.call('a request', (call) => {
      signal = call.signal;
      return late.promise;
    });
    first.catch(() => {});
    await clock.advance(2000);
    await expect(first).rejects.toMatchObject({ reason: 'Timeout' });
    expect(signal?.aborted).toBe(true);
    let sent = false;
    const second = requests.call('another', async () => {
      sent = true;
      return 'sent';
    });
    await clock.advance(60_000);
    expect(sent).toBe(false);
    late.resolve('late');
    expect(await second).toBe('sent');
  });
});
