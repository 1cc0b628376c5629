import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NodeAgent, NodeAgentOptions } from '../../../../src/kubelet.ts';
import type { ContainerLife } from '../../../../src/testing.ts';
import { FakeShutdownSignals, type FakeShutdownSignalsOptions } from '../../../../src/testing.ts';
import { NodeWorld } from './node-world.ts';

const calm = { evictionHard: {}, imageGCHighThresholdPercent: 100 };
const byPriority = {
  shutdownGracePeriodByPodPriority: [
    { priority: 1000, shutdownGracePeriodSeconds: 10 },
    { priority: 0, shutdownGracePeriodSeconds: 20 },
    { priority: 2_000_000_000, shutdownGracePeriodSeconds: 5 },
  ],
};

/** A node whose containers live as the test says, by the pod's name. */
const worldWith = (lives: Readonly<Record<string, ContainerLife>> = {}): Promise<NodeWorld> =>
  NodeWorld.make({ lives: ({ sandbox }) => ({ exitCode: 143, ...lives[sandbox.metadata.name] }) });

interface Pods {
  readonly pods: Readonly<Record<string, object>>;
  readonly options?: Partial<NodeAgentOptions>;
  readonly machine?: FakeShutdownSignalsOptions;
}

/** An agent with pods that run, and from then on what it stops: the pod, after how many seconds, and with how many to go. */
async function started(world: NodeWorld, { pods, options = byPriority, machine: given }: Pods) {
  const machine = new FakeShutdownSignals(given);
  const metrics = new Map<string, number>();
  const sink = { increment: () => {}, observe: () => {}, set: (name: string, value: number) => void metrics.set(name, value) };
  const agent: NodeAgent = world.agent({ ...calm, ...options, shutdownSignals: machine, metrics: sink });
  for (const [name, spec] of Object.entries(pods)) world.create(name, spec);
  await world.through(agent.start());
  await world.pass(10_000);
  const containers = await world.through(world.runtime.listContainers());
  const podOf = new Map(containers.map(({ id, labels }) => [id, labels['io.kubernetes.pod.name']]));
  const [began, stops] = [world.time.elapsedMs, [] as string[]];
  const stopContainer = world.runtime.stopContainer.bind(world.runtime);
  world.runtime.stopContainer = (id, timeoutSeconds, ...rest) => {
    stops.push(`${podOf.get(id)} ${Math.floor((world.time.elapsedMs - began) / 1000)} s: ${timeoutSeconds}`);
    return stopContainer(id, timeoutSeconds, ...rest);
  };
  const idOf = (name: string) => [...podOf].find(([, pod]) => pod === name)?.[0] ?? '';
  return { machine, agent, stops, metrics, idOf };
}

const statusOf = (world: NodeWorld, name: string) => world.pod(name)?.status;
const readyOf = (world: NodeWorld) => {
  const { status } = world.objects.target('/api/v1/nodes').store.get({ name: 'node-1' }) as {
    readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
  };
  return status?.conditions?.find(({ type }) => type === 'Ready');
};
const shutdownEvents = (world: NodeWorld) =>
  (world.objects.target('/api/v1/events').store.list() as unknown as { readonly reason: string }[]).filter(
    ({ reason }) => reason === 'Shutdown',
  );
const terminated = {
  phase: 'Failed',
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
};

