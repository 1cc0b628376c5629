import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { container, podOf, SyncerWorld } from './syncer-world.ts';

const sidecar = (name: string, more = {}) => container(name, { restartPolicy: 'Always', ...more });
const preStop = { exec: { command: ['drain'] } };

describe('a pod that ends', () => {
  it('has its exit codes in its last status, and nothing left', async () => {
    await using world = new SyncerWorld({ lives: () => ({ exitCode: 7, stopTakesMs: 1500 }) });
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.end(pod);
    expect(world.status).toMatchObject({ phase: 'Failed', podIP: '10.244.0.2' });
    expect(world.status.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(7);
    expect(world.events).toContain('Normal Killing spec.containers{app}: Stopping container app');
    expect(world.calls).toEqual([
      ...['updateClasses', 'mountVolumes', 'ensurePod', 'addPod'],
      ...['stopLivenessAndStartup', 'updateClasses', 'removePod'],
    ]);
    expect(await world.runtime.listPodSandboxes({ ready: true })).toEqual([]);
    await world.finish(pod);
    expect(world.calls.slice(-3).sort()).toEqual(['removePodCgroup', 'terminatePod', 'unmountVolumes']);
    expect(world.calls.at(-1)).toBe('terminatePod');
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('is over only once what it had was given back', async () => {
    const given = Promise.withResolvers<void>();
    await using world = new SyncerWorld({ syncer: { onPodEnded: () => given.promise } });
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.end(pod);
    const finished = world.finish(pod);
    await world.clock.advance(1000);
    expect(world.calls).not.toContain('terminatePod');
    given.reject(new Error('EIO'));
    await finished;
    expect(world.calls.at(-1)).toBe('terminatePod');
  });

  it('is killed when its grace period is over', async () => {
    await using world = new SyncerWorld({ lives: () => ({ ignoresSigterm: true }) });
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    const begun = world.clock.now();
    await world.end(pod, 5);
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(5000);
    expect(world.clock.now() - begun).toBeLessThan(7000);
    expect(world.status.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(137);
  });

  it('gives containers two seconds at least', async () => {
    await using world = new SyncerWorld({ lives: () => ({ stopTakesMs: 1900 }) });
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.end(pod, 1);
    expect(world.status.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
  });

  it('keeps a termination message that can be read no more', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.end(pod);
    const [ended] = world.status.containerStatuses ?? [];
    if (ended?.state?.terminated) ended.state.terminated.message = 'all is said';
    await world.finish(pod);
    expect(world.status.containerStatuses?.[0]?.state?.terminated?.message).toBe('all is said');
  });
});

describe('a hook before the end', () => {
  it('shares the grace period with the container', async () => {
    await using world = new SyncerWorld({ exec: () => ({ takesMs: 4000 }), lives: () => ({ ignoresSigterm: true }) });
    const pod = podOf({ containers: [container('app', { lifecycle: { preStop } })] });
    await world.sync(pod);
    const begun = world.clock.now();
    await world.end(pod, 10);
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(10_000);
    expect(world.clock.now() - begun).toBeLessThan(12_000);
  });

  it('that takes too long is given up, and the container has two seconds', async () => {
    await using world = new SyncerWorld({ exec: () => ({ takesMs: 100_000 }), lives: () => ({ stopTakesMs: 1500 }) });
    const pod = podOf({ containers: [container('app', { lifecycle: { preStop } })] });
    await world.sync(pod);
    const begun = world.clock.now();
    await world.end(pod, 5);
    expect(world.clock.now() - begun).toBeLessThan(9000);
    expect(world.status.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
  });

  const secretly = { exec: { command: ['drain', '--token=secret'] } };
  const notThere = 'exec: "drain --token=secret": not found';
  it.each<[string, object, string | undefined, string]>([
    ['a command that fails', secretly, undefined, 'the command exited with 3'],
    ['a command that is not run', secretly, notThere, 'the runtime did not run the command (failed)'],
    ['a request', { httpGet: { port: 'secret', path: '/secret' } }, undefined, 'the request could not be made'],
    ['nothing', { nothing: {} }, undefined, 'it is neither a command, a request nor a pause'],
  ])('that fails is told of, without what it is and what it said: %s', async (_, handler, error, why) => {
    const lines: object[] = [];
    const logger = { ...silentLogger, warn: (...line: unknown[]) => void lines.push(line) };
    const exec = () => ({ exitCode: 3, stdout: 'secret words', stderr: 'secret error' });
    await using world = new SyncerWorld({ exec, syncer: { logger } });
    const pod = podOf({ containers: [container('app', { lifecycle: { preStop: handler } })] });
    await world.sync(pod);
    if (error !== undefined) world.runtime.fail({ call: 'ExecSync', fault: { kind: 'error', error: 'failed', message: error } });
    world.runtime.fail({ call: 'StopContainer', fault: { kind: 'error', error: 'failed', message: 'busy' } });
    await expect(world.end(pod)).rejects.toThrow('busy');
    expect(world.events).toContain('Warning FailedPreStopHook spec.containers{app}: PreStopHook failed');
    const trouble = world.syncer.troubles.of('web').get('preStop app');
    expect(trouble?.message).toBe(`the preStop hook of the container app failed: ${why}`);
    const told = inspect([world.events, lines, trouble], { depth: 10, showHidden: true });
    expect(told).toContain('the hook preStop of a container failed');
    expect(told).not.toMatch(/secret|drain/);
  });

  it('is run once, and given up sooner when the grace period shrinks', async () => {
    let hooks = 0;
    const exec = () => {
      hooks += 1;
      return { takesMs: 1_000_000 };
    };
    await using world = new SyncerWorld({ exec });
    const pod = podOf({ containers: [container('app', { lifecycle: { preStop } })] });
    await world.sync(pod);
    const controller = new AbortController();
    const first = world.end(pod, 600, controller.signal);
    await world.clock.advance(10_000);
    controller.abort(new Error('a shorter grace period'));
    await expect(first).rejects.toThrow('a shorter grace period');
    const begun = world.clock.now();
    await world.end(pod, 5);
    expect(world.clock.now() - begun).toBeLessThan(8000);
    expect(hooks).toBe(1);
    expect(world.events.filter((event) => event.includes('Killing')).length).toBe(1);
  });

  it('can be a pause', async () => {
    await using world = new SyncerWorld();
    const lifecycle = { preStop: { sleep: { seconds: 4 } } };
    const pod = podOf({ containers: [container('app', { lifecycle })] });
    await world.sync(pod);
    const begun = world.clock.now();
    await world.end(pod);
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(4000);
    expect(world.clock.now() - begun).toBeLessThan(6000);
  });
});

describe('a grace period that shrinks', () => {
  it('ends a container sooner that has been asked to end', async () => {
    await using world = new SyncerWorld({ lives: () => ({ ignoresSigterm: true }) });
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    const controller = new AbortController();
    const first = world.end(pod, 600, controller.signal);
    await world.clock.advance(10_000);
    controller.abort(new Error('sooner'));
    await expect(first).rejects.toThrow('sooner');
    const begun = world.clock.now();
    await world.end(pod, 3);
    expect(world.clock.now() - begun).toBeLessThan(6000);
    expect(world.status.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(137);
  });
});

describe('sidecars', () => {
  it('end after all others, in the reverse order', async () => {
    const stopTakesMs = 1000;
    await using world = new SyncerWorld({ lives: () => ({ stopTakesMs }) });
    const pod = podOf({ initContainers: [sidecar('one'), sidecar('two')], containers: [container('app'), container('web')] });
    await world.sync(pod);
    await world.end(pod);
    const stopped = world.happened().filter((one) => one.startsWith('stopped'));
    expect(stopped.slice(0, 2).sort()).toEqual(['stopped app#0', 'stopped web#0']);
    expect(stopped.slice(2)).toEqual(['stopped two#0', 'stopped one#0']);
  });

  it('wait for nobody once the grace period is over', async () => {
    await using world = new SyncerWorld({ lives: () => ({ ignoresSigterm: true }) });
    const pod = podOf({ initContainers: [sidecar('one')], containers: [container('app')] });
    await world.sync(pod);
    const begun = world.clock.now();
    await world.end(pod, 5);
    expect(world.clock.now() - begun).toBeLessThan(9000);
  });

  it('end with a pod whose other containers are over', async () => {
    await using world = new SyncerWorld({
      lives: ({ config }) => (config.metadata.name === 'app' ? { runsMs: 1000 } : {}),
    });
    const pod = podOf({ restartPolicy: 'Never', initContainers: [sidecar('one')], containers: [container('app')] });
    await world.sync(pod);
    await world.clock.advance(1000);
    await world.sync(pod);
    expect(world.happened()).toContain('stopped one#0');
    expect(world.status.phase).toBe('Succeeded');
  });
});

describe('a pod that only the runtime knows', () => {
  it('is ended with its sandbox', async () => {
    await using world = new SyncerWorld({ lives: () => ({ ignoresSigterm: true }) });
    await world.sync(podOf({ containers: [container('app')] }));
    const runningPod = { uid: 'web', name: 'web', namespace: 'default' };
    await world.through(world.syncer.syncTerminatingRuntimePod(runningPod, world.signal));
    expect(world.happened()).toEqual(['started app#0', 'stopped app#0']);
    expect(await world.runtime.listPodSandboxes({ ready: true })).toEqual([]);
  });
});

describe('a runtime that fails', () => {
  it('leaves the pod to be ended again', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    world.runtime.fail({ call: 'StopContainer', fault: { kind: 'error', error: 'failed', message: 'busy' } });
    await expect(world.end(pod)).rejects.toThrow('error killing terminating pod: busy');
    expect(world.events).toContain('Warning FailedKillPod : error killing pod: busy');
    expect(world.calls).not.toContain('removePod');
    await world.end(pod);
    expect(world.calls).toContain('removePod');
  });

  it('is told of in its own words, also where its error cannot be read to the end', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    const error = Object.defineProperty(new Error('busy'), 'cause', {
      get: () => {
        throw new Error('no cause for you');
      },
    });
    Object.assign(world.runtime, { stopPodSandbox: () => Promise.reject(error) });
    await expect(world.end(pod)).rejects.toThrow('error killing terminating pod: busy');
    expect(world.syncer.troubles.of('web').get('end')?.message).toBe('the pod could not be ended: busy');
  });
});
