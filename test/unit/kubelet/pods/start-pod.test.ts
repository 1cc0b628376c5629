import { describe, expect, it } from 'vitest';
import { container, podOf, SyncerWorld } from './syncer-world.ts';

const sidecar = (name: string, more = {}) => container(name, { restartPolicy: 'Always', ...more });

describe('a new pod', () => {
  it('runs after one sync, and its status is told once', async () => {
    await using world = new SyncerWorld();
    const result = await world.sync(podOf({ containers: [container('app'), container('web')] }));
    expect(result).toEqual({ isTerminal: false, isStatusKnown: true });
    expect(world.happened().sort()).toEqual(['started app#0', 'started web#0']);
    expect(world.told.length).toBe(1);
    expect(world.status).toMatchObject({ phase: 'Running', podIP: '10.244.0.2', hostIP: '192.0.2.1' });
    expect(world.calls).toEqual(['updateClasses', 'mountVolumes', 'ensurePod', 'addPod']);
  });

  it('has the events of the kubelet', async () => {
    await using world = new SyncerWorld();
    await world.sync(podOf({ containers: [container('app')] }));
    expect(world.events).toEqual([
      'Normal Pulling spec.containers{app}: Pulling image "app:1"',
      'Normal Pulled spec.containers{app}: Successfully pulled image "app:1" in 0s (0s including waiting). Image size: 1048576 bytes.',
      'Normal Created spec.containers{app}: Container created',
      'Normal Started spec.containers{app}: Container started',
    ]);
  });

  it('tells that it waits when its start takes long', async () => {
    await using world = new SyncerWorld({ registry: () => ({ pullMs: 5000 }) });
    await world.sync(podOf({ containers: [container('app')] }));
    expect([world.told[0]?.phase, world.status.phase]).toEqual(['Pending', 'Running']);
    const ready = world.told[0]?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers');
    expect(ready?.status).toBe('True');
    expect(world.told[0]?.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: 'ContainerCreating' } });
  });

  it('tells why its containers wait, also of one that was made and does not run yet', async () => {
    await using world = new SyncerWorld({ lives: () => ({ startTakesMs: 2000 }) });
    const pod = podOf({ initContainers: [container('first'), container('second')], containers: [container('app')] });
    await world.sync(pod);
    const [{ initContainerStatuses = [], containerStatuses = [] } = {}] = world.told;
    const waits = { state: { waiting: { reason: 'PodInitializing' } }, restartCount: 0 };
    expect(initContainerStatuses).toMatchObject([waits, waits]);
    expect(containerStatuses).toMatchObject([waits]);
    expect(world.status.initContainerStatuses?.[0]?.state).toHaveProperty('running');
  });

  it('keeps telling of the run before while the next one is started', async () => {
    let startTakesMs = 0;
    await using world = new SyncerWorld({ lives: () => ({ startTakesMs, runsMs: 1000, exitCode: 3 }) });
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.clock.advance(2000);
    startTakesMs = 2000;
    const before = world.told.length;
    await world.sync(pod);
    const states = world.told.slice(before).map(({ containerStatuses }) => containerStatuses?.[0]);
    expect(states.map((status) => Object.keys(status?.state ?? {})[0])).toEqual(['terminated', 'terminated', 'running']);
    expect(states.at(-1)).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } });
  });

  it('has no sandbox while a volume cannot be made, and is tried again soon', async () => {
    const mountVolumes = () => Promise.reject(new Error('configmap "settings" not found'));
    await using world = new SyncerWorld({ syncer: { volumes: { mountVolumes, unmountVolumes: async () => {} } } });
    const pod = podOf({ containers: [container('app')] });
    await expect(world.sync(pod)).rejects.toMatchObject({ code: 'ERR_BACKOFF', until: world.clock.now() + 500 });
    await expect(world.sync(pod)).rejects.toMatchObject({ until: world.clock.now() + 1000 });
    expect(world.runtime.history).toEqual([]);
    expect(world.events).toContain('Warning FailedMount : configmap "settings" not found');
    expect(world.status.phase).toBe('Pending');
  });

  it('pulls its images side by side', async () => {
    await using world = new SyncerWorld({ registry: () => ({ pullMs: 5000 }) });
    const begun = world.clock.now();
    await world.sync(podOf({ containers: [container('a'), container('b'), container('c')] }));
    expect(world.clock.now() - begun).toBeLessThan(10_000);
  });

  it('makes no container before the hooks of those before it are over', async () => {
    const exec = () => ({ takesMs: 3000 });
    await using world = new SyncerWorld({ exec });
    const postStart = { exec: { command: ['wait'] } };
    await world.sync(podOf({ containers: [container('a', { lifecycle: { postStart } }), container('b')] }));
    const [a, b] = world.runtime.history.filter(({ type, what }) => type === 'started' && what === 'container');
    expect([a?.name, b?.name]).toEqual(['a', 'b']);
    expect((b?.at ?? 0) - (a?.at ?? 0)).toBeGreaterThanOrEqual(3000);
  });

  it('whose sandbox cannot be made says so', async () => {
    await using world = new SyncerWorld();
    world.runtime.fail({ call: 'RunPodSandbox', fault: { kind: 'error', error: 'failed', message: 'no network' } });
    await expect(world.sync(podOf({ containers: [container('app')] }))).rejects.toThrow(
      'Failed to create pod sandbox: no network',
    );
    expect(world.events).toEqual(['Warning FailedCreatePodSandBox : Failed to create pod sandbox: no network']);
    expect(world.status.phase).toBe('Pending');
  });
});

