// Rules and groups after pkg/kubelet/apis/config/validation and pkg/kubelet/cm/node_container_manager_linux.go, v1.36.3.

import { describe, expect, it, vi } from 'vitest';
import { type AgentSettings, resolveSettings } from '../../../../src/kubelet/agent/agent-settings.ts';
import type { NodeEnforcement } from '../../../../src/kubelet/agent/limit-settings.ts';
import { limitsOf } from '../../../../src/kubelet/agent/node-limits.ts';
import { MachineCgroups, noPodCgroups, pageSize } from '../../../../src/kubelet/machine/machine.ts';
import { quietMachine } from '../../../support/quiet-machine.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { NodeWorld } from './node-world.ts';

describe('what is limited to what it is given', () => {
  it.each<[AgentSettings, string]>([
    [{ enforceNodeAllocatable: ['pods', 'pods'] }, 'a list without the same twice, got "pods"'],
    [{ enforceNodeAllocatable: ['none', 'pods'] }, 'a list with nothing beside "none"'],
    [
      { enforceNodeAllocatable: ['nodes' as NodeEnforcement] },
      '`enforceNodeAllocatable[0]` to be one of "pods", "system-reserved"',
    ],
    [{ enforceNodeAllocatable: 'pods' as never }, 'to be a list of pods, system-reserved'],
    [{ enforceNodeAllocatable: ['system-reserved'] }, '`systemReservedCgroup` to be the name of a cgroup, since'],
    [{ enforceNodeAllocatable: ['kube-reserved-compressible'] }, '`kubeReservedCgroup` to be the name of a cgroup, since'],
    [
      { enforceNodeAllocatable: ['kube-reserved', 'kube-reserved-compressible'], kubeReservedCgroup: '/kube' },
      'one of kube-reserved and kube-reserved-compressible at most',
    ],
    [{ enforceNodeAllocatable: ['pods'], cgroupsPerQOS: false }, '`cgroupsPerQOS` to be true, since'],
    [{ systemReservedCgroup: '/../etc' }, '`systemReservedCgroup` to be the name of a cgroup without ".."'],
    [{ cpuCFSQuotaPeriodMs: 0.5 }, '`cpuCFSQuotaPeriodMs`'],
    [{ cpuCFSQuotaPeriodMs: 1001 }, '`cpuCFSQuotaPeriodMs`'],
    [{ singleProcessOOMKill: 'no' as never }, '`singleProcessOOMKill` to be a boolean'],
    [{ userNamespaceIDsPerPod: 1000 }, '`userNamespaceIDsPerPod` to be an integer from 65536 up'],
    [{ userNamespaceIDsPerPod: 100_000 }, '`userNamespaceIDsPerPod` to be a multiple of 65536 below'],
    [{ userNamespaceIDsPerPod: 2 ** 32 }, '`userNamespaceIDsPerPod` to be a multiple of 65536 below'],
    [{ memoryThrottlingFactor: 0 }, '`memoryThrottlingFactor`'],
    [{ memoryReservationPolicy: 'TieredReservation' }, '"None" without the feature gate MemoryQoS'],
    [{ memoryReservationPolicy: 'All' as 'None' }, '`memoryReservationPolicy` to be one of "None", "TieredReservation"'],
    [{ swapBehavior: 'UnlimitedSwap' as 'NoSwap' }, '`swapBehavior` to be one of "NoSwap", "LimitedSwap"'],
  ])('is not %j', (settings, words) => {
    expect(() => resolveSettings(settings)).toThrow(words);
  });

  it('may be nothing, with and without cgroups of classes', () => {
    const none: AgentSettings = { enforceNodeAllocatable: ['none'], cgroupsPerQOS: false };
    expect(resolveSettings(none)).toMatchObject(none);
    expect(resolveSettings({ enforceNodeAllocatable: [], cgroupsPerQOS: false }).enforceNodeAllocatable).toEqual([]);
  });

  it('counts processor time in periods of its own, and ends one process or all for want of memory', () => {
    const settings = resolveSettings({ cpuCFSQuotaPeriodMs: 5.5, singleProcessOOMKill: true });
    expect(limitsOf({ settings, machine: quietMachine() })).toMatchObject({
      cpuCFSQuotaPeriodUs: 5500,
      singleProcessOOMKill: true,
    });
    expect(limitsOf({ settings: resolveSettings({}), machine: quietMachine() })).not.toHaveProperty('singleProcessOOMKill');
  });
});

