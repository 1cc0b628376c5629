import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { setUpLifecycle as setUp } from './lifecycle-setup.ts';

describe('an end that comes while a call changes the pod', () => {
  it('is read at once after the call', async () => {
    const { runPod, start, lifecycle, runtime, clock } = setUp();
    const { id } = await runPod('a');
    await start();
    const endExpecting = lifecycle.expectRead('a');
    runtime.killContainer(id);
    await clock.advance(10);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'running' }]);
    endExpecting();
    await settle();
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
  });

  it('is known to the call that begins next', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal, takeCalls } = setUp();
    const { id } = await runPod('a');
    await start();
    await lifecycle.refresh('a', signal);
    takeCalls();
    const endExpecting = lifecycle.expectRead('a');
    runtime.killContainer(id);
    await clock.advance(10);
    const during = await lifecycle.getNewerThan('a', clock.now() - 1000, signal);
    expect(during.containers).toMatchObject([{ state: 'exited' }]);
    endExpecting();
    await lifecycle.getNewerThan('a', clock.now() - 1000, signal);
    expect(takeCalls()).toMatchObject({ ListPodSandbox: 1 });
  });

  it('is known to one for whom the read for it has only begun, and to one after a read for it has failed', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    const [first, second] = [await runPod('a'), await runPod('b')];
    await start();
    await clock.advance(10_000);
    runtime.fail({ call: 'ContainerStatus', fault: { kind: 'late-answer', ms: 100 } });
    runtime.killContainer(first.id);
    await settle();
    const read = lifecycle.getNewerThan('a', clock.now() - 60_000, signal);
    await clock.advance(100);
    expect((await read).containers).toMatchObject([{ state: 'exited' }]);
    runtime.fail({ call: 'ListContainers', times: 2, fault: { kind: 'error', error: 'failed' } });
    runtime.killContainer(second.id);
    await settle();
    expect(lifecycle.get('b').containers).toMatchObject([{ state: 'running' }]);
    const again = await lifecycle.getNewerThan('b', clock.now() - 60_000, signal);
    expect(again.containers).toMatchObject([{ state: 'exited' }]);
  });
});

describe('events that come while calls change the pod', () => {
  it('are read within a second of the first one, however many short calls there are', async () => {
    const { start, lifecycle, runtime, clock } = setUp();
    const sandboxID = await runtime.runPodSandbox(sandboxConfigOf('a'), '');
    const id = await runtime.createContainer(sandboxID, containerConfigOf('a', 'app'), sandboxConfigOf('a'));
    await start();
    const endFirst = lifecycle.expectRead('a');
    await runtime.startContainer(id);
    await clock.advance(5);
    endFirst();
    for (let call = 0; call < 4; call += 1) {
      await clock.advance(195);
      const end = lifecycle.expectRead('a');
      await clock.advance(5);
      end();
    }
    await clock.advance(194);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'created' }]);
    await clock.advance(1);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'running' }]);
  });

  it('of which one comes late in a long call are read within its second all the same', async () => {
    const { runPod, start, lifecycle, runtime, clock } = setUp();
    const { sandboxID } = await runPod('a');
    await start();
    await clock.advance(10_000);
    const id = await runtime.createContainer(sandboxID, containerConfigOf('a', 'more'), sandboxConfigOf('a'));
    const endExpecting = lifecycle.expectRead('a');
    await runtime.startContainer(id);
    await clock.advance(900);
    endExpecting();
    await clock.advance(99);
    expect(lifecycle.get('a').containers).toHaveLength(1);
    await clock.advance(1);
    expect(lifecycle.get('a').containers).toHaveLength(2);
  });
});

describe('a clock that was set back while nothing was read', () => {
  it('makes no read new that is old, however far it has caught up', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    const { id } = await runPod('a');
    await start();
    await lifecycle.refresh('a', signal);
    runtime.fail({ call: 'ListPodSandbox', fault: { kind: 'late-answer', ms: 100_000 } });
    await clock.advance(10_000);
    runtime.loseEvents({ times: 100 });
    runtime.killContainer(id);
    clock.jump(-60_000);
    await clock.advance(60_300);
    const { containers } = await lifecycle.getNewerThan('a', clock.now() - 11_000, signal);
    expect(containers).toMatchObject([{ state: 'exited' }]);
  });
});