describe('init containers', () => {
  it('run one after another, before all others', async () => {
    const runsMs = 1000;
    await using world = new SyncerWorld({ lives: ({ config }) => (config.metadata.name === 'app' ? {} : { runsMs }) });
    const pod = podOf({ initContainers: [container('one'), container('two')], containers: [container('app')] });
    for (let round = 0; round < 4; round += 1) {
      await world.sync(pod);
      await world.clock.advance(1000);
    }
    expect(world.happened()).toEqual(['started one#0', 'stopped one#0', 'started two#0', 'stopped two#0', 'started app#0']);
    expect(world.status.phase).toBe('Running');
  });

  it('that are sidecars go on, and what follows starts in the same sync', async () => {
    await using world = new SyncerWorld();
    await world.sync(podOf({ initContainers: [sidecar('one'), sidecar('two')], containers: [container('app')] }));
    expect(world.happened()).toEqual(['started one#0', 'started two#0', 'started app#0']);
  });

  it('wait for the startup probe of a sidecar before them', async () => {
    await using world = new SyncerWorld();
    const startupProbe = { exec: { command: ['up'] } };
    const pod = podOf({ initContainers: [sidecar('one', { startupProbe })], containers: [container('app')] });
    await world.sync(pod);
    expect(world.happened()).toEqual(['started one#0']);
    const id = world.status.initContainerStatuses?.[0]?.containerID;
    world.probeResults.set(`startup ${id}`, 'Success');
    await world.sync(pod);
    expect(world.happened()).toEqual(['started one#0', 'started app#0']);
  });

  it('that fail end a pod that never restarts', async () => {
    await using world = new SyncerWorld({ lives: () => ({ runsMs: 100, exitCode: 3 }) });
    const pod = podOf({ restartPolicy: 'Never', initContainers: [container('one')], containers: [container('app')] });
    await world.sync(pod);
    await world.clock.advance(1000);
    expect(await world.sync(pod)).toEqual({ isTerminal: true, isStatusKnown: true });
    expect(world.status.phase).toBe('Failed');
    expect(world.happened()).toEqual(['started one#0', 'stopped one#0']);
  });
});

