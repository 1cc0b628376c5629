import { describe, expect, it } from 'vitest';
import { RuntimeWatch } from '../../../../src/kubelet/machine/runtime-watch.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';

function setUp() {
  const clock = new FakeClock();
  const runtime = new FakeRuntime({ clock });
  const warnings: string[] = [];
  const quiet = (): void => {};
  const logger = { debug: quiet, info: quiet, warn: (_: object, text: string) => void warnings.push(text), error: quiet };
  const seen = { changes: 0 };
  const changed = (): void => {
    seen.changes += 1;
  };
  return { clock, runtime, warnings, seen, watch: new RuntimeWatch({ runtime, clock, logger, changed }) };
}

describe('a watch of the runtime', () => {
  it('says that nobody has looked yet before its start', () => {
    const { watch } = setUp();
    expect(watch.runtimeError()).toBe('container runtime status check may not have completed yet');
    expect(watch.networkError()).toBe('container runtime status check may not have completed yet');
  });

  it('knows at its start what the runtime is, and tells of it once', async () => {
    const { watch, clock, seen, warnings } = setUp();
    await watch.start();
    expect([watch.runtimeError(), watch.networkError(), watch.version?.runtimeName]).toEqual([undefined, undefined, 'fake']);
    await clock.advance(60_000);
    expect([seen.changes, warnings]).toEqual([1, []]);
    await watch.stop();
  });

  it('says that the runtime is down once it has not been well for half a minute, and when it is well again', async () => {
    const { watch, clock, runtime, seen } = setUp();
    await watch.start();
    runtime.fail({ call: 'Status', fault: { kind: 'error', error: 'unavailable' }, times: 100 });
    await clock.advance(30_000);
    expect(watch.runtimeError()).toBeUndefined();
    await clock.advance(5000);
    expect(watch.runtimeError()).toMatch(/^container runtime is down: /);
    expect(seen.changes).toBe(2);
    runtime.heal();
    await clock.advance(5000);
    expect([watch.runtimeError(), seen.changes]).toEqual([undefined, 3]);
    await watch.stop();
  });

  it.each([-3_600_000, 3_600_000])('counts the time that passes, also when the wall clock is moved by %i ms', async (ms) => {
    const { watch, clock, runtime } = setUp();
    await watch.start();
    clock.jump(ms);
    expect(watch.runtimeError()).toBeUndefined();
    runtime.fail({ call: 'Status', fault: { kind: 'error', error: 'unavailable' }, times: 100 });
    await clock.advance(35_000);
    expect(watch.runtimeError()).toMatch(/^container runtime is down: /);
    await watch.stop();
  });

  it('asks nobody, and keeps no timer, after stop', async () => {
    const { watch, clock, runtime } = setUp();
    await watch.start();
    await watch.stop();
    runtime.clearCalls();
    await clock.advance(60_000);
    await settle();
    expect(runtime.calls).toEqual([]);
  });

  it('says since when and how often the runtime has not been well, from its first bad answer on', async () => {
    const { watch, clock, runtime } = setUp();
    await watch.start();
    expect([watch.trouble(), watch.networkTrouble()]).toEqual([undefined, undefined]);
    runtime.fail({ call: 'Status', fault: { kind: 'error', error: 'unavailable', message: 'no socket' }, times: 100 });
    await clock.advance(5000);
    const since = clock.now();
    expect(watch.trouble()).toEqual({ message: 'no socket', since, attempt: 1, retryAt: since + 5000 });
    await clock.advance(10_000);
    expect(watch.trouble()).toEqual({ message: 'no socket', since, attempt: 3, retryAt: since + 15_000 });
    runtime.heal();
    await clock.advance(5000);
    expect(watch.trouble()).toBeUndefined();
    await watch.stop();
  });

  it('gives a runtime half a minute for an answer', async () => {
    const { watch, clock, runtime, warnings } = setUp();
    await watch.start();
    runtime.fail({ call: 'Status', fault: { kind: 'hang' } });
    await clock.advance(34_999);
    expect(watch.trouble()).toBeUndefined();
    await clock.advance(1);
    expect(watch.trouble()?.message).toBe('Status gave no answer within 30 s');
    expect(warnings).toEqual(['the container runtime did not say how it is; it is asked again']);
    await clock.advance(5000);
    expect(watch.trouble()).toBeUndefined();
    await watch.stop();
  });

  it('logs once that the runtime says that it or its network is not ready', async () => {
    const { watch, clock, runtime, warnings } = setUp();
    await watch.start();
    for (const type of ['RuntimeReady', 'NetworkReady']) {
      runtime.setCondition({ type, status: false, reason: 'No', message: `no ${type}` });
    }
    await clock.advance(60_000);
    expect(warnings).toEqual([
      'the container runtime says that it is not ready',
      'the container runtime says that its network is not ready',
    ]);
    expect(watch.networkTrouble()).toMatchObject({ message: expect.stringContaining('no NetworkReady'), attempt: 12 });
    await watch.stop();
  });
});
