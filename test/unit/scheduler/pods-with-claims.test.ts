import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { type ApiObject, resources } from '../../../src/client/resources/api-resource.ts';
import type { SchedulerClient, SchedulerOptions } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

interface Claim extends ApiObject {
  readonly spec: object;
  readonly status?: { readonly allocation?: { readonly devices: { readonly results: readonly { readonly device: string }[] } } };
}

type PatchStatus = NonNullable<SchedulerClient['patchObjectStatus']>;

/** A device of each name; `ready` is a condition that it has to meet before a pod is bound. */
function slice(nodeName: string, devices: readonly string[], ready: readonly string[] = []): ApiObject {
  return {
    metadata: { name: `slice-${nodeName}`, resourceVersion: '1' },
    spec: {
      driver: 'gpu.example.com',
      pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
      nodeName,
      devices: devices.map((name) => ({
        name,
        attributes: { model: { string: name } },
        ...(ready.length > 0 && { bindingConditions: ready, bindingFailureConditions: ['broken'] }),
      })),
    },
  } as ApiObject;
}

const oneGpu = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 };

/** A pod that names these claims. */
function claiming(name: string, ...claims: readonly string[]): WirePod {
  return pod(name, '1', { resourceClaims: claims.map((resourceClaimName) => ({ name: resourceClaimName, resourceClaimName })) });
}

/** A scheduler with one node; what it writes of claims is taken by the server at once, unless it is said otherwise. */
function claimWorld(options: Partial<SchedulerOptions> = {}, patchStatus?: PatchStatus, holdsBindings = false) {
  const claims = new Map<string, Claim>();
  let version = 100;
  const set = (claim: Claim): Claim => {
    version += 1;
    const now = { ...claim, metadata: { ...claim.metadata, resourceVersion: `${version}` } };
    claims.set(claim.metadata?.name ?? '', now);
    world.scheduler.setObject(resources.resourceClaims, now as never);
    return now;
  };
  const current = (object: ApiObject): Claim => claims.get(object.metadata?.name ?? '') as Claim;
  const take = async (object: ApiObject, patch: object) => {
    const now = current(object);
    const { metadata = {}, status = {} } = patch as { metadata?: object; status?: object };
    return set({
      ...now,
      metadata: { ...now.metadata, ...metadata },
      status: withoutNull({ ...now.status, ...status }),
    } as Claim);
  };
  const taken: PatchStatus = (_resource, object, patch) => take(object, patch) as never;
  const world = schedulerWorld(options, holdsBindings, {
    getObject: async (_resource, object) => current(object) as never,
    patchObject: (_resource, object, patch) => take(object, patch) as never,
    patchObjectStatus: patchStatus ?? taken,
  });
  world.scheduler.setNode(node('n1', '64'));
  world.scheduler.setObject(resources.deviceClasses, {
    metadata: { name: 'gpu' },
    spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] },
  } as never);
  const claim = (name: string, expression = 'true'): Claim =>
    set({
      metadata: { name, namespace: 'default', uid: `uid-${name}` },
      spec: { devices: { requests: [{ name: 'one', exactly: { ...oneGpu, selectors: [{ cel: { expression } }] } }] } },
    });
  const say = (name: string, type: string): void => {
    const now = claims.get(name) as Claim;
    const { device } = now.status?.allocation?.devices.results[0] ?? {};
    const conditions = [{ type, status: 'True', reason: 'R', message: 'm' }];
    set({ ...now, status: { ...now.status, devices: [{ driver: 'gpu.example.com', pool: 'n1', device, conditions }] } } as Claim);
  };
  const devicesOf = (name: string) => claims.get(name)?.status?.allocation?.devices.results.map(({ device }) => device);
  return { ...world, claim, claims, say, devicesOf, taken };
}