describe('the shutdown of the machine under a node agent', () => {
  it('ends pods by priority, each within its own grace period and that of its group, and then lets the machine go', async () => {
    await using world = await worldWith({ slow: { stopTakesMs: 8000 }, stubborn: { ignoresSigterm: true } });
    const pods = {
      slow: { priority: 5, terminationGracePeriodSeconds: 60 },
      quick: { terminationGracePeriodSeconds: 3 },
      stubborn: { priority: 1000, terminationGracePeriodSeconds: 60 },
      critical: { priority: 2_000_001_000 },
    };
    const { machine, agent, stops } = await started(world, { pods });
    expect(agent.snapshot().shutdown).toMatchObject({ isDelayed: true, longestDelayMs: 40_000, isShuttingDown: false });
    machine.shutDown();
    await world.pass(1000);
    expect(stops.toSorted()).toEqual(['quick 0 s: 3', 'slow 0 s: 20']);
    expect(readyOf(world)).toMatchObject({ status: 'False', reason: 'KubeletNotReady', message: 'node is shutting down' });
    await world.pass(8000);
    expect(stops.slice(2)).toEqual(['stubborn 8 s: 10']);
    expect(statusOf(world, 'slow')).toMatchObject(terminated);
    expect([statusOf(world, 'stubborn')?.phase, machine.isDelayed]).toEqual(['Running', true]);
    await world.pass(10_500);
    expect(stops.slice(3)).toEqual(['critical 18 s: 5']);
    await world.pass(1000);
    expect(machine.isDelayed).toBe(false);
    for (const name of Object.keys(pods)) {
      expect(statusOf(world, name)).toMatchObject({
        ...terminated,
        conditions: expect.arrayContaining([
          expect.objectContaining({
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'TerminationByKubelet',
            message: terminated.message,
          }),
        ]),
      });
    }
    expect(shutdownEvents(world)).toEqual([
      expect.objectContaining({ type: 'Normal', message: 'Shutdown manager detected shutdown event', count: 1 }),
    ]);
    await world.through(agent.stop());
    expect(world.timersLeft).toBe(0);
  });

  it('waits no longer for a group than its time, and says which pod has not ended', async () => {
    await using world = await worldWith();
    const { machine, agent, stops, idOf } = await started(world, { pods: { stuck: {}, critical: { priority: 2_000_000_000 } } });
    world.runtime.fail({ call: 'StopContainer', about: idOf('stuck'), fault: { kind: 'hang' } });
    machine.shutDown();
    await world.pass(5000);
    const [problem] = agent.snapshot().problems;
    expect(problem).toMatchObject({ kind: 'shutting-down', message: 'the machine shuts down: 0 of 2 pods have ended' });
    expect(agent.snapshot({ pods: false }).shutdown?.groups).toEqual([
      { priority: 0, shutdownGracePeriodSeconds: 20, pods: 1, ended: 0 },
      { priority: 1000, shutdownGracePeriodSeconds: 10, pods: 0, ended: 0 },
      { priority: 2_000_000_000, shutdownGracePeriodSeconds: 5, pods: 1, ended: 0 },
    ]);
    await world.pass(16_000);
    expect(stops).toContain('critical 20 s: 5');
    await world.pass(6000);
    expect(machine.isDelayed).toBe(false);
    await world.through(agent.stop());
  });

  it('refuses new pods while it goes on', async () => {
    await using world = await worldWith({ slow: { stopTakesMs: 8000 } });
    const { machine, agent } = await started(world, { pods: { slow: { terminationGracePeriodSeconds: 10 } } });
    machine.shutDown();
    world.create('late');
    await world.pass(5000);
    expect(statusOf(world, 'late')).toMatchObject({
      phase: 'Failed',
      reason: 'NodeShutdown',
      message: 'Pod was rejected: Pod was rejected as the node is shutting down.',
    });
    await world.through(agent.stop());
  });

  it('is taken back when it is called off: the groups to come stay, and new pods run', async () => {
    await using world = await worldWith({ slow: { stopTakesMs: 8000 } });
    const pods = { slow: { terminationGracePeriodSeconds: 10 }, critical: { priority: 2_000_000_000 } };
    const { machine, agent } = await started(world, { pods });
    machine.shutDown();
    await world.pass(2000);
    machine.callOff();
    world.create('late');
    await world.pass(20_000);
    expect([statusOf(world, 'critical')?.phase, statusOf(world, 'late')?.phase]).toEqual(['Running', 'Running']);
    expect(statusOf(world, 'slow')).toMatchObject(terminated);
    expect(readyOf(world)).toMatchObject({ status: 'True' });
    expect(agent.snapshot()).toMatchObject({
      shutdown: { isDelayed: true, isShuttingDown: false },
      problems: [{ kind: 'refused', podName: 'slow' }],
    });
    expect(shutdownEvents(world)).toHaveLength(2);
    machine.shutDown();
    await world.pass(5000);
    expect(statusOf(world, 'critical')).toMatchObject(terminated);
    expect(machine.isDelayed).toBe(false);
    await world.through(agent.stop());
  });

  it('leaves a pod that has succeeded as it is', async () => {
    await using world = await worldWith({ job: { exitCode: 0 } });
    const { machine, agent } = await started(world, { pods: { job: { restartPolicy: 'Never' } } });
    machine.shutDown();
    await world.pass(3000);
    expect(statusOf(world, 'job')).toMatchObject({ ...terminated, phase: 'Succeeded' });
    await world.through(agent.stop());
  });

  it('gives pods less time where the machine waits less, in the same order', async () => {
    await using world = await worldWith({ stubborn: { ignoresSigterm: true } });
    const pods = { stubborn: { terminationGracePeriodSeconds: 60 }, critical: { priority: 2_000_000_000 } };
    const machine = { longestDelayMs: 7000, canWaitLonger: false };
    const { machine: ends, agent, stops } = await started(world, { pods, machine });
    expect(agent.snapshot().problems).toMatchObject([
      {
        kind: 'shutdown-delay',
        message: 'at a shutdown the machine waits 7 s for its pods, and not 35 s: it was asked to wait 35 s, and waits 7 s',
      },
    ]);
    ends.shutDown();
    await world.pass(7000);
    expect(stops).toEqual(['stubborn 0 s: 4', 'critical 4 s: 2']);
    expect(ends.isDelayed).toBe(false);
    await world.through(agent.stop());
  });

  it('waits for the last statuses, and not for a server that is silent', async () => {
    await using world = await worldWith();
    const { machine, agent } = await started(world, { pods: { web: {} } });
    world.unreachable = /./;
    machine.shutDown();
    await world.pass(4000);
    expect(machine.isDelayed).toBe(true);
    await world.pass(2000);
    expect(machine.isDelayed).toBe(false);
    expect(world.warnings).toContain('not every status could be written before the shutdown of the machine');
    await world.through(agent.stop());
  });

  it('is remembered on the disk and in the metrics', async () => {
    await using world = await worldWith({ web: { stopTakesMs: 3000 } });
    const file = join(world.agentOptions().rootDirectory ?? '', 'graceful_node_shutdown_state');
    const first = await started(world, { pods: { web: {} } });
    const times = (metrics: ReadonlyMap<string, number>) =>
      ['start', 'end'].map((name) => metrics.get(`kubelet_graceful_shutdown_${name}_time_seconds`));
    expect(times(first.metrics)).toEqual([0, 0]);
    first.machine.shutDown();
    await world.pass(1000);
    const { startedAt = 0, endedAt } = first.agent.snapshot().shutdown ?? {};
    expect(endedAt).toBeUndefined();
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ endTime: '0001-01-01T00:00:00Z' });
    await world.pass(4000);
    const [start, end] = times(first.metrics);
    expect([start, end]).toEqual([Math.floor(startedAt / 1000), Math.floor(startedAt / 1000) + 3]);
    await world.through(first.agent.stop());
    const second = await started(world, { pods: {} });
    expect(times(second.metrics)).toEqual([start, end]);
    await world.through(second.agent.stop());
    await writeFile(file, '[]');
    const third = await started(world, { pods: {} });
    expect(times(third.metrics)).toEqual([0, 0]);
    expect(world.warnings).toContain('the record of the last shutdown cannot be read');
    await world.through(third.agent.stop());
  });

  it('lets the machine go when the agent is stopped, and is heard of by no agent that was not asked to', async () => {
    await using world = await worldWith();
    const { machine, agent } = await started(world, { pods: { web: {} } });
    await world.through(agent.stop());
    expect(machine.isDelayed).toBe(false);
    const other = await started(world, { pods: {}, options: {} });
    expect([other.machine.isDelayed, other.agent.snapshot().shutdown]).toEqual([false, undefined]);
    other.machine.shutDown();
    await world.pass(5000);
    expect(statusOf(world, 'web')?.phase).toBe('Running');
    await world.through(other.agent.stop());
  });

  it('is told as unseen while nobody says whether the machine shuts down', async () => {
    await using world = await worldWith();
    const { machine, agent } = await started(world, { pods: {} });
    machine.failure = new Error('no bus');
    machine.startAnew();
    await world.pass(1000);
    expect(agent.snapshot().problems).toMatchObject([
      { kind: 'shutdown-unseen', message: 'a shutdown of the machine would end the pods without notice: no bus', attempt: 2 },
    ]);
    expect(readyOf(world)).toMatchObject({ status: 'True' });
    await world.through(agent.stop());
  });
});
