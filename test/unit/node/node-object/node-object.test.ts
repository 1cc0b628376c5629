import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { capacity, NodeWorld, namespace, nodeName, refusal } from './node-world.ts';

const minute = 60_000;

describe('a node that is not there', () => {
  it('is created with all that is given, and then has its Lease', async () => {
    const world = new NodeWorld({
      labels: { 'example.com/kind': 'virtual' },
      annotations: { 'example.com/note': 'any text' },
      taints: [{ key: 'example.com/virtual', value: 'true', effect: 'NoSchedule' }],
      providerID: 'example://1',
      allocatable: { cpu: '3500m' },
      addresses: [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: 'fd00::1' },
        { type: 'Hostname', address: 'one' },
      ],
      nodeInfo: { kubeletVersion: 'v1.36.3', operatingSystem: 'linux', architecture: 'amd64' },
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    });
    await world.start();
    expect(world.stored()).toMatchObject({
      metadata: {
        name: nodeName,
        labels: {
          'kubernetes.io/hostname': nodeName,
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'beta.kubernetes.io/os': 'linux',
          'beta.kubernetes.io/arch': 'amd64',
          'example.com/kind': 'virtual',
        },
        annotations: { 'example.com/note': 'any text' },
      },
      spec: {
        providerID: 'example://1',
        taints: [{ key: 'example.com/virtual', value: 'true', effect: 'NoSchedule' }, { key: 'node.kubernetes.io/not-ready' }],
      },
      status: {
        capacity,
        allocatable: { ...capacity, cpu: '3500m' },
        addresses: [{ address: '10.0.0.1' }, { address: 'fd00::1' }, { address: 'one' }],
        nodeInfo: { kubeletVersion: 'v1.36.3' },
        daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      },
    });
    const now = '2026-01-01T00:00:00Z';
    const times = { lastHeartbeatTime: now, lastTransitionTime: now };
    expect(world.stored()?.status?.conditions).toEqual([
      {
        type: 'MemoryPressure',
        status: 'False',
        reason: 'KubeletHasSufficientMemory',
        message: 'kubelet has sufficient memory available',
        ...times,
      },
      {
        type: 'DiskPressure',
        status: 'False',
        reason: 'KubeletHasNoDiskPressure',
        message: 'kubelet has no disk pressure',
        ...times,
      },
      {
        type: 'PIDPressure',
        status: 'False',
        reason: 'KubeletHasSufficientPID',
        message: 'kubelet has sufficient PID available',
        ...times,
      },
      { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status', ...times },
    ]);
    const uid = world.stored()?.metadata?.uid;
    expect(world.lease()).toMatchObject({
      metadata: { name: nodeName, namespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }] },
      spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
    });
    expect(world.calls).toEqual(['POST nodes', 'GET leases', 'POST leases']);
    await world.node.registered();
    expect(world.node.node?.metadata?.uid).toBe(uid);
    await world.node.stop();
  });

  it('is waited for where this agent may not create it', async () => {
    const world = new NodeWorld({ registerNode: false });
    await world.start();
    expect(world.calls).toEqual(['GET nodes']);
    expect(world.node.explain()).toMatchObject({
      registered: false,
      nodeFailure: { error: { message: expect.stringContaining('registerNode is false') } },
    });
    world.nodes.create({ metadata: { name: nodeName } });
    await world.clock.advance(10_000);
    expect(world.condition('Ready')).toMatchObject({ status: 'True' });
    expect(world.calls).not.toContain('POST nodes');
    expect(world.lease()).toBeDefined();
    await world.node.stop();
  });
});

