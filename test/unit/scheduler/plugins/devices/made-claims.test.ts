import { describe, expect, it } from 'vitest';
import { resources } from '../../../../../src/client/resources/api-resource.ts';
import { ApiError } from '../../../../../src/client/transport/api-error.ts';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { delegatedKey } from '../../../../../src/scheduler/plugins/resource-classes.ts';
import { settle } from '../../../../../src/testing/fakes/fake-clock.ts';
import { allocationOf, ClaimWorld, type ClaimWorldOptions, claimOf, podAsking, podWith, reservedFor } from './claim-world.ts';

const gpu = 'example.com/gpu';
const deviceClasses = [{ metadata: { name: 'gpu' }, spec: { extendedResourceName: gpu } }];
const oneDevice = { devices: { n1: ['a'] } };
const noRoom = { n1: 'cannot allocate all claims' };
const protection = 'resource.kubernetes.io/delete-protection';
const madeFor = (name: string) => ({
  annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid: `u-${name}`, controller: true }],
});
const asks = podAsking('p', { [gpu]: '1' });

const worldWith = (resourceClaims: readonly object[] = [], options: ClaimWorldOptions = oneDevice) =>
  new ClaimWorld({ deviceClasses, resourceClaims }, options);
const whats = (world: ClaimWorld) => world.asked.map(({ what }) => what);

describe('extended resources that a class stands for', () => {
  it('are devices of a claim that is made for the pod, and that its status names', async () => {
    const world = worldWith();
    world.clock.set(Date.UTC(2026, 0, 1));
    const placed = await world.place(asks).bind();
    expect(placed.end).toBe('bound');
    const requests = [
      { name: 'container-0-request-0', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 } },
    ];
    const allocation = { ...allocationOf('a'), allocationTimestamp: '2026-01-01T00:00:00Z' };
    const mapping = { containerName: 'main', resourceName: gpu, requestName: 'container-0-request-0' };
    expect(world.asked.map(({ what, patch }) => [what, patch])).toEqual([
      [
        'make d/p-extended-resources-',
        {
          apiVersion: 'resource.k8s.io/v1',
          kind: 'ResourceClaim',
          metadata: { namespace: 'd', generateName: 'p-extended-resources-', ...madeFor('p') },
          spec: { devices: { requests } },
        },
      ],
      ['object d/p-extended-resources-101', { metadata: { finalizers: [protection] } }],
      ['status d/p-extended-resources-101', { status: { allocation, reservedFor: reservedFor('p') } }],
      ['pod d/p', { extendedResourceClaimStatus: { requestMappings: [mapping], resourceClaimName: 'p-extended-resources-101' } }],
    ]);
  });

  it('are none for a pod that asks for none of them', () => {
    expect(worldWith().judge(podAsking('p', { 'example.com/net': '1', cpu: '1' }))).toBe('skip');
    expect(worldWith().judge(podAsking('p', { [gpu]: '0' }))).toBe('skip');
    expect(new ClaimWorld({}).judge(asks)).toBe('skip');
  });

  it('are the node’s own where it has some: nothing is claimed or written', async () => {
    const world = worldWith([], { allocatable: { [gpu]: '4' }, devices: { n1: [] } });
    const placed = await world.place(asks).bind();
    await placed.unreserve();
    expect([placed.end, placed.awaited, whats(world)]).toEqual(['bound', undefined, []]);
  });

  it('are looked for as devices where the node says that it has none', () => {
    expect(worldWith([], { allocatable: { [gpu]: '0' }, devices: { n1: [] } }).judge(asks)).toEqual(noRoom);
  });

  it('leave a node out that lacks another one for which no class stands', () => {
    const both = podAsking('p', { [gpu]: '1', 'example.com/net': '1' });
    expect(worldWith().judge(both)).toEqual({ n1: 'cannot fit resource' });
    expect(worldWith([], { allocatable: { 'example.com/net': '0' } }).judge(both)).toEqual({});
  });

  it('that only the overhead of a pod asks for fit nowhere', () => {
    const pod = podAsking('p', {});
    const withOverhead = { ...pod, spec: { ...pod.spec, overhead: { [gpu]: '1' } } } as never;
    expect(worldWith().judge(withOverhead)).toEqual({ n1: 'cannot fit resource' });
  });

  it('are told to whoever counts the resources of nodes', () => {
    const state = new CycleState();
    worldWith().judge(podAsking('p', { [gpu]: '1', cpu: '1', 'example.com/net': '1' }), state);
    expect([...(state.read(delegatedKey)?.names ?? [])]).toEqual([gpu]);
    expect(state.clone().read(delegatedKey)?.names.has(gpu)).toBe(true);
  });

  it('stand beside claims that the pod names', async () => {
    const world = worldWith([claimOf('c')], {});
    const placed = await world.place(podAsking('p', { [gpu]: '1' }, 'c')).bind();
    expect(placed.end).toBe('bound');
    expect(world.server('c')?.status?.allocation).toMatchObject(allocationOf('a'));
    expect(world.server('p-extended-resources-103')?.status?.allocation).toMatchObject(allocationOf('b'));
  });

  it('of the node itself do not hinder the claims that the pod names', async () => {
    const world = worldWith([claimOf('c')], { allocatable: { [gpu]: '4' } });
    const placed = await world.place(podAsking('p', { [gpu]: '1' }, 'c')).bind();
    expect([placed.end, whats(world)]).toEqual(['bound', ['object d/c', 'status d/c']]);
  });

  it('are refused where the client cannot make a claim, but on nodes that have them', () => {
    const client = { createObject: undefined } as never;
    const refusal = "the pod's ResourceClaims have to be written, and the scheduler's client has no method createObject";
    expect(worldWith([], { client }).judge(asks)).toEqual({ n1: refusal });
    expect(worldWith([], { client, allocatable: { [gpu]: '4' } }).judge(asks)).toEqual({});
  });
});

