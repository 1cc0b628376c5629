import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../../src/api/json/types.ts';
import { DeviceAllocationError } from '../../../../../src/scheduler/devices/device-allocation-error.ts';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { barePod } from '../../../../support/pods.ts';
import { allocationOf, ClaimWorld, claimOf, podWith, reservedFor } from './claim-world.ts';

/** A pod whose claim is made from a template. */
function templatePod(statuses: object[]): WirePod {
  return barePod({
    metadata: { name: 'p', namespace: 'd', uid: 'u-p' },
    spec: { containers: [], resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] },
    status: { resourceClaimStatuses: statuses as never },
  });
}

const owner = (uid: string) => [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid, controller: true }];

const noRoom = { n1: 'cannot allocate all claims' };

describe('a pod with claims', () => {
  it('has nothing to do with the plugin without any', () => {
    const world = new ClaimWorld({});
    expect(world.judge(podWith('p'))).toBe('skip');
    expect(world.plugin.preEnqueue?.(podWith('p'))).toBeUndefined();
  });

  it.each([
    [podWith('p', 'c'), [], 'could not find ResourceClaim "d/c"'],
    [podWith('p', 'c'), [claimOf('c', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })], 'resourceclaim "c" is being deleted'],
    [templatePod([]), [], 'pod "d/p": ResourceClaim not created yet'],
    [
      templatePod([{ name: 'gpu', resourceClaimName: 'c' }]),
      [claimOf('c', {}, { ownerReferences: owner('u-other') })],
      'ResourceClaim d/c was not created for Pod d/p (Pod is not owner)',
    ],
    [
      barePod({ metadata: { name: 'p', namespace: 'd' }, spec: { containers: [], resourceClaims: [{ name: 'gpu' }] } }),
      [],
      'pod "d/p", spec.resourceClaim "gpu": none of the supported fields are set',
    ],
  ])('is not tried before they can be used: %#', (pod, resourceClaims, reason) => {
    const world = new ClaimWorld({ resourceClaims });
    const rejection = { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
    expect(world.plugin.preEnqueue?.(pod)).toEqual(rejection);
    expect(world.plugin.preFilter?.(new CycleState(), createPodInfo(pod), world.snapshot())).toEqual(rejection);
  });

  it('uses a claim of its own that was made from a template, and needs none that was not', () => {
    const resourceClaims = [claimOf('c', {}, { ownerReferences: owner('u-p') })];
    expect(new ClaimWorld({ resourceClaims }).judge(templatePod([{ name: 'gpu', resourceClaimName: 'c' }]))).toEqual({});
    expect(new ClaimWorld({}).judge(templatePod([{ name: 'gpu' }]))).toBe('skip');
  });

  it('waits for a class that is missing, of a request and of an alternative', () => {
    const alternatives = {
      name: 'one',
      firstAvailable: [
        { name: 'x', deviceClassName: 'gpu' },
        { name: 'y', deviceClassName: 'no' },
      ],
    };
    const choosy = { ...claimOf('e'), spec: { devices: { requests: [alternatives] } } };
    const deviceClasses = [{ metadata: { name: 'gpu' }, spec: {} }];
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), choosy], deviceClasses });
    expect(world.judge(podWith('p', 'e'))).toBe('request one/y: device class no does not exist');
    expect(new ClaimWorld({ resourceClaims: [claimOf('c')], deviceClasses: [] }).judge(podWith('p', 'c'))).toBe(
      'request one: device class gpu does not exist',
    );
    expect(world.judge(podWith('p', 'c'))).toEqual({});
  });

  it('is not looked at with more claims than anybody needs', () => {
    const names = Array.from({ length: 257 }, (_, index) => `c${index}`);
    const resourceClaims = names.map((name) => claimOf(name, { allocation: allocationOf(name) }));
    const world = new ClaimWorld({ resourceClaims });
    expect(world.judge(podWith('p', ...names))).toBe('pod "d/p" has 257 claims, and no more than 256 are looked at');
    expect(world.judge(podWith('p', ...names.slice(1)))).toEqual({});
    const placed = world.place(podWith('p', ...names.slice(1)));
    expect(placed.awaited).toBe('the claims d/c1, d/c2, d/c3 and 253 more to be written');
  });

  it('fits where there are devices for all of them', () => {
    const resourceClaims = [claimOf('c'), claimOf('e')];
    const world = new ClaimWorld({ resourceClaims }, { nodes: ['n1', 'n2'], devices: { n1: ['a'], n2: ['a', 'b'] } });
    expect(world.judge(podWith('p', 'c', 'e'))).toEqual({ n1: 'cannot allocate all claims' });
    expect(world.judge(podWith('p', 'c', 'c'))).toEqual({});
  });

  it('goes where the devices of an allocated claim can be had', () => {
    const matchExpressions = [{ key: 'host', operator: 'In', values: ['n2'] }];
    const nodeSelector = { nodeSelectorTerms: [{ matchExpressions }] };
    const resourceClaims = [claimOf('c', { allocation: { ...allocationOf('a'), nodeSelector } })];
    const world = new ClaimWorld({ resourceClaims }, { nodes: ['n1', 'n2'] });
    expect(world.judge(podWith('p', 'c'))).toEqual({ n1: 'resourceclaim not available on the node' });
  });

  it('does not get the devices that another claim has', () => {
    const resourceClaims = [claimOf('c'), claimOf('of-other', { allocation: allocationOf('a') })];
    const world = new ClaimWorld({ resourceClaims }, { devices: { n1: ['a'] } });
    expect(world.judge(podWith('p', 'c'))).toEqual({ n1: 'cannot allocate all claims' });
    world.delete('of-other');
    expect(world.judge(podWith('p', 'c'))).toEqual({});
  });

  it('fails where a node takes too long, and where the search fails', () => {
    const late = new ClaimWorld(
      { resourceClaims: [claimOf('c')] },
      {
        args: { filterTimeout: '5s' },
        allocate: (needs) => {
          late.laterMs += 5001;
          if (needs.isOverdue()) throw new DeviceAllocationError('time', 'late');
          return [allocationOf('a')];
        },
      },
    );
    expect(() => late.judge(podWith('p', 'c'))).toThrow('node n1: timed out trying to allocate devices');
    const endless = new ClaimWorld(
      { resourceClaims: [claimOf('c')] },
      {
        args: { filterTimeout: '0s' },
        allocate: (needs) => {
          endless.laterMs += 1e9;
          return needs.isOverdue() ? undefined : [allocationOf('a')];
        },
      },
    );
    expect(endless.judge(podWith('p', 'c'))).toEqual({});
    expect(() => new ClaimWorld({ resourceClaims: [claimOf('c')] }, { allocate: fail }).judge(podWith('p', 'c'))).toThrow(
      'broken',
    );
  });

  it('is searched for on all nodes together for a limited time, and then not again for a while', () => {
    let asked = 0;
    const world: ClaimWorld = new ClaimWorld(
      { resourceClaims: [claimOf('c'), claimOf('e')] },
      {
        nodes: Array.from({ length: 50 }, (_, index) => `n${index}`),
        allocate: (needs, _node, claims) => {
          asked += 1;
          if (claims[0]?.metadata?.name === 'e') return [allocationOf('a')];
          world.laterMs += 100;
          if (needs.isOverdue()) throw new DeviceAllocationError('time', 'late');
          return undefined;
        },
      },
    );
    expect(() => world.judge(podWith('p', 'c'))).toThrow(
      'node n11: timed out trying to allocate devices for d/c: searching has taken 1200 ms at 12 looks at nodes',
    );
    expect(() => world.judge(podWith('p', 'c'))).toThrow('searches for devices of the namespace d have taken too long');
    expect(asked).toBe(12);
    expect(world.judge(podWith('q', 'e'))).toEqual({});
    world.laterMs += 2000;
    expect(() => world.judge(podWith('p', 'c'))).toThrow('timed out trying');
  });

  it('is searched for once on each node, however often preemption asks', () => {
    let asked = 0;
    const allocate = () => {
      asked += 1;
      return undefined;
    };
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, { allocate });
    const state = new CycleState();
    expect(world.judge(podWith('p', 'c'), state)).toEqual(noRoom);
    const [node] = world.snapshot().nodes;
    const rejection = node && world.plugin.filter?.(state, createPodInfo(podWith('p', 'c')), node.clone());
    expect(rejection?.reasons).toEqual(['cannot allocate all claims']);
    expect(asked).toBe(1);
  });

  it('says where the client cannot write claims', () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, { client: { getObject: undefined as never } });
    expect(world.judge(podWith('p', 'c'))).toBe(
      "the pod's ResourceClaims have to be written, and the scheduler's client has no method getObject",
    );
  });
});

