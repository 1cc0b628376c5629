import { describe, expect, it } from 'vitest';
import { CelAbort, CelMeter } from '../../../../../src/scheduler/devices/cel/cel-meter.ts';

describe('the meter of an evaluation', () => {
  it('ends it beyond what it may cost', () => {
    const meter = new CelMeter(10);
    meter.spend(10);
    expect(meter.cost).toBe(10);
    expect(() => meter.spend(1)).toThrow(new CelAbort('it costs more than 10 steps to evaluate'));
  });

  it('ends it where what it costs would be less than nothing', () => {
    const meter = new CelMeter(10);
    meter.spend(5);
    expect(() => meter.spend(-6)).toThrow(CelAbort);
  });

  it('ends it when the work is too much, whatever it costs', () => {
    const meter = new CelMeter(10);
    meter.work(10_000_000);
    expect(() => meter.work(1)).toThrow('it takes too long to evaluate');
  });
});