describe('the devices for extended resources', () => {
  it('count as taken from their choice on, before and after the claim is made, whatever the watch brings', async () => {
    const world = worldWith();
    world.holds = true;
    const placed = world.place(asks);
    const other = podAsking('q', { [gpu]: '1' });
    const judged: unknown[] = [world.judge(other)];
    await placed.bind();
    for (let write = 0; write < 4; write++) {
      judged.push(world.judge(other));
      world.asked[write]?.take(false);
      await settle();
    }
    expect(placed.end).toBe('bound');
    expect([...judged, world.judge(other)]).toEqual(Array.from({ length: 6 }, () => noRoom));
    const made = world.server('p-extended-resources-101');
    // the claim as it was made comes first
    world.see({ ...made, metadata: { ...made?.metadata, resourceVersion: '101' }, status: {} } as never);
    expect(world.judge(other)).toEqual(noRoom);
    world.see(made);
    expect(world.judge(other)).toEqual(noRoom);
    world.delete('p-extended-resources-101');
    expect(world.judge(other)).toEqual({});
  });

  it('of a claim that the watch never brings are free again after a minute', async () => {
    const world = worldWith();
    world.holds = true;
    const placed = await world.place(asks).bind();
    for (let write = 0; write < 4; write++) {
      world.asked[write]?.take(false);
      await settle();
    }
    expect(placed.end).toBe('bound');
    world.laterMs = 59_999;
    expect(world.judge(podAsking('q', { [gpu]: '1' }))).toEqual(noRoom);
    world.laterMs = 60_000;
    expect(world.judge(podAsking('q', { [gpu]: '1' }))).toEqual({});
  });

  it('are given back with the claim where the pod is not bound', async () => {
    const world = worldWith();
    const placed = await world.place(asks).bind();
    world.asked.length = 0;
    await placed.unreserve();
    expect(world.asked.map(({ what, patch }) => [what, patch])).toEqual([
      ['object d/p-extended-resources-101', { metadata: { finalizers: [] } }],
      ['delete d/p-extended-resources-101', undefined],
    ]);
    expect(world.judge(podAsking('q', { [gpu]: '1' }))).toEqual({});
  });

  it.each([
    ['the claim is not made', 0, []],
    ['its finalizer is not written', 1, ['delete d/p-extended-resources-101']],
    ['its devices are not written', 2, ['object d/p-extended-resources-101', 'delete d/p-extended-resources-101']],
    ['the pod is not told of it', 3, ['object d/p-extended-resources-101', 'delete d/p-extended-resources-101']],
  ])('are given back where %s, and nothing is left of it', async (_what, refused, undone) => {
    const world = worldWith();
    world.holds = true;
    const placed = await world.place(asks).bind();
    for (let write = 0; write < refused; write++) {
      world.asked[write]?.take(false);
      await settle();
    }
    world.asked[refused]?.refuse(new ApiError({ status: 403, reason: 'Forbidden', message: 'not you' }));
    await settle();
    expect(placed.end).toContain('not you');
    world.asked.length = 0;
    world.holds = false;
    await placed.unreserve();
    expect(whats(world)).toEqual(undone);
    expect(world.server('p-extended-resources-101')).toBeUndefined();
    expect(world.judge(podAsking('q', { [gpu]: '1' }))).toEqual({});
  });

  it('are given back with a claim whose finalizer was written though the answer was lost', async () => {
    const world = worldWith();
    world.holds = true;
    const placed = await world.place(asks).bind();
    world.asked[0]?.take();
    await settle();
    world.asked[1]?.takeUnheard(false);
    await settle();
    expect(placed.end).toContain('the answer was lost');
    world.asked.length = 0;
    world.holds = false;
    await placed.unreserve();
    expect(whats(world)).toEqual(['object d/p-extended-resources-101', 'delete d/p-extended-resources-101']);
  });

  it('stay with a claim that another pod uses', async () => {
    const world = worldWith();
    const placed = await world.place(asks).bind();
    const made = world.server('p-extended-resources-101');
    world.change({ ...made, status: { ...made?.status, reservedFor: reservedFor('p', 'other') } } as never, false);
    world.asked.length = 0;
    await placed.unreserve();
    expect(whats(world)).toEqual([]);
    expect(world.judge(podAsking('q', { [gpu]: '1' }))).toEqual(noRoom);
  });

  it('are waited for like those of other claims, and the claim is named', async () => {
    const slow = allocationOf({ bindingConditions: ['ready'] });
    const world = worldWith([], { allocate: () => [slow] });
    const placed = world.place(asks);
    expect(placed.awaited).toBe('the claims of extended resources to be written');
    await placed.bind();
    expect(placed.awaited).toBe('the devices of d/p-extended-resources-101 to be ready: gpu.example.com/n1/a (ready)');
    const made = world.server('p-extended-resources-101');
    const conditions = [{ type: 'ready', status: 'True' }];
    const devices = [{ driver: 'gpu.example.com', pool: 'n1', device: 'a', conditions }];
    world.change({ ...made, status: { ...made?.status, devices } } as never);
    await settle();
    expect(placed.end).toBe('bound');
  });
});

