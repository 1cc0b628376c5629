import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { type ApiObject, type ApiResource, resources } from '../../../src/client/resources/api-resource.ts';
import type { Plugin } from '../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins, type Scheduler, type SchedulerClient, type SchedulerOptions } from '../../../src/scheduler.ts';
import { boundClaim, claimOf, lateClass, volumeOf } from './plugins/volumes/volume-world.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

/** A pod of the namespace `d` with these claims. */
function claiming(name: string, claims: readonly string[], spec: Parameters<typeof pod>[2] = {}): WirePod {
  const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  const made = pod(name, '1', { volumes, ...spec });
  return { ...made, metadata: { ...made.metadata, namespace: 'd' } };
}

type PatchObject = NonNullable<SchedulerClient['patchObject']>;

/** A scheduler with storage; what it patches is taken by the server at once, unless it is said otherwise. */
function world(given: Partial<SchedulerOptions> = {}, patch?: PatchObject | 'none') {
  const told: string[] = [];
  const patched: string[] = [];
  const patches: object[] = [];
  let version = 100;
  const taken: PatchObject = async (resource, object, change) => {
    version += 1;
    const { metadata, ...members } = change as ApiObject;
    const annotations = { ...object.metadata?.annotations, ...metadata?.annotations };
    const spec = { ...(object as { spec?: object }).spec, ...(members as { spec?: object }).spec };
    const now = { ...object, ...members, spec, metadata: { ...object.metadata, annotations, resourceVersion: `${version}` } };
    setNow(resource, now);
    return now;
  };
  const patchObject: PatchObject = (resource, object, change, signal) => {
    patched.push(`${resource.kind} ${object.metadata?.name}`);
    patches.push(change);
    return patch === undefined || patch === 'none'
      ? taken(resource, object, change, signal)
      : patch(resource, object, change, signal);
  };
  const client: SchedulerOptions['client'] = {
    bind: async ({ metadata }, nodeName) => void told.push(`bind ${metadata?.name} ${nodeName}`),
    deletePod: async ({ metadata }) => void told.push(`delete ${metadata?.name}`),
    ...(patch !== 'none' && { patchObject }),
  };
  const { scheduler, clock } = schedulerWorld({ client, ...given });
  const setNow = (resource: ApiResource, object: ApiObject): void => scheduler.setObject(resource, object);
  setNow(resources.storageClasses, lateClass);
  scheduler.setNode(node('n1', '64'));
  return { scheduler, clock, told, patched, patches };
}

function claim(scheduler: Scheduler, ...names: readonly string[]): void {
  for (const name of names) scheduler.setObject(resources.persistentVolumeClaims, claimOf(name));
}

/** Whoever makes volumes has made one for the claim. */
function provision(scheduler: Scheduler, name: string, nodeName = 'n1'): void {
  scheduler.setObject(resources.persistentVolumes, volumeOf(`for-${name}`));
  const done = boundClaim(name, `for-${name}`) as ApiObject;
  const annotations = { ...done.metadata?.annotations, 'volume.kubernetes.io/selected-node': nodeName };
  scheduler.setObject(resources.persistentVolumeClaims, {
    ...done,
    metadata: { ...done.metadata, annotations, resourceVersion: '900' },
  } as ApiObject);
}

const seconds = (bindTimeoutSeconds: number): Partial<SchedulerOptions> => ({
  profiles: [{ pluginConfig: [{ name: 'VolumeBinding', args: { bindTimeoutSeconds } }] }],
});
const never: PatchObject = () => new Promise(() => {});

