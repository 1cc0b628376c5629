import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { setUpLifecycle as setUp } from './lifecycle-setup.ts';

describe('healthy', () => {
  it.each([
    -3_600_000, 3_600_000,
  ])('is the same after the wall clock was moved by %i ms, and nothing is listed for it', async (ms) => {
    const { start, lifecycle, runtime, clock, signal } = setUp();
    await start();
    runtime.clearCalls();
    clock.jump(ms);
    expect(lifecycle.healthy()).toEqual({ ok: true, message: '' });
    await lifecycle.getPods(signal);
    expect(runtime.calls).toEqual([]);
  });

  it('follows the last list that has succeeded', async () => {
    const { start, lifecycle, runtime, clock, lines } = setUp();
    expect(lifecycle.healthy()).toEqual({ ok: false, message: 'pleg has yet to be successful' });
    await start();
    expect(lifecycle.healthy()).toEqual({ ok: true, message: '' });
    runtime.fail({ call: 'ListPodSandbox', times: 10_000, fault: { kind: 'error', error: 'unavailable' } });
    await clock.advance(170_000);
    expect(lifecycle.healthy().ok).toBe(true);
    await clock.advance(30_000);
    expect(lifecycle.healthy().message).toMatch(/^pleg was last seen active 3m\d+s ago; threshold is 3m0s$/);
    runtime.heal();
    await clock.advance(10_000);
    expect(lifecycle.healthy().ok).toBe(true);
    expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn the container runtime could not be listed, and is listed again soon',
      'info the container runtime is listed again',
    ]);
  });
});

describe('a runtime that restarts', () => {
  it('is listed and read again as soon as it is back, with what happened meanwhile', async () => {
    const { runPod, start, lifecycle, runtime, clock, changed, lines } = setUp();
    const { id } = await runPod('a');
    await start();
    changed.length = 0;
    runtime.restart({ downMs: 5000 });
    runtime.killContainer(id);
    await clock.advance(6500);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    expect(changed).toEqual(['a']);
    const second = await runPod('b');
    await settle();
    runtime.killContainer(second.id);
    await settle();
    expect(lifecycle.get('b').containers).toMatchObject([{ state: 'exited' }]);
    expect(lines.filter(({ message }) => message.startsWith('the events')).map(({ message }) => message)).toEqual([
      'the events of the container runtime have ended, and are asked for again',
      'the events of the container runtime come again',
    ]);
  });
});

describe('a stream of events that opens again', () => {
  it('loses nothing that happens before the runtime knows who listens', async () => {
    const { runPod, start, lifecycle, runtime, clock, changed } = setUp();
    const { id } = await runPod('a');
    await start();
    runtime.restart({ downMs: 500 });
    await clock.advance(1600);
    changed.length = 0;
    // the list that follows the reconnecting is over, and the event is sent to nobody
    runtime.loseEvents({ times: 1 });
    runtime.killContainer(id);
    await clock.advance(1100);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    expect(changed).toEqual(['a']);
  });
});

describe('a listener that fails', () => {
  it('harms nobody', async () => {
    const { runPod, start, lifecycle, lines } = setUp({
      podChanged: () => {
        throw new Error('no');
      },
    });
    await runPod('a');
    await start();
    expect(lifecycle.get('a').containers).toHaveLength(1);
    expect(lines).toMatchObject([{ level: 'warn', fields: { podUID: 'a' } }]);
  });
});
