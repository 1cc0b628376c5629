import { describe, expect, it } from 'vitest';
import type { AgentPodStatus } from '../../../../src/kubelet/pleg/agent-status.ts';
import type { ContainerDetails } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import { both, container, podOf, resizeWorld, running } from './resize-harness.ts';

const uid = 'uid-of-web';
const signal = new AbortController().signal;

/** A pod that runs with `before` and has been given `after`. */
async function resized(before: ReturnType<typeof podOf>, after: ReturnType<typeof podOf>) {
  const world = await resizeWorld();
  const { allocations, pods, resizer } = world;
  allocations.add(before);
  for (const { name } of before.spec?.containers ?? []) resizer.containerMade(before, name);
  pods.set(uid, after);
  allocations.update(after);
  const details = (after.spec?.containers ?? []).map(({ name }) => running(name));
  return { ...world, details, actions: resizer.actions(allocations.allocated(after), details) };
}

describe('a resize in place', () => {
  it('is nothing to do for a pod that has what it was given', async () => {
    const { resizer, allocations } = await resizeWorld();
    const pod = podOf(1, container('app', both(100, 20)));
    allocations.add(pod);
    resizer.containerMade(pod, 'app');
    expect(resizer.actions(pod, [running('app')])).toBeUndefined();
  });

  it('that takes memory away is refused while nobody knows how much is used', async () => {
    const before = podOf(1, container('a', both(100, 20)), container('b', both(100, 20)));
    const after = podOf(2, container('a', both(300, 60)), container('b', both(50, 10)));
    const { resizer, actions, cgroup, said } = await resized(before, after);
    cgroup.current = { cpuQuota: 20_000, cpuShares: 200, memoryLimitInBytes: 40 * 2 ** 20 };
    if (actions === undefined) throw new Error('nothing to do');
    await resizer.actuate(after, actions, signal).catch((error) => said.push(String(error)));
    expect(said).toEqual(['Error: cannot decrease memory limits: missing container "b" memory usage']);
  });

  it('writes each resource by itself: memory first, the processor with the memory that is new', async () => {
    const before = podOf(1, container('a', both(100, 20)), container('b', both(100, 20)));
    const after = podOf(2, container('a', both(300, 60)), container('b', both(50, 10)));
    const { resizer, actions, cgroup, said, usage, allocations } = await resized(before, after);
    cgroup.current = { cpuQuota: 20_000, cpuShares: 200, memoryLimitInBytes: 40 * 2 ** 20 };
    usage.set('a', 1000).set('b', 1000);
    if (actions === undefined) throw new Error('nothing to do');
    await resizer.actuate(after, actions, signal);
    expect(said).toEqual([
      `pod {"memoryLimitInBytes":${70 * 2 ** 20}}`,
      'id-of-b 10000 10Mi',
      'id-of-a 10000 60Mi',
      'pod {"cpuQuota":35000}',
      'pod {"cpuShares":350}',
      'id-of-b 5000 10Mi',
      'id-of-a 30000 60Mi',
    ]);
    expect(resizer.actions(allocations.allocated(after), [running('a'), running('b')])).toBeUndefined();
  });

  it('keeps what each container got as a spec writes it, which is what its status says', async () => {
    const after = podOf(2, container('a', both(300, 60)));
    const { resizer, actions, allocations } = await resized(podOf(1, container('a', both(100, 20))), after);
    if (actions === undefined) throw new Error('nothing to do');
    await resizer.actuate(after, actions, signal);
    expect(allocations.actuated(uid).containers).toEqual({ a: both(300, 60) });
  });

  it('that shrinks lowers the pod after its containers, requests before limits', async () => {
    const after = podOf(2, container('app', both(100, 20)));
    const { resizer, actions, cgroup, said, usage } = await resized(podOf(1, container('app', both(200, 40))), after);
    cgroup.current = { cpuQuota: 20_000, cpuShares: 200, memoryLimitInBytes: 40 * 2 ** 20 };
    usage.set('app', 1000);
    if (actions === undefined) throw new Error('nothing to do');
    await resizer.actuate(after, actions, signal);
    expect(said).toEqual([
      'id-of-app 20000 20Mi',
      `pod {"memoryLimitInBytes":${20 * 2 ** 20}}`,
      'id-of-app 10000 20Mi',
      'pod {"cpuShares":100}',
      'pod {"cpuQuota":10000}',
    ]);
  });

  it('below what is used is refused with condition and event, and nothing is written', async () => {
    const after = podOf(2, container('app', both(100, 20)));
    const { resizer, actions, cgroup, said, usage, resizes, events } = await resized(
      podOf(1, container('app', both(100, 40))),
      after,
    );
    cgroup.current = { memoryLimitInBytes: 40 * 2 ** 20 };
    usage.set('app', 30 * 2 ** 20);
    if (actions === undefined) throw new Error('nothing to do');
    await expect(resizer.actuate(after, actions, signal)).rejects.toThrow('cannot decrease memory limits: [');
    expect(said).toEqual([]);
    expect(resizes.getPodResizeConditions(uid)).toMatchObject([{ type: 'PodResizeInProgress', reason: 'Error' }]);
    expect(events.at(-1)).toContain('Warning ResizeError Pod resize error: {"containers"');
  });

  it('that the runtime refuses is told, and the next call does the rest', async () => {
    const after = podOf(2, container('app', both(200, 40)));
    const { resizer, actions, broken, resizes, details, events } = await resized(
      podOf(1, container('app', both(100, 20))),
      after,
    );
    if (actions === undefined) throw new Error('nothing to do');
    broken.update = true;
    await expect(resizer.actuate(after, actions, signal)).rejects.toThrow('runtime says no');
    resizer.noteProgress(after, details);
    expect(resizes.getPodResizeConditions(uid)).toMatchObject([{ reason: 'Error', message: 'runtime says no' }]);
    broken.update = false;
    await resizer.actuate(after, resizer.actions(after, details) ?? actions, signal);
    resizer.noteProgress(after, details);
    expect(resizes.getPodResizeConditions(uid)).toEqual([]);
    expect(events.at(-1)).toContain('Normal ResizeCompleted Pod resize completed: {"containers"');
  });

  it('restarts a container whose policy for the changed resource says so, and changes its pod', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    const of = (generation: number, cpu: number, memory: number) =>
      podOf(generation, container('app', both(cpu, memory), { resizePolicy }));
    const onlyCPU = await resized(of(1, 100, 20), of(2, 200, 20));
    expect(onlyCPU.actions).toMatchObject({ restarts: [], memory: [], cpu: [{ containerID: 'id-of-app' }] });
    const { actions, resizer, cgroup, said, details } = await resized(of(1, 100, 20), of(2, 200, 40));
    expect(actions).toMatchObject({ restarts: ['app'], memory: [], cpu: [] });
    cgroup.current = { cpuQuota: 10_000, cpuShares: 100, memoryLimitInBytes: 20 * 2 ** 20 };
    if (actions === undefined) throw new Error('nothing to do');
    await resizer.actuate(of(2, 200, 40), actions, signal);
    expect(said).toEqual([`pod {"memoryLimitInBytes":${40 * 2 ** 20}}`, 'pod {"cpuQuota":20000}', 'pod {"cpuShares":200}']);
    resizer.containerMade(of(2, 200, 40), 'app');
    expect(resizer.actions(of(2, 200, 40), details)).toBeUndefined();
  });

  it('leaves a container alone that does not run', async () => {
    const after = podOf(2, container('app', both(200, 40)));
    const { resizer } = await resized(podOf(1, container('app', both(100, 20))), after);
    expect(resizer.actions(after, [running('app', { state: 'exited' })])).toBeUndefined();
    expect(resizer.actions(after, [running('app', { state: 'exited' }), running('app')])).toBeUndefined();
  });

  it('stops between two containers when the sync is to end', async () => {
    const after = podOf(2, container('app', both(200, 40)));
    const { resizer, actions, said, resizes } = await resized(podOf(1, container('app', both(100, 20))), after);
    if (actions === undefined) throw new Error('nothing to do');
    await expect(resizer.actuate(after, actions, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    expect(said.filter((line) => line.startsWith('id-of'))).toEqual([]);
    expect(resizes.getPodResizeConditions(uid)[0]?.reason).toBeUndefined();
  });
});

describe('the reported resources', () => {
  const pod = podOf(2, container('app', both(100, 20)));
  const status = { containerStatuses: [{ ...runningStatus(), resources: both(100, 20) }] };

  it('are the runtime’s, and of requested memory what the runtime was told', async () => {
    const { resizer, allocations } = await resizeWorld();
    allocations.add(pod);
    resizer.containerMade(podOf(1, container('app', both(100, 10))), 'app');
    const resources = { cpuPeriod: 100_000, cpuQuota: 20_000, cpuShares: 204, memoryLimitInBytes: 40 * 2 ** 20 };
    const [app] = resizer.report(pod, status, { containerDetails: [running('app', { resources })] }).containerStatuses ?? [];
    expect(app?.resources).toEqual({ limits: { cpu: '200m', memory: '40Mi' }, requests: { cpu: '200m', memory: '10Mi' } });
  });

  it('are those of the spec where the kernel rounds up, where the runtime says nothing, and of what does not run', async () => {
    const { resizer } = await resizeWorld();
    const tiny = { limits: { cpu: '5m' }, requests: { cpu: '1m' } };
    const given = { containerStatuses: [{ ...runningStatus(), resources: { limits: { cpu: '10m' }, requests: { cpu: '2m' } } }] };
    const rounded = running('app', { resources: { cpuPeriod: 100_000, cpuQuota: 1000, cpuShares: 2 } });
    const [resized] =
      resizer.report(podOf(2, container('app', tiny)), given, { containerDetails: [rounded] }).containerStatuses ?? [];
    expect(resized?.resources).toEqual(tiny);
    expect(resizer.report(pod, status, { containerDetails: [running('app')] })).toEqual(status);
    const ended = running('app', { state: 'exited', resources: { memoryLimitInBytes: 1024 } });
    expect(resizer.report(pod, status, { containerDetails: [ended] })).toEqual(status);
  });
});

describe('a resize in a pod’s sync', () => {
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
  const before = podOf(1, container('app', both(100, 20), { resizePolicy }));
  const after = podOf(2, container('app', both(100, 40), { resizePolicy }));

  it('that needs a restart is over once the container was made again, which counts as a change', async () => {
    const { allocations, resizer, resizes, pods } = await resizeWorld();
    allocations.add(before);
    resizer.containerMade(before, 'app');
    expect(await resizer.resize(before, statusOf(running('app')), signal)).toBe(false);
    pods.set('uid-of-web', after);
    allocations.update(after);
    const [app] = after.spec?.containers ?? [];
    if (app === undefined) throw new Error('no container');
    expect(resizer.needsRestart(after, app, { details: running('app') })).toBe(true);
    expect(await resizer.resize(after, statusOf(running('app')), signal)).toBe(true);
    expect(resizes.getPodResizeConditions('uid-of-web')).toHaveLength(1);
    resizer.containerMade(after, 'app');
    expect(resizer.needsRestart(after, app, { details: running('app') })).toBe(false);
    expect(await resizer.resize(after, statusOf(running('app')), signal)).toBe(true);
    expect(resizes.getPodResizeConditions('uid-of-web')).toEqual([]);
    expect(await resizer.resize(after, statusOf(running('app')), signal)).toBe(false);
  });
});

function statusOf(...containerDetails: ContainerDetails[]): AgentPodStatus {
  return { podUID: 'uid-of-web', ips: [], containers: [], sandboxes: [], sandboxDetails: [], containerDetails };
}

function runningStatus() {
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return { name: 'app', image: 'image', imageID: '', ready: true, restartCount: 0, state };
}
