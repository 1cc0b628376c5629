import { describe, expect, it } from 'vitest';
import { NodeRequests } from '../../../../src/node/node-object/node-requests.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

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
