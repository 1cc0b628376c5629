import { describe, expect, it } from 'vitest';
import { PodEndings } from '../../../../src/kubelet/pods/pod-endings.ts';
import { PodTroubles } from '../../../../src/kubelet/pods/pod-troubles.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';

const pod = buildPod({ metadata: { name: 'web', uid: 'u1' } });

function setUp() {
  const clock = new FakeClock();
  const troubles = new PodTroubles(clock);
  const told: string[] = [];
  const note = (_: object, message: string): void => void told.push(message);
  const quiet = (): void => {};
  const logger = { debug: quiet, info: quiet, warn: note, error: note };
  const eventRecorder = { event: (_pod: object, _type: string, reason: string) => void told.push(reason) };
  return { clock, troubles, told, endings: new PodEndings({ troubles, clock, logger, eventRecorder }) };
}

describe('PodEndings', () => {
  it('tells once of a pod that has not ended ten seconds after its grace period', async () => {
    const { clock, told, troubles, endings } = setUp();
    endings.begin(pod, 5, ['app']);
    await clock.advance(14_999);
    expect(told).toEqual([]);
    endings.begin(pod, 5, ['app']);
    await clock.advance(1);
    expect(told).toEqual(['ExceededGracePeriod', 'a pod has not ended within its grace period']);
    expect(troubles.of('u1').get('grace')).toMatchObject({ kind: 'grace-over', attempt: 0, since: clock.now() });
    await clock.advance(600_000);
    expect(told).toHaveLength(2);
  });

  it('takes a shorter grace period, and no longer one', async () => {
    const { clock, told, endings } = setUp();
    endings.begin(pod, 60, []);
    endings.begin(pod, 1, []);
    endings.begin(pod, 60, []);
    await clock.advance(11_000);
    expect(told).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('tells nothing of a pod that has ended, nor after stop, and leaves no timer', async () => {
    const { clock, told, endings } = setUp();
    endings.begin(pod, 1, []);
    endings.ended('u1');
    endings.begin(buildPod({ metadata: { name: 'db', uid: 'u2' } }), 1, []);
    endings.stop();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(60_000);
    expect(told).toEqual([]);
  });

  it('goes on with a clock that sets no timer', () => {
    const { troubles, told } = setUp();
    const broken = {
      now: () => 0,
      elapsed: () => 0,
      setTimer: () => {
        throw new Error('no');
      },
    };
    const quiet = (): void => {};
    const logger = { debug: quiet, info: quiet, warn: quiet, error: (_f: object, text: string) => void told.push(text) };
    new PodEndings({ troubles, clock: broken, logger, eventRecorder: { event: quiet } }).begin(pod, 1, []);
    expect(told).toEqual(['the clock set no timer; nobody is told when the pod ends too slowly']);
  });
});