describe('a container that ended', () => {
  it('is started again at once the first time, then after a wait that grows', async () => {
    await using world = new SyncerWorld({ lives: () => ({ runsMs: 1000, exitCode: 1 }) });
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.clock.advance(1000);
    await world.sync(pod);
    await world.clock.advance(1000);
    await expect(world.sync(pod)).rejects.toMatchObject({ code: 'ERR_BACKOFF' });
    expect(world.status.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1 } },
    });
    await world.clock.advance(10_000);
    await world.sync(pod);
    expect(world.status.containerStatuses?.[0]).toMatchObject({ restartCount: 2, state: { running: {} } });
  });

  it('is started again by a rule of its own, in a pod that never restarts', async () => {
    await using world = new SyncerWorld({ lives: ({ attempt }) => (attempt === 0 ? { runsMs: 100, exitCode: 42 } : {}) });
    const exitCodes = { operator: 'In', values: [42] };
    const app = container('app', { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes }] });
    const pod = podOf({ restartPolicy: 'Never', containers: [app] });
    await world.sync(pod);
    await world.clock.advance(1000);
    await world.sync(pod);
    expect(world.happened()).toEqual(['started app#0', 'stopped app#0', 'started app#1']);
  });

  it('can have all containers begin anew, in place', async () => {
    const lives = ({ config, attempt }: { config: { metadata: { name: string } }; attempt: number }) =>
      config.metadata.name === 'app' && attempt === 0 ? { runsMs: 100, exitCode: 42 } : {};
    await using world = new SyncerWorld({ lives });
    const exitCodes = { operator: 'In', values: [42] };
    const rules = [{ action: 'RestartAllContainers', exitCodes }];
    const app = container('app', { restartPolicy: 'Never', restartPolicyRules: rules });
    const pod = podOf({ restartPolicy: 'Never', containers: [app, container('other')] });
    await world.sync(pod);
    await world.clock.advance(1000);
    await world.sync(pod);
    const conditions = world.told.map(
      (status) => status.conditions?.find(({ type }) => type === 'AllContainersRestarting')?.status,
    );
    expect(conditions).toContain('True');
    expect(conditions.at(-1)).toBe('False');
    expect(world.happened()).toContain('stopped other#0');
    expect(world.happened().filter((one) => one.startsWith('started')).length).toBe(4);
    expect(world.status.phase).toBe('Running');
    expect(world.runtime.history.filter(({ what, type }) => what === 'sandbox' && type === 'stopped')).toEqual([]);
  });

  it('is ended by its liveness probe, and started again in the same sync', async () => {
    await using world = new SyncerWorld();
    const livenessProbe = { exec: { command: ['alive'] } };
    const pod = podOf({ containers: [container('app', { livenessProbe })] });
    await world.sync(pod);
    world.probeResults.set(`liveness ${world.status.containerStatuses?.[0]?.containerID}`, 'Failure');
    await world.sync(pod);
    expect(world.happened()).toEqual(['started app#0', 'stopped app#0', 'started app#1']);
    expect(world.events).toContain('Normal Killing spec.containers{app}: Container app failed liveness probe, will be restarted');
  });

  it('is made again when its image has changed', async () => {
    await using world = new SyncerWorld();
    await world.sync(podOf({ containers: [container('app')] }));
    await world.sync(podOf({ containers: [container('app', { image: 'app:2' })] }));
    expect(world.happened()).toEqual(['started app#0', 'stopped app#0', 'started app#1']);
    expect(world.events).toContain('Normal Killing spec.containers{app}: Container app definition changed, will be restarted');
  });
});

describe('a pod whose sandbox dies', () => {
  it('gets another sandbox, and begins with its init containers', async () => {
    const lives = ({ config }: { config: { metadata: { name: string } } }) =>
      config.metadata.name === 'init' ? { runsMs: 100 } : {};
    await using world = new SyncerWorld({ lives });
    const pod = podOf({ initContainers: [container('init')], containers: [container('app')] });
    await world.sync(pod);
    await world.clock.advance(1000);
    await world.sync(pod);
    const [sandbox] = await world.runtime.listPodSandboxes();
    world.runtime.killSandbox(sandbox?.id ?? '');
    await world.sync(pod);
    await world.clock.advance(1000);
    await world.sync(pod);
    const started = world.happened().filter((one) => one.startsWith('started'));
    expect(started).toEqual(['started init#0', 'started app#0', 'started init#1', 'started app#1']);
    expect(world.events).toContain('Normal SandboxChanged : Pod sandbox changed, it will be killed and re-created.');
    expect((await world.runtime.listPodSandboxes({ ready: true })).length).toBe(1);
  });
});

describe('an image', () => {
  it('that cannot be had makes its container wait, and no other', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app', { image: 'no-such-image:1' }), container('web')] });
    await expect(world.sync(pod)).rejects.toMatchObject({ code: 'ERR_BACKOFF', until: world.clock.now() + 10_000 });
    const state = (name: string) => world.status.containerStatuses?.find((one) => one.name === name)?.state;
    expect(state('app')?.waiting?.reason).toBe('ErrImagePull');
    expect(state('web')?.running).toBeDefined();
    expect(world.events).toContain('Warning Failed spec.containers{app}: Error: ErrImagePull');
    await expect(world.sync(pod)).rejects.toThrow('Back-off pulling image "no-such-image:1"');
    expect(state('app')?.waiting?.reason).toBe('ImagePullBackOff');
  });
});

