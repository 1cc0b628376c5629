import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { steadyTime } from '../../../../src/scheduler/queue/backoff-queue.ts';
import { nodeAdd } from '../../../../src/scheduler/queue/cluster-event.ts';
import { SchedulingQueue } from '../../../../src/scheduler/queue/scheduling-queue.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { giveBack, node, nodeWaiter, pod, queueOf } from './queue-world.ts';

function fail(): never {
  throw new Error('own fault');
}

const reject = (): unknown => Promise.reject(new Error('own fault'));

describe('a plugin that fails', () => {
  it.each([
    ['throws', fail],
    ['answers with a promise that rejects', reject],
    ['answers something else', () => 'perhaps'],
    ['answers nothing', () => undefined],
  ])('in a hint that %s lets the pod be tried again', async (_what, hint) => {
    const { queue } = queueOf([nodeWaiter('w', hint)]);
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'w');
    queue.see({ event: nodeAdd, before: undefined, after: node('n') });
    expect(queue.placeOf('a')?.place).toBe('backoff');
  });

  it.each([
    ['throws', fail, 'own fault'],
    ['answers with a promise that rejects', reject, 'promise'],
    ['answers something else', () => true, 'expected it to return'],
  ])('as a gate that %s keeps the pod, and says why', async (_what, preEnqueue, why) => {
    const { queue, lines } = queueOf([{ name: 'gate', preEnqueue } as Plugin]);
    expect(queue.add(pod('a'))).toBe(false);
    expect(queue.placeOf('a')).toMatchObject({ place: 'unschedulable', info: { gatedBy: 'gate' } });
    expect(queue.placeOf('a')?.info.gate?.reasons.join()).toContain(why);
    expect(lines).toEqual(['a plugin could not say whether a pod may be tried; the pod waits']);
  });

  it.each([
    ['throws', fail],
    ['answers with a promise that rejects', reject],
    ['always says yes', () => true],
  ])('as the order of the queue that %s loses no pod', async (_what, less) => {
    const { queue, clock } = queueOf([{ name: 'sort', less } as Plugin]);
    for (const uid of ['a', 'b', 'c', 'd']) {
      queue.add(pod(uid));
      await clock.advance(1);
    }
    expect([1, 2, 3, 4].map(() => queue.pop()?.podInfo.uid).sort()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('profiles that share no order', () => {
  const sorting = (name: string): Plugin => ({ name, less: () => false });
  const profile = (schedulerName: string, ...plugins: readonly Plugin[]) => ({ schedulerName, plugins, weights: new Map() });

  it.each([
    [[], /^Expected `profiles` to be at least one profile/],
    [[profile('s')], /^Expected `plugins of s` to be exactly one of them with `less`/],
    [[profile('s', sorting('a'), sorting('b'))], /^Expected `plugins of s` to be exactly one .*a, b/],
    [
      [profile('s', sorting('a')), profile('t', sorting('b'))],
      /^Expected `profiles` to be a list of profiles that all sort the queue with a/,
    ],
  ])('are refused: %j', (profiles, message) => {
    const clock = new FakeClock();
    const options = {
      backoff: { initialMs: 1, maxMs: 1 },
      maxInUnschedulableMs: 1,
      time: steadyTime(clock),
      logger: silentLogger,
      onReady: () => {},
    };
    expect(() => new SchedulingQueue({ ...options, profiles })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(message) }),
    );
  });
});
