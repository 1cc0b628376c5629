import { describe, expect, it } from 'vitest';
import { type ApiObject, type ApiResource, resources } from '../../../src/client/resources/api-resource.ts';
import type { Scheduler, SchedulerOptions } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

const claims = resources.persistentVolumeClaims;
const selected = 'volume.kubernetes.io/selected-node';

interface Claim {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly volumeName?: string;
  readonly phase?: string;
}

/** A claim of a class whose volumes are made where the pod goes. */
function claim(
  name: string,
  resourceVersion: string,
  { annotations = {}, volumeName, phase = 'Pending' }: Claim = {},
): ApiObject {
  const spec = {
    ...{ storageClassName: 'late', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    ...(volumeName !== undefined && { volumeName }),
  };
  const metadata = { name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion, annotations };
  return { metadata, spec, status: { phase } } as ApiObject;
}

const podWithClaim = (name: string) =>
  pod(name, '1', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `${name}-data` } }] });

/** Somebody has made the volume and bound the claim to it. */
function bindClaim(scheduler: Scheduler, name: string): void {
  const annotations = { [selected]: 'n', 'pv.kubernetes.io/bind-completed': 'yes' };
  scheduler.setObject(resources.persistentVolumes, {
    metadata: { name: `pv-${name}`, resourceVersion: '7' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'default', name, uid: `uid-of-${name}` },
    },
  } as ApiObject);
  scheduler.setObject(claims, claim(name, '8', { annotations, volumeName: `pv-${name}`, phase: 'Bound' }));
}

/** A scheduler with one node. Its client takes every patch of an object at once, and the watch shows it. */
function storageWorld(options: Partial<SchedulerOptions> = {}) {
  const patched: string[] = [];
  const world = schedulerWorld(options, false, {
    patchObject: async <T extends ApiObject>(resource: ApiResource<T>, object: T, patch: object): Promise<T> => {
      const { name = '' } = object.metadata ?? {};
      patched.push(`${resource.kind} ${name} ${JSON.stringify(patch)}`);
      const after = claim(name, '6', { annotations: { [selected]: 'n' } });
      world.scheduler.setObject(resource, after as T);
      return after as T;
    },
  });
  const { scheduler } = world;
  scheduler.setObject(resources.storageClasses, {
    metadata: { name: 'late' },
    ...{ provisioner: 'disks.example.com', volumeBindingMode: 'WaitForFirstConsumer' },
  } as ApiObject);
  scheduler.setNode(node('n', '40'));
  return { ...world, patched };
}

function addPod(scheduler: Scheduler, name: string): void {
  scheduler.setObject(claims, claim(`${name}-data`, '5'));
  scheduler.setPod(podWithClaim(name));
}

describe('a pod whose volume has to be made', () => {
  it('is bound once its claim is, which is told its node before', async () => {
    const { scheduler, clock, told, patched } = storageWorld();
    addPod(scheduler, 'db');
    scheduler.start();
    await clock.advance(5000);
    expect(patched).toEqual([`PersistentVolumeClaim db-data {"metadata":{"annotations":{"${selected}":"n"}}}`]);
    expect(told).toEqual(['status db  n']);
    bindClaim(scheduler, 'db-data');
    await scheduler.flush();
    expect(told.slice(1)).toEqual(['bind db n', 'Scheduled db: Successfully assigned default/db to n']);
    await scheduler.stop();
  });

  it('holds no place among the bindings', async () => {
    const { scheduler, clock, told } = storageWorld({ mostBindings: 2 });
    for (let i = 0; i < 10; i++) addPod(scheduler, `db${i}`);
    scheduler.start();
    await clock.advance(1000);
    for (let i = 0; i < 5; i++) scheduler.setNode(node('n', `${41 + i}`));
    scheduler.setPod(pod('web'));
    await clock.advance(1000);
    expect(told).toContain('bind web n');
    expect(scheduler.stats()).toMatchObject({ binding: 10, bound: 1 });
    bindClaim(scheduler, 'db4-data');
    await clock.advance(0);
    expect(told.filter((line) => line.startsWith('bind'))).toEqual(['bind web n', 'bind db4 n']);
    await scheduler.stop();
  });

  it('says after ten seconds which claims it waits for, and what would help', async () => {
    const { scheduler, clock } = storageWorld();
    addPod(scheduler, 'db');
    scheduler.start();
    await clock.advance(9000);
    expect(scheduler.snapshot().problems).toEqual([]);
    await clock.advance(1000);
    const message = 'he pod has the node n, and the plugin VolumeBinding waits for the volumes of default/db-data';
    expect(scheduler.snapshot().problems).toMatchObject([{ kind: 'waits-before-binding', message: `t${message}` }]);
    const { text } = scheduler.explain('uid-db');
    expect(text).toContain(`T${message}`);
    expect(text).toContain("the provisioner of the claims' storage class, and kube-controller-manager");
    bindClaim(scheduler, 'db-data');
    await scheduler.flush();
    expect(scheduler.snapshot().problems).toEqual([]);
    await scheduler.stop();
  });

  it('gives its node back once the time of VolumeBinding is over, and is tried again', async () => {
    const pluginConfig = [{ name: 'VolumeBinding', args: { bindTimeoutSeconds: 20 } }];
    const { scheduler, clock, told } = storageWorld({ profiles: [{ pluginConfig }] });
    addPod(scheduler, 'db');
    scheduler.start();
    await clock.advance(20_000);
    expect(told.at(-1)).toBe('status db SchedulerError');
    expect(told.at(-2)).toMatch(/VolumeBinding failed in preBind: the volumes of default\/db-data took longer than 20 s/);
    await clock.advance(30_000);
    bindClaim(scheduler, 'db-data');
    await clock.advance(30_000);
    expect(told).toContain('bind db n');
    await scheduler.stop();
  });

  it('shares the write with others that share its claim', async () => {
    const { scheduler, clock, told, patched } = storageWorld();
    scheduler.setObject(claims, claim('shared', '5'));
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'shared' } }];
    for (const name of ['a', 'b', 'c']) scheduler.setPod(pod(name, '1', { volumes }));
    scheduler.start();
    await clock.advance(1000);
    expect(patched).toHaveLength(1);
    bindClaim(scheduler, 'shared');
    await scheduler.flush();
    expect(told.filter((line) => line.startsWith('bind'))).toHaveLength(3);
    expect(scheduler.stats()).toMatchObject({ bound: 3, failedAttempts: 0 });
    await scheduler.stop();
  });

  it('is not bound by a scheduler that has stopped', async () => {
    const { scheduler, clock, told } = storageWorld();
    addPod(scheduler, 'db');
    scheduler.start();
    await clock.advance(1000);
    await scheduler.stop();
    bindClaim(scheduler, 'db-data');
    await clock.advance(60_000);
    expect(told.filter((line) => line.startsWith('bind'))).toEqual([]);
  });

  it('gives way to a more important pod', async () => {
    const { scheduler, clock, told } = storageWorld();
    scheduler.setNode(node('n', '1'));
    addPod(scheduler, 'db');
    scheduler.start();
    await clock.advance(1000);
    scheduler.setPod(pod('urgent', '1', { priority: 10 }));
    await clock.advance(15_000);
    expect(told.filter((line) => /^(bind|delete)/.test(line))).toEqual(['bind urgent n']);
    await scheduler.stop();
  });
});