describe('a claim that an attempt before has left', () => {
  const left = (status: object = {}, metadata: object = {}) =>
    claimOf('old', status, { ...madeFor('p'), finalizers: [protection, 'x/y'], ...metadata });

  it('keeps the pod from all nodes, and is deleted', async () => {
    const world = worldWith([left({ allocation: allocationOf('a'), reservedFor: reservedFor('p') })]);
    expect(world.judge(asks)).toEqual({ n1: 'cannot schedule extended resource claim' });
    const { message, changes } = world.makeRoom(asks);
    expect(message).toBe('deletion of ResourceClaim completed');
    expect(changes).toHaveLength(1);
    await changes[0]?.change(new AbortController().signal);
    expect(world.asked.map(({ what, patch }) => [what, patch])).toEqual([
      ['object d/old', { metadata: { finalizers: ['x/y'] } }],
      ['delete d/old', undefined],
    ]);
    expect(world.judge(asks)).toEqual({});
  });

  it.each([
    ['is gone', (world: ClaimWorld) => world.delete('old')],
    ['is another one by now', (world: ClaimWorld) => void world.change(left({}, { uid: 'u-new' }), false)],
  ])('is not deleted where it %s', async (_what, change) => {
    const world = worldWith([left()]);
    const { changes } = world.makeRoom(asks);
    change(world);
    await changes[0]?.change(new AbortController().signal);
    expect(whats(world)).toEqual([]);
  });

  it('stays where another pod uses it', () => {
    const world = worldWith([left({ allocation: allocationOf('a'), reservedFor: reservedFor('q') })]);
    expect(world.makeRoom(asks)).toEqual({ message: 'still not schedulable', changes: [] });
  });

  it.each([
    ['of another pod of the name', { ownerReferences: [{ ...madeFor('p').ownerReferences[0], uid: 'u-before' }] }],
    ['that the pod does not control', { ownerReferences: [{ ...madeFor('p').ownerReferences[0], controller: false }] }],
    ['that says nothing of extended resources', { annotations: {} }],
    ['of another namespace', { namespace: 'e' }],
  ])('is not one %s', (_what, metadata) => {
    expect(worldWith([left({}, metadata)]).judge(asks)).toEqual({});
  });

  it('does not matter to a pod that asks for no such resource', () => {
    expect(worldWith([left(), claimOf('c')], {}).judge(podWith('p', 'c'))).toEqual({});
  });
});

describe('a pod with extended resources', () => {
  const hint = (resource: string, action: string, before: object, pod = asks) => {
    const events = worldWith().plugin.eventsToRegister?.() ?? [];
    const found = events.find((event) => event.resource === resource && event.actions.includes(action as never));
    return found?.hint?.(pod, before as never, undefined);
  };

  it('is helped by the end of a claim that has devices, or of its own', () => {
    expect(hint('ResourceClaim', 'Delete', claimOf('c', { allocation: allocationOf('a') }))).toBe('Queue');
    expect(hint('ResourceClaim', 'Delete', claimOf('c', {}, madeFor('p')))).toBe('Queue');
    expect(hint('ResourceClaim', 'Delete', claimOf('c', {}, madeFor('q')))).toBe('Skip');
  });

  it('helps others where it gives its node back', () => {
    expect(hint('Pod', 'Delete', podAsking('q', { [gpu]: '1' }))).toBe('Queue');
    expect(hint('Pod', 'Delete', podAsking('q', { cpu: '1' }))).toBe('Skip');
  });

  it('is not bound with devices that were given back while its claim was made', async () => {
    const world = worldWith();
    world.holds = true;
    const placed = await world.place(asks).bind();
    void world.plugin.unreserve?.(placed.state, createPodInfo(asks), 'n1', new AbortController().signal);
    world.asked[0]?.take();
    await settle();
    expect(placed.end).toBe('the devices of claim d/p-extended-resources-101 were given back in the meantime');
    expect(whats(world)).toEqual(['make d/p-extended-resources-']);
    // the next attempt finds the claim, and deletes it
    expect(world.judge(asks)).toEqual({ n1: 'cannot schedule extended resource claim' });
    expect(world.objects.lister(resources.resourceClaims).list()).toHaveLength(1);
  });
});