describe('memory of containers', () => {
  const machine = { ...quietMachine(), memoryBytes: 8 * 1024 ** 3, swapBytes: 1024 ** 3, limitsSwap: true, hugepages: new Map() };
  const of = (settings: AgentSettings, more = {}) =>
    limitsOf({ settings: resolveSettings(settings), machine: { ...machine, ...more } });

  it('is shared out by the gate MemoryQoS alone', () => {
    const gates = { featureGates: { MemoryQoS: true } };
    const reserved = { systemReserved: { memory: '1Gi' }, evictionHard: { 'memory.available': '1Gi' } };
    expect(of({ ...gates, ...reserved, memoryReservationPolicy: 'TieredReservation' }).memoryQOS).toEqual({
      reservationPolicy: 'TieredReservation',
      throttlingFactor: 0.9,
      allocatableBytes: 7 * 1024 ** 3,
      pageSizeBytes: pageSize(),
    });
    expect(of({ featureGates: { MemoryQoS: false }, memoryThrottlingFactor: 0.5 })).not.toHaveProperty('memoryQOS');
  });

  it('is never moved to disk, or by a share, where the kernel can limit that', () => {
    expect(of({}).swap).toEqual({ behavior: 'NoSwap', capacityBytes: 1024 ** 3 });
    expect(of({ swapBehavior: 'LimitedSwap' }).swap).toEqual({ behavior: 'LimitedSwap', capacityBytes: 1024 ** 3 });
    expect(of({ swapBehavior: 'LimitedSwap' }, { limitsSwap: false })).not.toHaveProperty('swap');
  });
});

