import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/base/problem.ts';
import { FleetLog } from '../../../src/fleet/fleet-log.ts';
import { FakeClock } from '../../../src/testing.ts';
import { recordedLines } from '../../support/recorded-lines.ts';

const namesake: Problem = { kind: 'fleet-id', message: 'another process has the id', attempt: 0, help: 'Give an id.' };
const unowned: Problem = { kind: 'fleet-unowned', message: 'shard 3 has no owner', attempt: 0, help: 'See why.' };

function world() {
  const clock = new FakeClock();
  const lines = recordedLines();
  const now: Problem[] = [];
  const log = new FleetLog({ fleet: 'edge', member: 'a', problems: () => now, clock, logger: lines.logger });
  log.start();
  return { clock, lines, now, log };
}

describe('the log of a fleet', () => {
  it.each([
    [namesake, 'this process takes no shards of the fleet', 'this process takes shards of the fleet again'],
    [unowned, 'shards of the fleet have no owner', 'the shards of the fleet have owners again'],
  ])('has a line for a problem, once, with its kind, its words and its help, and one when it is over', async (problem, says, ends) => {
    const { clock, lines, now, log } = world();
    now.push({ ...problem, since: clock.now() - 2000 });
    await clock.advance(10_000);
    const { kind, message, help } = problem;
    expect(lines.saying(says).map(({ fields }) => fields)).toEqual([
      { fleet: 'edge', member: 'a', reason: message, problemKind: kind, failingForMs: 3000, help },
    ]);
    expect(lines.of('info')).toEqual([]);
    now.length = 0;
    await clock.advance(1000);
    expect(lines.saying(ends).map(({ fields }) => fields)).toEqual([
      { fleet: 'edge', member: 'a', attempt: 1, failingForMs: 13_000 },
    ]);
    // one that comes again is told anew, and each end once
    await clock.advance(10_000);
    now.push(problem);
    await clock.advance(10_000);
    expect([lines.saying(ends).length, lines.saying(says).length]).toEqual([1, 2]);
    log.stop();
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