function fail(): never {
  throw new Error('broken');
}

describe('the score', () => {
  it('is the better the earlier the alternatives', () => {
    const requests = [{ name: 'one', firstAvailable: ['x', 'y', 'z'].map((name) => ({ name, deviceClassName: 'gpu' })) }];
    const resourceClaims = [{ ...claimOf('c'), spec: { devices: { requests } } }];
    const request = { n1: 'one/x', n2: 'one/z', n3: 'one' } as Record<string, string>;
    const world = new ClaimWorld(
      { resourceClaims },
      { nodes: ['n1', 'n2', 'n3'], allocate: (_needs, node) => [allocationOf({ request: request[node] as string })] },
    );
    const [state, info] = [new CycleState(), createPodInfo(podWith('p', 'c'))];
    world.judge(podWith('p', 'c'), state);
    const { nodes } = world.snapshot();
    const scores = nodes.map((node) => world.plugin.score?.(state, info, node) ?? -1);
    expect(scores).toEqual([8, 6, 0]);
    world.plugin.normalizeScores?.(state, info, scores, nodes);
    expect(scores).toEqual([100, 75, 0]);
  });

  it('is not asked of pods without claims', () => {
    const world = new ClaimWorld({});
    const state = new CycleState();
    world.judge(podWith('p'), state);
    expect(world.plugin.preScore?.(state, createPodInfo(podWith('p')), [])).toBe('skip');
  });
});