describe('a node agent', () => {
  const asked = (calls: unknown[][]) => ({
    ...noPodCgroups,
    createBase: async (...given: unknown[]) => void calls.push(['createBase', ...given]),
    limitGroup: async (...given: unknown[]) => void calls.push(given),
  });

  it('limits all pods to what is left for them, and the groups of services to what is theirs', async () => {
    await using world = await NodeWorld.make();
    const calls: unknown[][] = [];
    const reserved = { systemReserved: { cpu: '1', memory: '1Gi', pid: '100' }, kubeReserved: { memory: '1Gi' } };
    const agent = world.agent({
      ...reserved,
      cgroups: asked(calls),
      machine: { ...quietMachine(), cpus: 4, memoryBytes: 8 * 1024 ** 3, maxProcesses: 1000 },
      cgroupsPerQOS: true,
      enforceNodeAllocatable: ['pods', 'system-reserved', 'kube-reserved-compressible'],
      systemReservedCgroup: '/system.slice',
      kubeReservedCgroup: '/kube.slice',
    });
    await world.through(agent.start());
    expect(calls).toEqual([
      ['createBase', undefined, expect.any(AbortSignal)],
      ['pods', expect.objectContaining({ cpu: '3', memory: '6291456Ki', pid: '900' })],
      ['/system.slice', reserved.systemReserved, false],
      ['/kube.slice', reserved.kubeReserved, true],
    ]);
    await world.through(agent.stop());
  });

  it('limits all pods to what the machine has where nothing else is enforced', async () => {
    await using world = await NodeWorld.make();
    const calls: unknown[][] = [];
    const agent = world.agent({
      cgroups: asked(calls),
      machine: { ...quietMachine(), cpus: 4, memoryBytes: 8 * 1024 ** 3 },
      cgroupsPerQOS: true,
      systemReserved: { cpu: '1', memory: '1Gi' },
      enforceNodeAllocatable: ['none'],
    });
    await world.through(agent.start());
    expect(calls[1]).toEqual(['pods', expect.objectContaining({ cpu: '4', memory: '8388608Ki' })]);
    await world.through(agent.stop());
  });

  it.each(['createBase', 'pods', '/system.slice'])('that is stopped meanwhile limits nothing after %s', async (last) => {
    await using world = await NodeWorld.make();
    const calls: string[] = [];
    const made = Promise.withResolvers<void>();
    const note = (call: string): Promise<void> | undefined => {
      calls.push(call);
      return call === last ? made.promise : undefined;
    };
    const agent = world.agent({
      cgroups: { ...noPodCgroups, createBase: async () => note('createBase'), limitGroup: async (group) => note(group) },
      cgroupsPerQOS: true,
      enforceNodeAllocatable: ['pods', 'system-reserved', 'kube-reserved'],
      ...{ systemReservedCgroup: '/system.slice', kubeReservedCgroup: '/kube.slice' },
    });
    const refused = expect(world.through(agent.start())).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await world.pass(1000);
    const stopped = world.through(agent.stop());
    await world.pass(1000);
    expect(agent.state).toBe('stopping');
    made.resolve();
    await Promise.all([refused, stopped]);
    expect(calls.at(-1)).toBe(last);
    expect(world.timersLeft).toBe(0);
  });

  it('tells its cgroups that it stops, and waits for them no longer than it may', async () => {
    await using world = await NodeWorld.make();
    let told: AbortSignal | undefined;
    const createBase = (_allocatable: unknown, signal?: AbortSignal): Promise<never> => {
      told = signal;
      return new Promise(() => {});
    };
    const agent = world.agent({ cgroups: { ...noPodCgroups, createBase }, cgroupsPerQOS: true });
    const start = agent.start();
    start.catch(() => {});
    await world.pass(1000);
    await world.through(agent.stop({ timeoutMs: 5000 }));
    expect([agent.state, told?.aborted]).toEqual(['stopped', true]);
  });

  it('closes the cgroups that it has made itself, once nothing uses them', async () => {
    await using world = await NodeWorld.make();
    const { prototype } = MachineCgroups;
    for (const call of ['createBase', 'limitGroup', 'updateClasses'] as const) vi.spyOn(prototype, call).mockResolvedValue();
    vi.spyOn(prototype, 'listPods').mockResolvedValue([]);
    vi.spyOn(prototype, 'usage').mockResolvedValue(undefined);
    const close = vi.spyOn(prototype, 'close').mockReturnValue();
    const agent = world.agent({ cgroupsPerQOS: true });
    await world.through(agent.start());
    const ended = vi.spyOn(agent.nodeObject, 'stop');
    await world.through(agent.stop());
    expect(close).toHaveBeenCalledOnce();
    expect(close).toHaveBeenCalledAfter(ended);
    vi.restoreAllMocks();
  });

  it('that cannot limit all pods runs, says so, and tries again each minute', async () => {
    await using world = await NodeWorld.make();
    const { logger, saying } = recordedLines();
    let refusals = 2;
    const limitGroup = async () => {
      if (refusals-- > 0) throw new Error('cannot write 1 to /kubepods/memory.limit_in_bytes: EBUSY');
    };
    const agent = world.agent({ cgroups: { ...noPodCgroups, limitGroup }, cgroupsPerQOS: true, logger });
    await world.through(agent.start());
    const problems = () => agent.snapshot().problems.filter(({ kind }) => kind === 'cgroups');
    expect(problems()).toMatchObject([{ message: expect.stringContaining('EBUSY'), attempt: 1 }]);
    await world.pass(61_000);
    expect(problems()).toMatchObject([{ attempt: 2 }]);
    await world.pass(60_000);
    expect(problems()).toEqual([]);
    expect(saying('all pods together could not be limited; it is tried again')).toHaveLength(2);
    expect(saying('all pods together are limited again')).toMatchObject([{ fields: { attempt: 2 } }]);
    expect(refusals).toBe(-1);
    await world.through(agent.stop());
  });

  it('is not made for one process to end where the kernel of the machine can only do that', async () => {
    await using world = await NodeWorld.make();
    const agent = () => world.agent({ cgroups: { ...noPodCgroups, version: 1 }, singleProcessOOMKill: false });
    expect(agent).toThrow('`singleProcessOOMKill` to be left out or true, since the cgroups of this machine are of version 1');
    const swapping = () => world.agent({ cgroups: { ...noPodCgroups, version: 1 }, swapBehavior: 'LimitedSwap' });
    const { logger, saying } = recordedLines();
    world.agent({ cgroups: { ...noPodCgroups, version: 1 }, featureGates: { MemoryQoS: true }, logger });
    expect(saying('the feature gate MemoryQoS does nothing here: the cgroups of this machine are of version 1')).toHaveLength(1);
    expect(swapping).toThrow('`swapBehavior` to be "NoSwap", since the cgroups of this machine are of version 1');
  });

  it('does not start where the group of a service cannot be limited', async () => {
    await using world = await NodeWorld.make();
    const limitGroup = async (group: string) => {
      if (group !== 'pods') throw new Error(`there is no cgroup ${group}`);
    };
    const agent = world.agent({
      cgroups: { ...noPodCgroups, limitGroup },
      cgroupsPerQOS: true,
      enforceNodeAllocatable: ['system-reserved'],
      systemReservedCgroup: '/none',
    });
    await expect(world.through(agent.start())).rejects.toThrow('there is no cgroup /none');
    await world.through(agent.stop());
  });
});