describe('pods that wait for their volumes', () => {
  it('keep no other pod from being bound, and are bound once they have them', async () => {
    const { scheduler, clock, told } = world({ mostBindings: 1 });
    scheduler.start();
    for (let index = 0; index < 5; index++) {
      claim(scheduler, `c${index}`);
      scheduler.setPod(claiming(`waits-${index}`, [`c${index}`]));
    }
    await clock.advance(0);
    expect(scheduler.stats()).toMatchObject({ binding: 5 });
    scheduler.setPod(pod('plain'));
    await clock.advance(0);
    expect(told).toEqual(['bind plain n1']);
    provision(scheduler, 'c3');
    await clock.advance(0);
    expect(told).toEqual(['bind plain n1', 'bind waits-3 n1']);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('wait as long as bindTimeoutSeconds says, give their volumes back, and are tried again', async () => {
    const { scheduler, clock, told, patched } = world(seconds(5));
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(4999);
    expect(scheduler.stats()).toMatchObject({ binding: 1 });
    await clock.advance(1);
    expect(scheduler.explain('uid-p')).toMatchObject({
      state: 'backoff',
      text: expect.stringContaining('the volumes of d/c took longer than 5 s'),
    });
    expect(scheduler.stats()).toMatchObject({ binding: 0 });
    await clock.advance(2000);
    expect(scheduler.stats()).toMatchObject({ binding: 1 });
    provision(scheduler, 'c');
    await clock.advance(0);
    expect(told).toEqual(['bind p n1']);
    // the claim has its node already
    expect(patched).toEqual(['PersistentVolumeClaim c']);
    await scheduler.stop();
  });

  it('wait ten minutes where nothing else is said', async () => {
    const { scheduler, clock } = world();
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(599_999);
    expect(scheduler.stats()).toMatchObject({ binding: 1, failedAttempts: 0 });
    await clock.advance(1);
    expect(scheduler.stats()).toMatchObject({ binding: 0, failedAttempts: 1 });
    await scheduler.stop();
  });

  it.each([3_000_000, 10_000_000_000])('may wait as long as no timer can: %i s', async (long) => {
    const { scheduler, clock, told } = world(seconds(long));
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(700_000);
    provision(scheduler, 'c');
    await clock.advance(0);
    expect(told).toEqual(['bind p n1']);
    await scheduler.stop();
  });

  it('go elsewhere where their node is deleted, also while nothing else is scheduled', async () => {
    const { scheduler, clock, told } = world();
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(0);
    scheduler.setNode(node('n2'));
    scheduler.deleteNode('n1');
    await clock.advance(10_000);
    expect(scheduler.stats()).toMatchObject({ binding: 0 });
    // whoever makes volumes notices, too
    claim(scheduler, 'c');
    await clock.advance(2000);
    provision(scheduler, 'c', 'n2');
    await clock.advance(0);
    expect(told).toEqual(['bind p n2']);
    await scheduler.stop();
  });

  it('are forgotten where they are deleted: their volume is for others', async () => {
    const { scheduler, clock, told, patched } = world({}, never);
    claim(scheduler, 'c', 'e');
    scheduler.setObject(resources.persistentVolumes, volumeOf('pv'));
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(0);
    scheduler.deletePod('uid-p');
    await clock.advance(0);
    expect(scheduler.stats()).toMatchObject({ binding: 0, pods: 0 });
    scheduler.setPod(claiming('q', ['e']));
    await clock.advance(0);
    expect(patched).toEqual(['PersistentVolume pv', 'PersistentVolume pv']);
    expect(told).toEqual([]);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('are given up when the scheduler may not go on, and come again when it may', async () => {
    const { scheduler, clock, told } = world();
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(0);
    scheduler.suspend();
    await clock.advance(0);
    expect(scheduler.stats()).toMatchObject({ binding: 0 });
    provision(scheduler, 'c');
    await clock.advance(60_000);
    expect(told).toEqual([]);
    scheduler.resume();
    await clock.advance(0);
    expect(told).toEqual(['bind p n1']);
    await scheduler.stop();
  });

  it.each<[string, PatchObject]>([
    [
      'throws',
      () => {
        throw new TypeError('broken');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('refused'))],
    ['answers nothing', async () => undefined as never],
  ])('of a client whose patchObject %s come back, and cost no other pod anything', async (_what, patch) => {
    const { scheduler, clock, told } = world({}, patch);
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    scheduler.setPod(pod('plain'));
    await clock.advance(0);
    expect(told).toEqual(['bind plain n1']);
    expect(scheduler.explain('uid-p').state).toBe('backoff');
    await clock.advance(20_000);
    expect(scheduler.explain('uid-p').attempts).toBeGreaterThan(2);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('of a client whose patchObject never settles end with their time', async () => {
    const { scheduler, clock } = world(seconds(30), never);
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(30_000);
    expect(scheduler.explain('uid-p').state).toBe('backoff');
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('tell the claim its node before, and are bound once somebody has bound it', async () => {
    const { scheduler, clock, told, patched, patches } = world();
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(5000);
    expect(patched).toEqual(['PersistentVolumeClaim c']);
    expect(patches).toEqual([{ metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } }]);
    expect(told).toEqual([]);
    provision(scheduler, 'c');
    await scheduler.flush();
    expect(told).toEqual(['bind p n1']);
    await scheduler.stop();
  });

  it('say after ten seconds which claims they wait for, and what would help', async () => {
    const { scheduler, clock } = world();
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(9000);
    expect(scheduler.snapshot().problems).toEqual([]);
    await clock.advance(1000);
    const message = 'he pod has the node n1, and the plugin VolumeBinding waits for the volumes of d/c';
    expect(scheduler.snapshot().problems).toMatchObject([{ kind: 'waits-before-binding', message: `t${message}` }]);
    const { text } = scheduler.explain('uid-p');
    expect(text).toContain(`T${message}`);
    expect(text).toContain("the provisioner of the claims' storage class, and kube-controller-manager");
    provision(scheduler, 'c');
    await scheduler.flush();
    expect(scheduler.snapshot().problems).toEqual([]);
    await scheduler.stop();
  });

  it('share the write where they share their claim', async () => {
    const { scheduler, clock, told, patched } = world();
    claim(scheduler, 'shared');
    for (const name of ['a', 'b', 'c']) scheduler.setPod(claiming(name, ['shared']));
    scheduler.start();
    await clock.advance(1000);
    expect(patched).toHaveLength(1);
    provision(scheduler, 'shared');
    await scheduler.flush();
    expect(told).toHaveLength(3);
    expect(scheduler.stats()).toMatchObject({ bound: 3, failedAttempts: 0 });
    await scheduler.stop();
  });

  it('are not bound by a scheduler that has stopped', async () => {
    const { scheduler, clock, told } = world();
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(1000);
    await scheduler.stop();
    provision(scheduler, 'c');
    await clock.advance(60_000);
    expect(told).toEqual([]);
  });

  it('give way to a more important pod', async () => {
    const { scheduler, clock, told } = world();
    scheduler.setNode(node('n1', '1'));
    claim(scheduler, 'c');
    scheduler.start();
    scheduler.setPod(claiming('p', ['c']));
    await clock.advance(1000);
    scheduler.setPod(pod('urgent', '1', { priority: 10 }));
    await clock.advance(15_000);
    expect(told).toEqual(['bind urgent n1']);
    await scheduler.stop();
  });

  it('of a client without patchObject are not placed, those that have their volumes are', async () => {
    const { scheduler, clock, told } = world({}, 'none');
    claim(scheduler, 'c');
    scheduler.setObject(resources.persistentVolumes, volumeOf('pv'));
    scheduler.setObject(resources.persistentVolumeClaims, boundClaim('has', 'pv'));
    scheduler.start();
    for (const name of ['c', 'has']) scheduler.setPod(claiming(`p-${name}`, [name]));
    await clock.advance(0);
    expect(told).toEqual(['bind p-has n1']);
    expect(scheduler.explain('uid-p-c').text).toContain('has no method patchObject');
    await scheduler.stop();
  });
});

describe('a volume of the pod itself', () => {
  it('waits for its claim, which wakes the pod, and only for its own', async () => {
    const { scheduler, clock, told } = world();
    scheduler.start();
    const ephemeral = { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: {} } } };
    const made = claiming('p', [], { volumes: [{ name: 'scratch', ephemeral }] as never });
    scheduler.setPod(made);
    await clock.advance(0);
    expect(scheduler.explain('uid-p').text).toContain('waiting for ephemeral volume controller');
    claim(scheduler, 'p-scratch');
    await clock.advance(2000);
    expect(scheduler.explain('uid-p').text).toContain('was not created for pod d/p (pod is not owner)');
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-p', controller: true };
    scheduler.setObject(resources.persistentVolumes, volumeOf('pv'));
    scheduler.setObject(resources.persistentVolumeClaims, {
      ...boundClaim('p-scratch', 'pv'),
      metadata: { ...(boundClaim('p-scratch', 'pv') as ApiObject).metadata, ownerReferences: [owner] },
    } as ApiObject);
    await clock.advance(4000);
    expect(told).toEqual(['bind p n1']);
    await scheduler.stop();
  });
});

describe('a claim that only one pod may use', () => {
  it('is taken from a less important pod, and from no other', async () => {
    const { scheduler, clock, told } = world();
    scheduler.setObject(resources.persistentVolumes, volumeOf('pv', undefined, { accessModes: ['ReadWriteOncePod'] }));
    scheduler.setObject(resources.persistentVolumeClaims, boundClaim('c', 'pv', { accessModes: ['ReadWriteOncePod'] }));
    scheduler.start();
    scheduler.setPod(claiming('low', ['c'], { nodeName: 'n1' }));
    scheduler.setPod(claiming('same', ['c']));
    await clock.advance(0);
    expect(scheduler.explain('uid-same').text).toContain('ReadWriteOncePod access mode already in-use by another pod');
    scheduler.setPod(claiming('high', ['c'], { priority: 10 }));
    await clock.advance(0);
    expect(told).toEqual(['delete low']);
    scheduler.deletePod('uid-low');
    await clock.advance(5000);
    expect(told).toEqual(['delete low', 'bind high n1']);
    await scheduler.stop();
  });
});

describe('a plugin that fails when it is asked what it has to do before the binding', () => {
  it('gives the place back: the pod is tried again', async () => {
    let isBroken = true;
    const broken: Plugin = {
      name: 'My',
      eventsToRegister: () => [],
      preBindPreFlight: () => {
        if (isBroken) throw new Error('broken');
        return 'skip';
      },
      preBind: async () => undefined,
    };
    const registry = { ...inTreePlugins(), My: () => broken };
    const { scheduler, clock, told } = world({
      registry,
      profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'My' }] } } }],
    });
    scheduler.start();
    scheduler.setPod(pod('p', '64'));
    await clock.advance(0);
    expect(scheduler.explain('uid-p')).toMatchObject({ state: 'backoff', text: expect.stringContaining('broken') });
    isBroken = false;
    await clock.advance(2000);
    expect(told).toEqual(['bind p n1']);
    await scheduler.stop();
  });
});
