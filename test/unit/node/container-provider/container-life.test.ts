import { expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { noEvents } from '../../../../src/client/events/event-recorder.ts';
import { RunningContainer } from '../../../../src/node/container-provider/container-life.ts';
import { KeptLogs } from '../../../../src/node/container-provider/kept-logs.ts';
import { RestartBackoff } from '../../../../src/node/workers/restart-backoff.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

it('a sidecar that was never ready counts as started once it will not run again', async () => {
  const clock = new FakeClock();
  const noTimer = (): never => {
    throw new Error('no timer');
  };
  const spec = { name: 'proxy', restartPolicy: 'Always', startupProbe: { tcpSocket: { port: 80 } } };
  const never = new AbortController().signal;
  const life = new RunningContainer({
    pod: { metadata: { uid: '1', name: 'web', namespace: 'default' }, spec: { initContainers: [spec], containers: [] } },
    spec,
    isInit: true,
    runContainer: async () => 1,
    backoff: new RestartBackoff({ clock }),
    // no wait before the next run can begin, so there is no next run
    clock: { now: () => clock.now(), elapsed: () => clock.elapsed(), setTimer: noTimer },
    logs: new KeptLogs('logs', {}, clock).ofPod(),
    tools: () => ({ logger: silentLogger, eventRecorder: noEvents }),
    changed: () => {},
    ...{ ending: never, stop: never, kill: never },
  });
  let hasStarted = false;
  void life.started.then(() => {
    hasStarted = true;
  });
  expect(await life.live()).toBe(false);
  expect([hasStarted, life.state.state]).toEqual([true, 'waiting']);
});
