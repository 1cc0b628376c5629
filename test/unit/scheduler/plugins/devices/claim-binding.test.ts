import { describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../../../src/client/transport/api-error.ts';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { settle } from '../../../../../src/testing/fakes/fake-clock.ts';
import { allocationOf, ClaimWorld, claimOf, podWith, reservedFor } from './claim-world.ts';

const oneDevice = { devices: { n1: ['a'] } };
const protection = 'resource.kubernetes.io/delete-protection';
const noRoom = { n1: 'cannot allocate all claims' };

describe('the devices of a claim', () => {
  it('are written with the pod that they are for, in the version that was looked at', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, oneDevice);
    world.clock.set(Date.UTC(2026, 0, 1));
    const placed = await world.place(podWith('p', 'c')).bind();
    expect(placed.end).toBe('bound');
    expect(world.asked.map(({ what, patch }) => [what, patch])).toEqual([
      ['object d/c', { metadata: { finalizers: [protection] } }],
      [
        'status d/c',
        {
          status: {
            allocation: { ...allocationOf('a'), allocationTimestamp: '2026-01-01T00:00:00Z' },
            reservedFor: reservedFor('p'),
          },
        },
      ],
    ]);
  });

  it('are for several pods, each of which is written, and once', async () => {
    const allocation = { ...allocationOf('a'), allocationTimestamp: '2026-01-01T00:00:00Z' };
    const resourceClaims = [claimOf('c', { allocation, reservedFor: reservedFor('o') })];
    const world = new ClaimWorld({ resourceClaims }, oneDevice);
    const pods = ['p', 'q', 'o'].map((name) => world.place(podWith(name, 'c')));
    await Promise.all(pods.map((placed) => placed.bind()));
    expect(pods.map(({ end }) => end)).toEqual(['bound', 'bound', 'bound']);
    expect(world.asked).toHaveLength(2);
    expect(world.server('c')?.status?.reservedFor).toEqual(reservedFor('o', 'p', 'q'));
  });

  it('count as taken from the moment in which they are chosen, until they are given back', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    const placed = world.place(podWith('p', 'c'));
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
    expect(world.judge(podWith('q', 'c'))).toBe('resource claim d/c is in the process of being allocated');
    await placed.unreserve();
    expect(world.judge(podWith('q', 'e'))).toEqual({});
    expect(world.judge(podWith('q', 'c'))).toEqual({});
  });

  it('are taken by the first of two pods, and not given back by the other', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    const [state, other] = [new CycleState(), createPodInfo(podWith('q', 'c'))];
    world.judge(other.pod, state);
    world.place(podWith('p', 'c'));
    expect(() => world.plugin.reserve?.(state, other, 'n1')).toThrow('claim d/c is being allocated for another pod');
    void world.plugin.unreserve?.(state, other, 'n1', new AbortController().signal);
    expect(world.judge(podWith('r', 'e'))).toEqual(noRoom);
  });

  it('count as taken once they are written, before the watch brings it', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.take(false);
    await settle();
    world.asked[1]?.take(false);
    await settle();
    expect(placed.end).toBe('bound');
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
    expect(world.judge(podWith('q', 'c'))).toEqual({});
    world.see(world.server('c'));
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
    world.delete('c');
    expect(world.judge(podWith('q', 'e'))).toEqual({});
  });

  it('are written in the newest version where the claim has changed meanwhile', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, oneDevice);
    const placed = world.place(podWith('p', 'c'));
    world.change(
      { ...world.claims.get('c'), metadata: { ...world.claims.get('c').metadata, labels: { a: 'b' } } } as never,
      false,
    );
    await placed.bind();
    expect(placed.end).toBe('bound');
    expect(world.server('c')).toMatchObject({ metadata: { labels: { a: 'b' } }, status: { reservedFor: reservedFor('p') } });
  });

  it.each([
    [{ status: { allocation: allocationOf('b') } }, 'claim d/c got allocated elsewhere in the meantime'],
    [
      { metadata: { ...claimOf('c').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      'claim d/c got deleted in the meantime',
    ],
    [{ metadata: { ...claimOf('c').metadata, uid: 'another' } }, 'claim d/c got deleted in the meantime'],
  ])('are not given to a claim that is another one by now: %#', async (change, words) => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    const placed = world.place(podWith('p', 'c'));
    world.change({ ...world.claims.get('c'), ...change } as never, false);
    await placed.bind();
    expect(placed.end).toBe(words);
    await placed.unreserve();
    expect(world.judge(podWith('q', 'e'))).toEqual({});
  });

  it('of an allocated claim are not used where the claim loses them meanwhile', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c', { allocation: allocationOf('a') })] }, oneDevice);
    const placed = world.place(podWith('p', 'c'));
    world.change({ ...world.claims.get('c'), status: {} } as never);
    await placed.bind();
    expect(placed.end).toBe('claim d/c got deallocated elsewhere in the meantime');
    expect(world.asked).toEqual([]);
  });

  it('of an allocated claim are not used where it has got others meanwhile: the node was chosen for the first ones', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c', { allocation: allocationOf('a') })] }, oneDevice);
    const placed = world.place(podWith('p', 'c'));
    world.change({ ...world.claims.get('c'), status: { allocation: allocationOf('b') } } as never, false);
    await placed.bind();
    expect(placed.end).toBe('claim d/c got allocated elsewhere in the meantime');
    expect(world.server('c')?.status?.reservedFor).toBeUndefined();
  });

  it('count as taken as soon as the server is read, before the watch brings it', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    const placed = world.place(podWith('p', 'c'));
    world.change({ ...world.claims.get('c'), status: { allocation: allocationOf('a') } } as never, false);
    await placed.bind();
    await placed.unreserve();
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
  });

  it('are let go by a pod whose binding fails, and the next try waits for that', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, oneDevice);
    const first = await world.place(podWith('p', 'c')).bind();
    world.holds = true;
    await first.unreserve();
    const second = await world.place(podWith('p', 'c')).bind();
    expect(second.end).toBeUndefined();
    expect(world.asked.slice(2).map(({ patch }) => patch)).toEqual([{ status: { reservedFor: [] } }]);
    world.asked[2]?.take();
    await settle();
    world.asked[3]?.take();
    await settle();
    expect(second.end).toBe('bound');
    expect(world.server('c')?.status?.reservedFor).toEqual(reservedFor('p'));
  });
});

