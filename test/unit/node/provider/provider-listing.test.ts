import { describe, expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { ProvidedPods } from '../../../../src/node/provider/provided-pods.ts';
import { ProviderListing } from '../../../../src/node/provider/provider-listing.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

/** A provider whose first lists are answered as given, and each later one with no pods. */
function setUp(...answers: (() => unknown)[]) {
  const clock = new FakeClock();
  const start = clock.now();
  const asked: number[] = [];
  const getPods = () => {
    asked.push(clock.now() - start);
    return (answers.shift() ?? (() => []))() as never;
  };
  const log = recordedLines();
  const steady = safeClock(clock);
  const provider = { createPod() {}, deletePod() {}, getPodStatus: () => undefined, getPods };
  const pods = new ProvidedPods({ provider, nodeName: undefined, namespace: undefined, clock: steady, logger: log.logger });
  const listing = new ProviderListing({ pods, nodeName: 'node-1', clock: steady, logger: log.logger });
  return { clock, asked, log, pods, listing };
}
const fail = (): never => {
  throw new Error('cloud: 503');
};
const times = (count: number): (() => unknown)[] => Array.from({ length: count }, () => fail);

describe('the first list of a provider', () => {
  it('is asked for once where it comes', async () => {
    const { clock, asked, listing, log } = setUp();
    await listing.first();
    await clock.advance(600_000);
    expect([asked, listing.problem, log.of('error'), log.of('info'), clock.pendingTimers]).toEqual([[0], undefined, [], [], 0]);
  });

  it('is asked for again half a second after a failure, then less and less often, at least every 30 s', async () => {
    const { clock, asked, listing, log } = setUp(...times(9));
    await listing.first();
    expect(listing.problem).toMatchObject({ kind: 'get-pods', message: 'getPods() failed: cloud: 503', attempt: 1 });
    expect((listing.problem?.retryAt ?? 0) - clock.now()).toBe(500);
    for (let ms = 0; ms < 200_000; ms += 500) await clock.advance(500);
    expect(asked.map((ms) => ms / 1000)).toEqual([0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 61.5, 91.5, 121.5]);
    expect(listing.problem).toBeUndefined();
    expect(log.saying('the provider has given the list of its pods')).toMatchObject([
      { fields: { attempt: 9, failingForMs: 121_500 } },
    ]);
    expect([log.of('error').length, clock.pendingTimers]).toEqual([9, 0]);
  });

  it('is waited for ten seconds, and is asked for again where it does not come', async () => {
    const { clock, asked, listing, log } = setUp(() => new Promise<never>(() => {}));
    const first = listing.first();
    await clock.advance(10_000);
    await first;
    expect(log.saying('the provider gave no list of its pods; each pod is asked about')).toMatchObject([
      { fields: { err: { code: 'ERR_CALL_TIMEOUT' } } },
    ]);
    expect(listing.problem?.message).toBe('getPods() gave no answer within 10000 ms');
    await clock.advance(500);
    expect([asked, listing.problem]).toEqual([[0, 10_500], undefined]);
  });

  it('is no problem any more once anybody has asked for it', async () => {
    const { clock, asked, listing, pods } = setUp(...times(1));
    await listing.first();
    await pods.list(new AbortController().signal);
    expect(listing.problem).toBeUndefined();
    await clock.advance(60_000);
    expect(asked).toEqual([0, 0]);
  });

  it('is asked for no more after the stop', async () => {
    const { clock, asked, listing, log } = setUp(...times(5));
    await listing.first();
    listing.stop();
    await clock.advance(60_000);
    expect([asked, clock.pendingTimers, log.of('error').length]).toEqual([[0], 0, 1]);
  });
});
