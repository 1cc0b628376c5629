import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { type ApiObject, resources } from '../../../src/client/resources/api-resource.ts';
import { Scheduler, type SchedulerClient, type SchedulerOptions } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

const gpu = 'example.com/gpu';

function asking(name: string, count: string): WirePod {
  return pod(name, '1', { containers: [{ name: 'app', image: 'app:1', resources: { requests: { [gpu]: count } } }] });
}

/** A scheduler with one node of so many devices, whose server takes what it is asked for at once. */
function deviceWorld(devices: number, more: Partial<SchedulerClient> = {}, options: Partial<SchedulerOptions> = {}) {
  const claims = new Map<string, ApiObject>();
  let version = 100;
  const set = (claim: ApiObject, name = claim.metadata?.name ?? ''): ApiObject => {
    version += 1;
    const now = { ...claim, metadata: { ...claim.metadata, name, uid: `uid-${name}`, resourceVersion: `${version}` } };
    claims.set(name, now);
    world.scheduler.setObject(resources.resourceClaims, now as never);
    return now;
  };
  const merge = async (object: ApiObject, patch: object) => {
    const now = claims.get(object.metadata?.name ?? '') as ApiObject & { status?: object };
    const { metadata, status } = patch as { metadata?: object; status?: object };
    return set({ ...now, metadata: { ...now.metadata, ...metadata }, status: { ...now.status, ...status } } as never) as never;
  };
  const named: string[] = [];
  const world = schedulerWorld(options, false, {
    createObject: async (_resource, object) => set(object, `${object.metadata?.generateName}${version}`) as never,
    deleteObject: async (_resource, { metadata }) => {
      claims.delete(metadata?.name ?? '');
      world.scheduler.deleteObject(resources.resourceClaims, metadata?.namespace, metadata?.name ?? '');
    },
    getObject: async (_resource, object) => claims.get(object.metadata?.name ?? '') as never,
    patchObject: (_resource, object, patch) => merge(object, patch),
    patchObjectStatus: (_resource, object, patch) => merge(object, patch),
    patchStatus: async ({ metadata }, { extendedResourceClaimStatus }) => {
      if (extendedResourceClaimStatus !== undefined)
        named.push(`${metadata?.name} ${extendedResourceClaimStatus.resourceClaimName}`);
    },
    ...more,
  });
  world.scheduler.setNode(node('n1', '64'));
  world.scheduler.setObject(resources.deviceClasses, { metadata: { name: 'gpu' }, spec: { extendedResourceName: gpu } } as never);
  world.scheduler.setObject(resources.resourceSlices, {
    metadata: { name: 'slice', resourceVersion: '1' },
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      nodeName: 'n1',
      devices: Array.from({ length: devices }, (_, index) => ({ name: `d${index}` })),
    },
  } as never);
  return { ...world, claims, named };
}

const bound = (told: readonly string[]) => told.filter((line) => line.startsWith('bind '));

describe('pods that ask for extended resources which a class of devices stands for', () => {
  it('are bound with claims of their own as far as there are devices, and the next ones once a claim goes', async () => {
    const { scheduler, told, claims, named, clock } = deviceWorld(3);
    for (const name of ['p', 'q', 'r']) scheduler.setPod(asking(name, name === 'p' ? '2' : '1'));
    scheduler.start();
    await scheduler.flush();
    expect(bound(told)).toEqual(['bind p n1', 'bind q n1']);
    expect(named).toEqual([...claims.keys()].map((claim, index) => `${'pq'[index]} ${claim}`));
    expect(scheduler.explain('uid-r').text).toContain('cannot allocate all claims');
    const [first = ''] = claims.keys();
    scheduler.deleteObject(resources.resourceClaims, 'default', first);
    await clock.advance(30_000);
    expect(bound(told)).toEqual(['bind p n1', 'bind q n1', 'bind r n1']);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('wait for the class, and are helped by it', async () => {
    const { scheduler, told, clock } = deviceWorld(1);
    scheduler.deleteObject(resources.deviceClasses, undefined, 'gpu');
    scheduler.setPod(asking('p', '1'));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.explain('uid-p').text).toContain(`Insufficient ${gpu}`);
    const named = { metadata: { name: 'other', resourceVersion: '2' }, spec: { extendedResourceName: gpu } };
    scheduler.setObject(resources.deviceClasses, named as never);
    await clock.advance(30_000);
    expect(bound(told)).toEqual(['bind p n1']);
    await scheduler.stop();
  });

  it('leave no claim behind where they cannot be bound, and are tried again', async () => {
    let fails = true;
    const { scheduler, told, claims, clock } = deviceWorld(1, {
      bind: async ({ metadata }) => {
        if (fails) throw new Error('not now');
        told.push(`bind ${metadata?.name}`);
      },
    });
    scheduler.setPod(asking('p', '1'));
    scheduler.start();
    await scheduler.flush();
    expect([told.filter((line) => line.includes('not now')).length > 0, claims.size]).toEqual([true, 0]);
    fails = false;
    await clock.advance(30_000);
    expect([bound(told), claims.size]).toEqual([['bind p'], 1]);
    await scheduler.stop();
  });

  it('are bound once a claim that was left from before is gone', async () => {
    const { scheduler, told, claims, clock } = deviceWorld(1);
    const metadata = {
      ...{ name: 'old', namespace: 'default', uid: 'uid-old', resourceVersion: '7' },
      annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-p', controller: true }],
    };
    claims.set('old', { metadata });
    scheduler.setObject(resources.resourceClaims, { metadata, spec: {} } as never);
    scheduler.setPod(asking('p', '1'));
    scheduler.start();
    await clock.advance(30_000);
    expect(bound(told)).toEqual(['bind p n1']);
    expect(claims.has('old')).toBe(false);
    await scheduler.stop();
  });

  it('are placed on nodes that have them by a profile without the plugin, and on no other', async () => {
    const profiles = [{ plugins: { multiPoint: { disabled: [{ name: 'DynamicResources' }] } } }];
    const { scheduler, told } = deviceWorld(1, {}, { profiles });
    scheduler.setPod(asking('p', '1'));
    scheduler.start();
    await scheduler.flush();
    expect(bound(told)).toEqual([]);
    const has = node('n2');
    scheduler.setNode({ ...has, status: { allocatable: { ...has.status?.allocatable, [gpu]: '1' } } } as never);
    await scheduler.flush();
    expect(bound(told)).toEqual(['bind p n2']);
    await scheduler.stop();
  });

  it('are given none by a client that writes no status: the claim would belong to nobody', async () => {
    const told: string[] = [];
    const made = async (): Promise<never> => Promise.reject(new Error('made'));
    const scheduler = new Scheduler({
      client: {
        bind: async () => void told.push('bind'),
        createObject: made,
        deleteObject: made,
        getObject: made,
        patchObject: made,
        patchObjectStatus: made,
      },
      logger: null,
    });
    scheduler.setNode(node('n1'));
    scheduler.setObject(resources.deviceClasses, { metadata: { name: 'gpu' }, spec: { extendedResourceName: gpu } } as never);
    scheduler.setPod(asking('p', '1'));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.explain('uid-p').text).toContain('has no method createObject');
    expect(told).toEqual([]);
    await scheduler.stop();
  });
});