describe('a write whose answer is lost', () => {
  it('counts where the server says that it has it', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.take();
    await settle();
    world.asked[1]?.takeUnheard(false);
    await settle();
    expect(placed.end).toBe('bound');
  });

  it('keeps the devices taken while nobody knows, at most for a minute', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.take();
    await settle();
    world.asked[1]?.refuse(new ApiError({ status: 504, reason: 'Timeout', message: 'no answer' }));
    await settle();
    expect(placed.end).toBe('add allocation and reservation to claim d/c: no answer');
    await placed.unreserve();
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
    expect(() => world.judge(podWith('p', 'c'))).toThrow('it is not known yet whether claim d/c got its devices');
    world.laterMs += 60_000;
    expect(world.judge(podWith('q', 'e'))).toEqual({});
    expect(world.judge(podWith('p', 'c'))).toEqual({});
  });

  it('does not count where the server has other devices for the claim by then', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.take();
    await settle();
    const status = { allocation: allocationOf('b'), reservedFor: reservedFor('p') };
    world.change({ ...world.server('c'), status } as never, false);
    world.asked[1]?.refuse(new ApiError({ status: 504, reason: 'Timeout', message: 'no answer' }));
    await settle();
    expect(placed.end).toBe('claim d/c got allocated elsewhere in the meantime');
  });

  it('is not cleared up by the version that it named: it may still be on its way', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.take(false);
    await settle();
    world.asked[1]?.refuse(new ApiError({ status: 502, reason: 'BadGateway', message: 'lost' }));
    await settle();
    await placed.unreserve();
    world.see(world.server('c'));
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
    world.asked[1]?.take();
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
    expect(world.server('c')?.status?.reservedFor).toEqual(reservedFor('p'));
  });

  it('is cleared up by what the server says where that is newer', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.take(false);
    await settle();
    world.change(world.server('c') as never, false);
    world.asked[1]?.refuse(new ApiError({ status: 502, reason: 'BadGateway', message: 'lost' }));
    await settle();
    await placed.unreserve();
    expect(world.judge(podWith('q', 'e'))).toEqual({});
  });

  it('is cleared up by what the watch brings', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.take();
    await settle();
    placed.controller.abort(new Error('the pod was deleted'));
    await settle();
    expect(world.judge(podWith('q', 'e'))).toEqual(noRoom);
    world.change(world.claims.get('c'));
    expect(world.judge(podWith('q', 'e'))).toEqual({});
  });

  it('that was refused keeps nothing', async () => {
    const world = new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] }, oneDevice);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.refuse(new ApiError({ status: 403, reason: 'Forbidden', message: 'not allowed' }));
    await settle();
    expect(placed.end).toBe('add finalizer to claim d/c: not allowed');
    await placed.unreserve();
    expect(world.judge(podWith('q', 'e'))).toEqual({});
  });
});