function withoutNull(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

const bound = (told: readonly string[]) => told.filter((line) => line.startsWith('bind '));

describe('pods with claims of devices', () => {
  it('are bound with the devices that their claims ask for, each given once', async () => {
    const { scheduler, told, claim, devicesOf, claims } = claimWorld();
    scheduler.setObject(resources.resourceSlices, slice('n1', ['a', 'b']) as never);
    claim('c', 'device.attributes["gpu.example.com"].model == "b"');
    claim('e');
    scheduler.setPod(claiming('p', 'c'));
    scheduler.setPod(claiming('q', 'e'));
    scheduler.start();
    await scheduler.flush();
    expect(bound(told)).toEqual(['bind p n1', 'bind q n1']);
    expect([devicesOf('c'), devicesOf('e')]).toEqual([['b'], ['a']]);
    expect(claims.get('c')).toMatchObject({
      metadata: { finalizers: ['resource.kubernetes.io/delete-protection'] },
      status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'uid-p' }] },
    });
    await scheduler.stop();
  });

  it('wait for a device, and are helped by its slice and by a claim that lets one go', async () => {
    const { scheduler, clock, told, claim, claims } = claimWorld();
    for (const name of ['c', 'e']) claim(name);
    scheduler.setPod(claiming('p', 'c'));
    scheduler.setPod(claiming('q', 'e'));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.explain('uid-p').text).toContain("Add devices, end pods that use some, or ask for less in the pod's claims");
    scheduler.setObject(resources.resourceSlices, slice('n1', ['a']) as never);
    await clock.advance(2000);
    expect(bound(told)).toEqual(['bind p n1']);
    const { status: _, ...freed } = claims.get('c') as Claim;
    scheduler.setObject(resources.resourceClaims, { ...freed, metadata: { ...freed.metadata, resourceVersion: '900' } } as never);
    await clock.advance(20_000);
    expect(bound(told)).toEqual(['bind p n1', 'bind q n1']);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('are not tried before their claim is there, and say so', async () => {
    const { scheduler, told, claim } = claimWorld();
    scheduler.setObject(resources.resourceSlices, slice('n1', ['a']) as never);
    scheduler.setPod(claiming('p', 'c'));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.explain('uid-p')).toMatchObject({ state: 'gated', attempts: 0 });
    expect(scheduler.explain('uid-p').text).toContain('could not find ResourceClaim "default/c" (DynamicResources)');
    claim('c');
    await scheduler.flush();
    expect(bound(told)).toEqual(['bind p n1']);
    await scheduler.stop();
  });

  it('that wait for their devices to be ready keep no other pod from being bound, and say what they wait for', async () => {
    const { scheduler, clock, told, claim, say } = claimWorld({ mostBindings: 1 });
    scheduler.setObject(resources.resourceSlices, slice('n1', ['a', 'b', 'c'], ['ready']) as never);
    for (const name of ['x', 'y', 'z']) {
      claim(name);
      scheduler.setPod(claiming(`p-${name}`, name));
    }
    scheduler.start();
    await clock.advance(0);
    expect(scheduler.stats()).toMatchObject({ binding: 3 });
    scheduler.setPod(pod('plain'));
    await clock.advance(0);
    expect(bound(told)).toEqual(['bind plain n1']);
    await clock.advance(60_000);
    expect(scheduler.explain('uid-p-y').text).toContain('the devices of default/y to be ready: gpu.example.com/n1/b (ready)');
    say('y', 'ready');
    await clock.advance(0);
    expect(bound(told)).toEqual(['bind plain n1', 'bind p-y n1']);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('get another device where the first one cannot be made ready', async () => {
    const { scheduler, clock, told, claim, say, devicesOf } = claimWorld();
    scheduler.setObject(resources.resourceSlices, slice('n1', ['a'], ['ready']) as never);
    claim('c');
    scheduler.setPod(claiming('p', 'c'));
    scheduler.start();
    await clock.advance(0);
    say('c', 'broken');
    await clock.advance(0);
    expect(scheduler.explain('uid-p').text).toContain('device binding failed: claim=c, reason=R');
    scheduler.setObject(resources.resourceSlices, slice('n1', ['b']) as never);
    await clock.advance(30_000);
    expect(bound(told)).toEqual(['bind p n1']);
    expect(devicesOf('c')).toEqual(['b']);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['fail', async (): Promise<never> => Promise.reject(new Error('no right'))],
    ['answer nothing', async (): Promise<undefined> => undefined],
    [
      'throw',
      (): never => {
        throw new Error('broken');
      },
    ],
    ['never answer', (): Promise<never> => new Promise(() => {})],
  ] as const)('whose writes %s cost no other pod anything', async (_what, patchStatus) => {
    const { scheduler, clock, told, claim } = claimWorld({}, patchStatus as unknown as PatchStatus);
    scheduler.setObject(resources.resourceSlices, slice('n1', ['a', 'b']) as never);
    claim('c');
    scheduler.setPod(claiming('p', 'c'));
    scheduler.setPod(pod('plain'));
    scheduler.start();
    await clock.advance(100);
    expect(bound(told)).toEqual(['bind plain n1']);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});

/** A pod whose claim is written and whose binding was sent. What is written of the claim from then on is held. */
async function sentPod() {
  const held: { readonly patch: object; readonly signal: AbortSignal; readonly take: () => void }[] = [];
  let holds = false;
  const patchStatus: PatchStatus = async (resource, object, patch, signal) => {
    if (holds) await new Promise<void>((resolve) => held.push({ patch, signal, take: resolve }));
    return world.taken(resource, object, patch, signal);
  };
  const world = claimWorld({}, patchStatus, true);
  world.scheduler.setObject(resources.resourceSlices, slice('n1', ['a']) as never);
  world.claim('c');
  world.scheduler.setPod(claiming('p', 'c'));
  world.scheduler.start();
  await world.clock.advance(0);
  expect(world.bindings).toHaveLength(1);
  holds = true;
  const fail = () => world.bindings[0]?.reject(new Error('refused'));
  const uses = () => (world.claims.get('c') as unknown as { status: { reservedFor: object[] } }).status.reservedFor.length;
  return { ...world, held, fail, uses };
}

describe('the claim of a pod that could not be bound', () => {
  it('is let go, and flush waits for that', async () => {
    const { scheduler, clock, held, fail, uses } = await sentPod();
    fail();
    await clock.advance(0);
    expect(held.map(({ patch }) => patch)).toEqual([{ status: { reservedFor: [] } }]);
    const flushed = scheduler.flush().then(() => 'flushed');
    expect(await Promise.race([flushed, clock.advance(0).then(() => 'waits')])).toBe('waits');
    held[0]?.take();
    expect(await flushed).toBe('flushed');
    expect(uses()).toBe(0);
    await scheduler.stop();
  });

  it('is waited for no longer than half a minute, and not after stop', async () => {
    const { scheduler, clock, held, fail } = await sentPod();
    fail();
    await clock.advance(30_000);
    expect(held.map(({ signal }) => signal.aborted)).toEqual([true]);
    const stopped = await sentPod();
    stopped.fail();
    await stopped.clock.advance(0);
    await stopped.scheduler.stop();
    expect(stopped.held.map(({ signal }) => signal.aborted)).toEqual([true]);
    await scheduler.stop();
    expect([clock.pendingTimers, stopped.clock.pendingTimers]).toEqual([0, 0]);
  });

  it('is not let go by a scheduler that was suspended', async () => {
    const { scheduler, clock, held } = await sentPod();
    scheduler.suspend();
    await clock.advance(1000);
    expect(held).toEqual([]);
    await scheduler.stop();
  });

  it('is not let go where the pod may be on its node all the same', async () => {
    const { scheduler, clock, held, uses } = await sentPod();
    await clock.advance(600_000);
    expect(scheduler.stats().failedAttempts).toBeGreaterThan(0);
    expect(held).toEqual([]);
    expect(uses()).toBe(1);
    await scheduler.stop();
  });
});
