import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import { type MetricsSink, metricsOption, noMetrics, sampleGauges } from '../../../../src/base/metrics/metrics.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const ignore = (): void => {};
const plain: MetricsSink = { increment: ignore, observe: ignore, set: ignore };

describe('sampled gauges', () => {
  it('are read every ten seconds for a sink that cannot say when it is read, and once at the end', async () => {
    const clock = new FakeClock();
    let reads = 0;
    const end = sampleGauges(metricsOption(plain), clock, () => void reads++);
    await clock.advance(9_999);
    expect(reads).toBe(0);
    await clock.advance(20_001);
    expect(reads).toBe(3);
    end();
    end();
    expect([reads, clock.pendingTimers]).toEqual([4, 0]);
  });

  it('are read before each collection of a sink that says so, and never by a timer', async () => {
    const clock = new FakeClock();
    const reads: (() => void)[] = [];
    const sink: MetricsSink = {
      ...plain,
      onCollect(read) {
        reads.push(read);
        return () => void reads.pop();
      },
    };
    let count = 0;
    const end = sampleGauges(metricsOption(sink), clock, () => void count++);
    for (const read of reads) read();
    expect([count, clock.pendingTimers]).toEqual([1, 0]);
    end();
    expect([count, reads]).toEqual([2, []]);
  });

  it('are read by the timer where the sink takes no reader', async () => {
    const clock = new FakeClock();
    let count = 0;
    const onCollect = (): never => {
      throw new Error('boom');
    };
    const end = sampleGauges(metricsOption({ ...plain, onCollect }), clock, () => void count++);
    await clock.advance(10_000);
    expect(count).toBe(1);
    end();
    expect([count, clock.pendingTimers]).toEqual([2, 0]);
  });

  it('are not read without a sink', async () => {
    const clock = new FakeClock();
    let reads = 0;
    const end = sampleGauges(noMetrics, clock, () => void reads++);
    await clock.advance(60_000);
    end();
    expect([reads, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('do no harm when the reading or the clock fails', async () => {
    const clock = new FakeClock();
    const fail = (): never => {
      throw new Error('boom');
    };
    const end = sampleGauges(metricsOption(plain), clock, fail);
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(1);
    end();
    const broken: Clock = { now: () => 0, setTimer: fail };
    expect(() => sampleGauges(metricsOption(plain), broken, fail)()).not.toThrow();
  });
});
