import { expect, onTestFinished } from 'vitest';
import { noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { PodLifecycle } from '../../../../src/kubelet/pleg/pod-lifecycle.ts';
import type { PodLifecycleOptions } from '../../../../src/kubelet/pleg/pod-lifecycle-options.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import type { ContainerLife, LifeRequest } from '../../../../src/testing/runtime/fake-container.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

/** A lifecycle over a runtime in memory. The end of the test stops both, and finds no timer left. */
export function setUpLifecycle(options: Partial<PodLifecycleOptions> & { lives?: (request: LifeRequest) => ContainerLife } = {}) {
  const { lives = () => ({}), ...more } = options;
  const clock = new FakeClock();
  const runtime = new FakeRuntime({ clock, images: ['busybox'], lives });
  const changed: string[] = [];
  const lines: LogLine[] = [];
  const log = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields });
  };
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const podChanged = (uid: string): void => {
    changed.push(uid);
  };
  const lifecycle = new PodLifecycle({
    runtime,
    clock,
    logger,
    podChanged,
    terminationMessageOf: async () => '',
    metrics: noMetrics,
    ...more,
  });
  const { signal } = new AbortController();
  const end = async (): Promise<void> => {
    await lifecycle.stop();
    await runtime.close();
  };
  onTestFinished(async () => {
    await end();
    expect(clock.pendingTimers).toBe(0);
  });
  return {
    clock,
    runtime,
    lifecycle,
    changed,
    lines,
    signal,
    async runPod(uid: string, name = 'app') {
      const sandbox = sandboxConfigOf(uid);
      const sandboxID = await runtime.runPodSandbox(sandbox, '');
      const id = await runtime.createContainer(sandboxID, containerConfigOf(uid, name), sandbox);
      await runtime.startContainer(id);
      return { sandboxID, id };
    },
    /** The calls since it was asked last, by name. */
    takeCalls(): Record<string, number> {
      const counts: Record<string, number> = {};
      for (const { call } of runtime.calls) counts[call] = (counts[call] ?? 0) + 1;
      runtime.clearCalls();
      return counts;
    },
    async start() {
      lifecycle.start();
      await settle();
      // the lists that follow the start quickly
      await clock.advance(6000);
    },
  };
}