describe('room for a pod', () => {
  const elsewhere = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'In', values: ['gone'] }] }] };
  const stuck = (status: object = {}) =>
    claimOf('c', { allocation: { ...allocationOf('a'), nodeSelector: elsewhere }, ...status });

  it.each([
    [{}],
    [{ reservedFor: reservedFor('p') }],
  ])('is made by taking its devices from a claim that nobody else uses: %j', async (status) => {
    const world = new ClaimWorld({ resourceClaims: [stuck(status)] });
    const { message, changes } = world.makeRoom(podWith('p', 'c'));
    expect(message).toBe('deallocation of ResourceClaim completed');
    expect(changes.map(({ what }) => what)).toEqual(['the devices of claim d/c could not be given back']);
    await changes[0]?.change(new AbortController().signal);
    expect(world.asked.map(({ what }) => what)).toEqual(['status d/c']);
    expect(world.server('c')?.status).toEqual({});
    expect(world.judge(podWith('p', 'c'))).toEqual({});
  });

  it('is not made at the cost of others', async () => {
    const world = new ClaimWorld({ resourceClaims: [stuck({ reservedFor: reservedFor('p', 'q') })] });
    expect(world.makeRoom(podWith('p', 'c'))).toEqual({ message: 'still not schedulable', changes: [] });
    expect(world.makeRoom(podWith('p')).message).toBe('no new claims to deallocate');
    const raced = new ClaimWorld({ resourceClaims: [stuck()] });
    const { changes } = raced.makeRoom(podWith('p', 'c'));
    raced.change(
      { ...raced.claims.get('c'), status: { ...raced.claims.get('c').status, reservedFor: reservedFor('q') } } as never,
      false,
    );
    await changes[0]?.change(new AbortController().signal);
    expect(raced.server('c')?.status?.allocation).toBeDefined();
  });
});
