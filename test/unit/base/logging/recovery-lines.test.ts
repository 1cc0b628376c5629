import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import { RecoveryLines } from '../../../../src/base/logging/recovery-lines.ts';
import { FakeClock } from '../../../../src/testing.ts';

function setUp(more: Partial<Logger> = {}, clock = new FakeClock()) {
  const told: object[] = [];
  const quiet = (): void => {};
  const info = (fields: object): void => void told.push(fields);
  const lines = new RecoveryLines({ clock, logger: { debug: quiet, warn: quiet, error: quiet, info, ...more } });
  const recover = (pods: number): number => Array.from({ length: pods }, () => lines.take()).filter(Boolean).length;
  return { clock, told, lines, recover };
}

describe('the lines of pods that are well again', () => {
  it('are twenty in a minute, and one that counts ten thousand others', async () => {
    const { clock, told, recover } = setUp();
    expect(recover(10_020)).toBe(20);
    expect(told).toEqual([]);
    await clock.advance(10_000);
    expect(told).toEqual([{ pods: 10_000 }]);
    expect(recover(5)).toBe(0);
    await clock.advance(10_000);
    expect(told).toEqual([{ pods: 10_000 }, { pods: 5 }]);
    await clock.advance(40_000);
    expect(recover(25)).toBe(20);
  });

  it('are told at the end, when no timer is left and none follows', async () => {
    const { clock, told, lines, recover } = setUp();
    recover(23);
    lines.stop();
    expect([told, clock.pendingTimers]).toEqual([[{ pods: 3 }], 0]);
    expect(recover(30)).toBe(0);
    expect(clock.pendingTimers).toBe(0);
    lines.stop();
    expect(told).toHaveLength(1);
  });

  it('cost nothing where nobody sees them', () => {
    const { clock, lines, told, recover } = setUp({ isLevelEnabled: (level) => level !== 'info' });
    expect([recover(100), clock.pendingTimers]).toEqual([0, 0]);
    lines.stop();
    expect(told).toEqual([]);
  });

  it('are counted until the end where the clock sets no timer', () => {
    const clock = new FakeClock();
    clock.setTimer = () => {
      throw new Error('no timers');
    };
    const { told, lines, recover } = setUp({}, clock);
    expect(recover(22)).toBe(20);
    lines.stop();
    expect(told).toEqual([{ pods: 2 }]);
  });
});
