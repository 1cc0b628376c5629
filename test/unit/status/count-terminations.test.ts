import { describe, expect, it } from 'vitest';
import type { WirePodStatus } from '../../../src/api/json/types.ts';
import { metricsOption } from '../../../src/base/metrics/metrics.ts';
import { countTerminations } from '../../../src/status/status-cache.ts';

type Statuses = NonNullable<WirePodStatus['containerStatuses']>;

const running = { running: {} };
const ended = { terminated: { exitCode: 1, reason: 'Error' } };
const container = (name: string, state: object) => ({ name, image: '', imageID: '', ready: false, restartCount: 0, state });

function counted(before: Statuses, after: Statuses): number {
  let count = 0;
  const metrics = metricsOption({ increment: () => void count++, observe() {}, set() {} });
  countTerminations(metrics, { containerStatuses: before }, { containerStatuses: after });
  return count;
}

describe('countTerminations', () => {
  it('counts what has ended and was not before; of a name that comes twice, the first one was', () => {
    const before = [container('a', running), container('b', ended), container('c', ended), container('c', running)];
    const after = ['a', 'b', 'c', 'd'].map((name) => container(name, ended));
    expect([counted(before, after), counted([], after), counted(after, after)]).toEqual([2, 4, 0]);
  });

  it('looks at each container once, however many there are', () => {
    let reads = 0;
    const before = Array.from({ length: 2_000 }, (_, n) => ({
      ...container('', running),
      get name() {
        reads += 1;
        return `c${n}`;
      },
    }));
    expect(
      counted(
        before,
        before.map((_, n) => container(`c${n}`, ended)),
      ),
    ).toBe(2_000);
    expect(reads).toBe(2_000);
  });
});