describe('a container that cannot be made or started', () => {
  it('waits with the reason of its configuration', async () => {
    const containerConfig = () => Promise.reject(new Error('secret "key" not found'));
    const { testConfigs } = await import('./syncer-world.ts');
    await using world = new SyncerWorld({ syncer: { configs: { ...testConfigs, containerConfig } } });
    await expect(world.sync(podOf({ containers: [container('app')] }))).rejects.toThrow('secret "key" not found');
    expect(world.status.containerStatuses?.[0]?.state?.waiting).toEqual({
      reason: 'CreateContainerConfigError',
      message: 'secret "key" not found',
    });
    expect(world.events).toContain('Warning Failed spec.containers{app}: Error: secret "key" not found');
  });

  it('says so', async () => {
    await using world = new SyncerWorld({ lives: () => ({ startError: 'no such file' }) });
    await expect(world.sync(podOf({ containers: [container('app')] }))).rejects.toThrow('no such file');
    expect(world.status.containerStatuses?.[0]?.state?.waiting?.reason).toBe('RunContainerError');
  });

  it('is ended when its hook fails', async () => {
    await using world = new SyncerWorld({ exec: () => ({ exitCode: 1, stderr: 'secret words' }) });
    const lifecycle = { postStart: { exec: { command: ['register'] } } };
    await expect(world.sync(podOf({ containers: [container('app', { lifecycle })] }))).rejects.toThrow('Exec lifecycle hook');
    expect(world.happened()).toEqual(['started app#0', 'stopped app#0']);
    expect(world.events).toContain('Warning FailedPostStartHook spec.containers{app}: PostStartHook failed');
    expect(world.events.join()).not.toContain('secret words');
    expect(world.status.containerStatuses?.[0]?.state?.waiting?.reason).toBe('PostStartHookError');
  });
});

describe('an ephemeral container', () => {
  it('starts in a pod that runs, and sees the processes of its target', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    const ephemeralContainers = [{ ...container('debug'), targetContainerName: 'app' }];
    await world.sync(podOf({ containers: [container('app')], ephemeralContainers }));
    await world.sync(podOf({ containers: [container('app')], ephemeralContainers }));
    expect(world.happened()).toEqual(['started app#0', 'started debug#0']);
    expect(world.status.ephemeralContainerStatuses?.[0]?.state?.running).toBeDefined();
  });
});

describe('a start that was given up', () => {
  it('leaves a container that was made but not started to be made again, and counts no restart', async () => {
    await using world = new SyncerWorld();
    world.runtime.fail({ call: 'CreateContainer', fault: { kind: 'error-after', error: 'unavailable' } });
    const pod = podOf({ containers: [container('app')] });
    await expect(world.sync(pod)).rejects.toThrow();
    await world.sync(pod);
    expect(world.happened()).toContain('started app#0');
    expect(world.happened().filter((one) => one.startsWith('started')).length).toBe(1);
    expect(world.status.containerStatuses?.[0]).toMatchObject({ restartCount: 0, state: { running: {} } });
  });

  it('leaves a pod that never restarts to begin anew when its sandbox dies before a container of it has run', async () => {
    await using world = new SyncerWorld();
    world.runtime.fail({ call: 'CreateContainer', fault: { kind: 'error-after', error: 'unavailable' } });
    const pod = podOf({ containers: [container('app')], restartPolicy: 'Never' });
    await expect(world.sync(pod)).rejects.toThrow();
    const [sandbox] = await world.runtime.listPodSandboxes();
    world.runtime.killSandbox(sandbox?.id ?? '');
    await world.sync(pod);
    expect(world.happened()).toContain('started app#0');
    expect(world.status).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 0, state: { running: {} } }] });
  });

  it('leaves a sandbox that is adopted', async () => {
    await using world = new SyncerWorld();
    world.runtime.fail({ call: 'RunPodSandbox', fault: { kind: 'error-after', error: 'timeout' } });
    const pod = podOf({ containers: [container('app')] });
    await expect(world.sync(pod)).rejects.toThrow();
    await world.sync(pod);
    expect((await world.runtime.listPodSandboxes()).length).toBe(1);
    expect(world.happened()).toEqual(['started app#0']);
  });

  it('leaves a sandbox that is adopted also where what is known of the runtime is older', async () => {
    await using world = new SyncerWorld();
    world.runtime.fail({ call: 'RunPodSandbox', fault: { kind: 'error-after', error: 'timeout' } });
    const pod = podOf({ containers: [container('app')] });
    const runtimeStatus = await world.lifecycle.refresh('web', world.signal);
    await expect(world.sync(pod)).rejects.toThrow();
    const request = { updateType: 'sync', pod, mirrorPod: undefined, runtimeStatus } as const;
    await world.through(world.syncer.syncPod(request, world.signal));
    expect((await world.runtime.listPodSandboxes()).length).toBe(1);
    expect(world.happened()).toEqual(['started app#0']);
  });

  it('begins nothing more once it is aborted', async () => {
    await using world = new SyncerWorld({ registry: () => ({ pullMs: 60_000 }) });
    const controller = new AbortController();
    const pod = podOf({ containers: [container('app')] });
    const sync = world.sync(pod, controller.signal);
    await world.clock.advance(1000);
    controller.abort(new Error('more urgent'));
    await expect(sync).rejects.toThrow('more urgent');
    await world.clock.advance(120_000);
    expect(world.happened()).toEqual([]);
  });
});