const slow = { bindingConditions: ['ready'], bindingFailureConditions: ['broken'] };
const conditions = (type: string, reason = 'R', message = 'm') => [
  { driver: 'gpu.example.com', pool: 'n1', device: 'a', conditions: [{ type, status: 'True', reason, message }] },
];

/** A pod waits for the device `a` to be ready. */
async function waiting(args: object = {}) {
  const world = new ClaimWorld(
    { resourceClaims: [claimOf('c')] },
    { args, allocate: () => [allocationOf({ device: 'a', ...slow })] },
  );
  world.clock.set(Date.UTC(2026, 0, 1));
  const placed = await world.place(podWith('p', 'c')).bind();
  const say = (devices: object[]) =>
    world.change({ ...world.claims.get('c'), status: { ...world.claims.get('c').status, devices } } as never);
  return { world, placed, say };
}

describe('devices that have to be made ready', () => {
  it('are waited for, in words, and then the pod is bound', async () => {
    const { world, placed, say } = await waiting();
    expect(placed.end).toBeUndefined();
    expect(world.told).toEqual(['BindingConditionsPending: waiting for binding conditions for device on node n1']);
    expect(placed.awaited).toBe('the devices of d/c to be ready: gpu.example.com/n1/a (ready)');
    say(conditions('other'));
    await settle();
    expect(placed.end).toBeUndefined();
    say(conditions('ready'));
    await settle();
    expect(placed.end).toBe('bound');
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('end the wait where a driver says that it cannot', async () => {
    const { world, placed, say } = await waiting();
    say(conditions('broken', 'NoPower', 'no power'));
    await settle();
    expect(placed.end).toBe('device binding failed: claim=c, reason=NoPower, message="no power"');
    await placed.unreserve();
    expect(world.judge(podWith('p', 'c'))).toEqual({ n1: 'resourceclaim not available on the node' });
    const { message, changes } = world.makeRoom(podWith('p', 'c'));
    expect(message).toBe('deallocation of ResourceClaim completed');
    await changes[0]?.change(new AbortController().signal);
    expect(world.server('c')?.status).toEqual({});
  });

  it('end the wait after the time for it, counted from their allocation', async () => {
    const { world, placed } = await waiting({ bindingTimeout: '60s' });
    await world.clock.advance(59_000);
    expect(placed.end).toBeUndefined();
    await placed.unreserve();
    const again = await world.place(podWith('p', 'c')).bind();
    await world.clock.advance(1001);
    expect([placed.end, again.end]).toEqual(['device binding timeout: claim=c', 'device binding timeout: claim=c']);
    expect(world.judge(podWith('p', 'c'))).toEqual({ n1: 'resourceclaim not available on the node' });
  });

  it('are waited for by a timer that the machine has, however long they may take', async () => {
    const allocate = () => [allocationOf({ device: 'a', ...slow })];
    const world = new ClaimWorld({ resourceClaims: [claimOf('c')] }, { args: { bindingTimeout: '1000h' }, allocate });
    const asked = vi.spyOn(world.clock, 'setTimer');
    const placed = await world.place(podWith('p', 'c')).bind();
    expect(asked.mock.calls.map(([, delayMs]) => delayMs)).toEqual([2 ** 31 - 1]);
    expect(placed.end).toBeUndefined();
  });

  it.each([
    ['is deleted', (world: ClaimWorld) => world.delete('c'), 'could not find ResourceClaim "d/c"'],
    [
      'loses them',
      (world: ClaimWorld) => world.change({ ...world.claims.get('c'), status: {} } as never),
      'claim d/c got deallocated elsewhere in the meantime',
    ],
  ])('are waited for no more where the claim %s', async (_what, happens, words) => {
    const { world, placed } = await waiting();
    happens(world);
    await settle();
    expect(placed.end).toBe(words);
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('are waited for no more once the binding is given up', async () => {
    const { world, placed } = await waiting();
    placed.controller.abort(new Error('given up'));
    await settle();
    expect(placed.end).toBe('given up');
    expect(world.clock.pendingTimers).toBe(0);
  });
});