describe('what is known of the node', () => {
  it('is what the watch shows, also where the node cannot be registered', async () => {
    const world = new NodeWorld();
    world.nodes.create({ metadata: { name: nodeName, labels: { disk: 'ssd' } } });
    world.next('POST nodes', () => Promise.reject(refusal(500, 'InternalError')));
    expect(world.node.newest).toBeUndefined();
    await world.start();
    await world.node.synced();
    expect(world.node.explain().registered).toBe(false);
    expect([world.node.newest?.metadata?.labels, world.node.node]).toEqual([{ disk: 'ssd' }, undefined]);
    await world.node.stop();
  });

  it('is that there is none, too', async () => {
    const world = new NodeWorld({ registerNode: false });
    await world.start();
    await world.node.synced();
    expect(world.node.newest).toBeUndefined();
    await world.node.stop();
  });

  it('comes with the registration where nodes may not be watched', async () => {
    const world = new NodeWorld();
    world.mayWatch = false;
    await world.start();
    await world.node.synced();
    expect(world.node.newest?.metadata?.name).toBe(nodeName);
    await world.node.stop();
  });

  it('is not waited for any more once the object is stopped', async () => {
    const world = new NodeWorld();
    world.isDown = true;
    await world.start();
    const synced = world.node.synced();
    await world.node.stop();
    await expect(synced).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });
});

