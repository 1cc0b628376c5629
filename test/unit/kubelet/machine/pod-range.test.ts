import { describe, expect, it, onTestFinished } from 'vitest';
import { PodRange } from '../../../../src/kubelet/machine/pod-range.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

function setUp() {
  const [clock, log] = [new FakeClock(), recordedLines()];
  const state = { range: '', told: [] as string[], answer: async (): Promise<void> => {} };
  const runtime = {
    updatePodCIDR: (range: string) => {
      state.told.push(range);
      return state.answer();
    },
  };
  const podRange = new PodRange({ runtime, range: () => state.range, nodeName: 'node-1', clock, logger: log.logger });
  onTestFinished(() => podRange.stop());
  podRange.start();
  return { clock, log, state, podRange };
}

describe('the range of pod addresses', () => {
  it('goes to the runtime once it is known, and again when it is another one', async () => {
    const { clock, state } = setUp();
    await clock.advance(10_000);
    expect(state.told).toEqual([]);
    state.range = '10.0.0.0/24';
    await clock.advance(1000);
    expect(state.told).toEqual(['10.0.0.0/24']);
    await clock.advance(60_000);
    expect(state.told).toEqual(['10.0.0.0/24']);
    state.range = '10.0.0.0/24,fd00::/64';
    await clock.advance(10_000);
    expect(state.told).toEqual(['10.0.0.0/24', '10.0.0.0/24,fd00::/64']);
    state.range = '';
    await clock.advance(60_000);
    expect(state.told).toHaveLength(2);
  });

  it('is told again to a runtime that fails or never answers, with one line for all failures', async () => {
    const { clock, state, log } = setUp();
    state.range = '10.0.0.0/24';
    state.answer = () => Promise.reject(new Error('not now'));
    await clock.advance(5000);
    expect(state.told.length).toBeGreaterThan(3);
    state.answer = () => new Promise(() => {});
    await clock.advance(31_000);
    const before = state.told.length;
    await clock.advance(31_000);
    expect(state.told.length).toBe(before + 1);
    expect(log.of('warn')).toEqual(['the container runtime did not take the range of pod addresses']);
    state.answer = async () => {};
    await clock.advance(35_000);
    expect(log.of('info')).toContain('the container runtime has taken the range of pod addresses');
  });

  it('of any length that others write is no call', async () => {
    const { clock, state } = setUp();
    state.range = '1'.repeat(10_000);
    await clock.advance(5000);
    expect(state.told).toEqual([]);
  });
});