describe('the heartbeat', () => {
  it('is one renewal of the Lease every ten seconds, and one patch of the status every five minutes', async () => {
    const world = new NodeWorld();
    await world.start();
    world.takeCalls();
    await world.clock.advance(21 * minute);
    const calls = world.takeCalls();
    const patches = calls.filter((call) => call === 'PATCH nodes/status').length;
    const renewals = calls.filter((call) => call === 'PUT leases').length;
    expect(patches).toBe(4);
    // 10 s and 2 % of jitter
    expect(renewals).toBe(Math.floor((21 * minute) / 10_200));
    expect(calls).toHaveLength(patches + renewals);
    expect(world.condition('Ready')?.lastHeartbeatTime).not.toBe('2026-01-01T00:00:00Z');
    expect(world.condition('Ready')?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
    expect(world.condition('DiskPressure')?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
    await world.node.stop();
  });

  it('is spread after a change: the next report comes after half to one and a half of the frequency', async () => {
    for (const [random, expected] of [
      [0, 150_000],
      [1, 450_000],
    ] as const) {
      const world = new NodeWorld({ random: () => random, statusUpdateFrequencyMs: 1000 });
      await world.start();
      world.takeCalls();
      const started = world.clock.now();
      while (!world.takeCalls().includes('PATCH nodes/status')) await world.clock.advance(1000);
      const first = world.clock.now();
      expect(Math.abs(first - started - expected)).toBeLessThanOrEqual(2000);
      // the next ones come by the frequency
      while (!world.takeCalls().includes('PATCH nodes/status')) await world.clock.advance(1000);
      expect(Math.abs(world.clock.now() - first - 300_000)).toBeLessThanOrEqual(2000);
      await world.node.stop();
    }
  });

  it('reads the node before a patch where nodes may not be watched', async () => {
    const world = new NodeWorld();
    world.mayWatch = false;
    await world.start();
    const theirs = { metadata: { labels: { theirs: 'label' } } };
    world.nodes.patch({ name: nodeName }, { type: 'application/merge-patch+json', body: theirs });
    world.takeCalls();
    await world.clock.advance(6 * minute);
    expect(world.takeCalls().filter((call) => call.includes('nodes'))).toEqual(['GET nodes', 'PATCH nodes/status']);
    expect(world.node.node?.metadata?.labels).toMatchObject({ theirs: 'label' });
    await world.node.stop();
  });

  it('names the uid of the node in each patch', async () => {
    const world = new NodeWorld();
    await world.start();
    world.takeCalls();
    await world.clock.advance(6 * minute);
    const patch = world.bodies.find((body) => (body as { status?: unknown }).status !== undefined);
    expect(patch).toMatchObject({ metadata: { uid: world.stored()?.metadata?.uid } });
    await world.node.stop();
  });
});

describe('a change', () => {
  it('of the readiness is seen at the next look, or at once when it is told', async () => {
    let ready = false;
    const world = new NodeWorld({ readiness: () => ({ ready, reason: 'NoRuntime', message: 'the runtime is down' }) });
    await world.start();
    expect(world.condition('Ready')).toMatchObject({ status: 'False', reason: 'NoRuntime', message: 'the runtime is down' });
    await world.clock.advance(5000);
    ready = true;
    world.node.changed();
    await settle(10);
    expect(world.condition('Ready')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' });
    expect(world.condition('MemoryPressure')).toMatchObject({ lastTransitionTime: '2026-01-01T00:00:00Z' });
    ready = false;
    await world.clock.advance(10_400);
    expect(world.condition('Ready')).toMatchObject({ status: 'False' });
    await world.node.stop();
  });

  it('that is told again and again is looked at once a second', async () => {
    let flips = 0;
    const world = new NodeWorld({ readiness: () => ({ ready: ++flips % 2 === 0 }) });
    await world.start();
    world.takeCalls();
    for (let i = 0; i < 1000; i++) {
      world.node.changed();
      await world.clock.advance(10);
    }
    expect(world.takeCalls().filter((call) => call === 'PATCH nodes/status').length).toBeLessThanOrEqual(17);
    await world.node.stop();
  });

  it('of a pressure has its reason, and one of what the node offers is told as a whole', async () => {
    let memory = false;
    const world = new NodeWorld({
      capacity: { ...capacity, 'example.com/device': '2' },
      pressures: () => ({ memory }),
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    });
    await world.start();
    memory = true;
    world.node.setStatus({
      capacity: { ...capacity, cpu: '8' },
      addresses: [
        { type: 'InternalIP', address: '10.0.0.2' },
        { type: 'InternalIP', address: 'fd00::2' },
      ],
    });
    await settle(10);
    expect(world.condition('MemoryPressure')).toMatchObject({
      status: 'True',
      reason: 'KubeletHasInsufficientMemory',
      message: 'kubelet has insufficient memory available',
    });
    expect(world.stored()?.status).toMatchObject({
      capacity: { ...capacity, cpu: '8' },
      allocatable: { ...capacity, cpu: '8' },
      addresses: [
        { type: 'InternalIP', address: '10.0.0.2' },
        { type: 'InternalIP', address: 'fd00::2' },
      ],
    });
    expect(world.stored()?.status?.capacity).not.toHaveProperty('example.com/device');
    expect(world.stored()?.status?.allocatable).not.toHaveProperty('example.com/device');
    await world.node.stop();
  });

  it('of the volumes in use is told at once, and that there are none is told once', async () => {
    const world = new NodeWorld({ volumesInUse: ['kubernetes.io/csi/disk^1'] });
    await world.start();
    expect(world.stored()?.status?.volumesInUse).toEqual(['kubernetes.io/csi/disk^1']);
    await world.clock.advance(2000);
    world.node.setStatus({ volumesInUse: [] });
    await settle(10);
    expect(world.stored()?.status?.volumesInUse).toBeUndefined();
    world.takeCalls();
    await world.clock.advance(minute);
    expect(world.takeCalls().filter((call) => call.includes('nodes'))).toEqual([]);
    await world.node.stop();
  });

  it('by others is put right at the next look, and what is theirs stays', async () => {
    const world = new NodeWorld();
    await world.start();
    const theirs = { type: 'example.com/Disk', status: 'True', reason: 'Full' };
    const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };
    const body = {
      metadata: { labels: { 'kubernetes.io/os': 'other', theirs: 'label' } },
      status: { conditions: [theirs, unknown], capacity: { 'example.com/theirs': '3' } },
    };
    world.nodes.patch({ name: nodeName }, { type: 'application/strategic-merge-patch+json', body, subresource: 'status' });
    await world.clock.advance(10_400);
    expect(world.condition('Ready')).toMatchObject({ status: 'True', reason: 'KubeletReady' });
    expect(world.condition('example.com/Disk')).toMatchObject(theirs);
    expect(world.stored()?.status).toMatchObject({
      capacity: { 'example.com/theirs': '3' },
      allocatable: { 'example.com/theirs': '3' },
    });
    expect(world.stored()?.metadata?.labels).toMatchObject({ theirs: 'label', 'kubernetes.io/os': process.platform });
    await world.node.stop();
  });
});

describe('a node that is there', () => {
  it('is taken over: its labels, annotations, taints and conditions stay, but for the default labels and the status', async () => {
    const world = new NodeWorld({
      labels: { 'topology.kubernetes.io/zone': 'new', mine: 'new' },
      taints: [{ key: 'mine', effect: 'NoSchedule' }],
      annotations: { mine: 'new' },
    });
    world.nodes.create({
      metadata: {
        name: nodeName,
        labels: { 'topology.kubernetes.io/zone': 'old', mine: 'old', other: 'kept' },
        annotations: { mine: 'old', other: 'kept' },
      },
      spec: { taints: [{ key: 'other', effect: 'NoExecute' }], unschedulable: true },
      status: {
        capacity: { cpu: '1', 'hugepages-2Mi': '1Gi', 'example.com/theirs': '3' },
        conditions: [
          { type: 'Theirs', status: 'True' },
          { type: 'Ready', status: 'Unknown', lastTransitionTime: '2020-01-01T00:00:00Z' },
        ],
        addresses: [{ type: 'InternalIP', address: '10.9.9.9' }],
        volumesAttached: [{ name: 'volume', devicePath: '/dev' }],
      },
    });
    await world.start();
    const { metadata, spec, status } = world.stored() ?? {};
    expect(metadata?.labels).toMatchObject({ 'topology.kubernetes.io/zone': 'new', mine: 'old', other: 'kept' });
    expect(metadata?.annotations).toEqual({ mine: 'old', other: 'kept' });
    expect(spec).toMatchObject({ unschedulable: true, taints: [{ key: 'other' }, { key: 'node.kubernetes.io/not-ready' }] });
    expect(status?.capacity).toEqual({ ...capacity, 'example.com/theirs': '3' });
    expect(status?.addresses).toEqual([{ type: 'Hostname', address: nodeName }]);
    expect(status).toMatchObject({ volumesAttached: [{ name: 'volume' }] });
    expect(status?.conditions?.map(({ type }) => type).sort()).toEqual(
      ['DiskPressure', 'MemoryPressure', 'PIDPressure', 'Ready', 'Theirs'].sort(),
    );
    expect(world.condition('Ready')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' });
    expect(world.calls.filter((call) => call.includes('nodes'))).toEqual(['POST nodes', 'GET nodes', 'PATCH nodes/status']);
    expect(world.logs).toContain('warn: the node was registered without these taints');
    world.takeCalls();
    await world.clock.advance(minute);
    expect(world.takeCalls()).not.toContain('PATCH nodes/status');
    await world.node.stop();
  });
});

describe('removal at the end', () => {
  it('is done by request, of what this process has created', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    await world.start();
    expect(await world.node.stop()).toEqual({ node: 'removed', lease: 'removed' });
    expect([world.stored(), world.lease()]).toEqual([undefined, undefined]);
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('leaves both by default', async () => {
    const world = new NodeWorld();
    await world.start();
    expect(await world.node.stop()).toEqual({ node: 'kept', lease: 'kept' });
    expect(world.stored()).toBeDefined();
    expect(world.lease()).toBeDefined();
    expect([world.clock.pendingTimers, world.openWatches]).toEqual([0, 0]);
  });

  it('leaves what was there before, and what another one has put in its place', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    world.nodes.create({ metadata: { name: nodeName } });
    world.leases.create({ metadata: { name: nodeName, namespace }, spec: { holderIdentity: nodeName } });
    await world.start();
    expect(await world.node.stop()).toEqual({ node: 'notOurs', lease: 'notOurs' });
    const replaced = new NodeWorld({ removeOnStop: true });
    await replaced.start();
    replaced.nodes.remove({ name: nodeName });
    replaced.nodes.create({ metadata: { name: nodeName, labels: { other: 'agent' } } });
    expect(await replaced.node.stop()).toMatchObject({ node: 'notOurs' });
    expect(replaced.stored()?.metadata?.labels).toMatchObject({ other: 'agent' });
  });
});
