import { describe, expect, it } from 'vitest';
import { type ApiObject, type ApiResource, resources } from '../../../../../src/client/resources/api-resource.ts';
import { nodeVolumeLimits } from '../../../../../src/scheduler/plugins/volumes/node-volume-limits.ts';
import { Scheduler } from '../../../../../src/scheduler.ts';
import { boundClaim, claimOf, lateClass, podWith, VolumeWorld, volumeOf } from './volume-world.ts';

const huge = Array.from({ length: 2000 }, (_, index) => ({ key: `k${index}`, operator: 'In', values: ['v'] }));

/** In the place of any member. */
const wrong: readonly unknown[] = [null, 5, 'text', true, [], [null], {}, { a: [1] }, huge];

/** The object with each of its members, at any depth, replaced by something wrong. */
function* broken(object: unknown, path: readonly string[] = []): Generator<object> {
  if (typeof object !== 'object' || object === null) return;
  for (const [key, value] of Object.entries(object)) {
    const isName = path[0] === 'metadata' && (key === 'name' || key === 'namespace');
    if (!isName && !(path.length === 0 && key === 'metadata')) for (const one of wrong) yield { ...object, [key]: one };
    for (const inner of broken(value, [...path, key])) yield { ...object, [key]: inner };
  }
}

const csiNode = {
  metadata: { name: 'n1', annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/aws-ebs' } },
  spec: { drivers: [{ name: 'csi.example.com', allocatable: { count: 1 } }] },
};
const capacity = {
  metadata: { name: 'k', namespace: 'd' },
  storageClassName: 'late',
  nodeTopology: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
  capacity: '5Gi',
  maximumVolumeSize: '5Gi',
};
const attachment = {
  metadata: { name: 'a' },
  spec: { attacher: 'csi.example.com', nodeName: 'n1', source: { persistentVolumeName: 'pv' } },
};
const claimRef = { namespace: 'd', name: 'other', uid: 'u-other' };
const own = volumeOf(
  'hostile',
  'a',
  { claimRef, awsElasticBlockStore: { volumeID: 'vol-1' }, volumeMode: 'Filesystem' },
  { labels: { a: 'b' } },
);
const free = volumeOf('hostile', 'a', { csi: { driver: 'csi.example.com', volumeHandle: 'h' } }, { annotations: { a: 'b' } });

describe('an object that cannot be read', () => {
  it.each([
    ['a volume of the same class', 'persistentVolumes', free],
    ['a volume of another claim', 'persistentVolumes', own],
    ["another pod's claim", 'persistentVolumeClaims', claimOf('hostile', { selector: { matchLabels: { a: 'b' } } })],
    [
      'another class',
      'storageClasses',
      {
        ...lateClass,
        metadata: { name: 'hostile' },
        allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: ['b'] }] }],
      },
    ],
    ['a CSINode', 'csiNodes', csiNode],
    ['a CSIStorageCapacity', 'csiStorageCapacities', capacity],
    ['a VolumeAttachment', 'volumeAttachments', attachment],
    ['a CSIDriver', 'csiDrivers', { metadata: { name: 'other.example.com' }, spec: { storageCapacity: true } }],
  ] as const)('costs no pod its volumes: %s', (_what, name, object) => {
    const pv = volumeOf('pv', 'a', { capacity: { storage: '2Gi' }, csi: { driver: 'csi.example.com', volumeHandle: 'h1' } });
    let count = 0;
    for (const one of broken(object)) {
      count += 1;
      const given = {
        storageClasses: [lateClass],
        persistentVolumes: [pv],
        persistentVolumeClaims: [claimOf('c'), boundClaim('has', 'pv')],
      };
      const objects = { ...given, [name]: [...((given as Record<string, readonly object[]>)[name] ?? []), one] };
      const world = new VolumeWorld(objects);
      expect(world.judge(podWith('p', 'c')), JSON.stringify(one).slice(0, 300)).toEqual({});
      const limits = new VolumeWorld(objects, { factory: nodeVolumeLimits });
      expect(limits.judge(podWith('p', 'has')), JSON.stringify(one).slice(0, 300)).toEqual({});
    }
    expect(count).toBeGreaterThan(15);
  });

  it('does not throw out of the scheduler, which hears of it, of its change and of its end', () => {
    const logged: string[] = [];
    const log = (_fields: unknown, message: string): void => void logged.push(message);
    const logger = { debug: log, info: log, warn: log, error: log };
    const scheduler = new Scheduler({ client: { bind: async () => {} }, logger: logger as never });
    scheduler.setNode({ metadata: { name: 'n1' } });
    scheduler.setPod(podWith('waits', 'nowhere', { ephemeral: {} as never }, { csi: { driver: 'csi.example.com' } }));
    expect(scheduler.scheduleOne()).toBe(true);
    for (const [name, object] of [
      ['persistentVolumes', own],
      ['persistentVolumes', free],
      ['persistentVolumeClaims', claimOf('hostile', { selector: {} }, { ownerReferences: [] })],
      ['storageClasses', { ...lateClass, allowedTopologies: [] }],
      ['csiNodes', csiNode],
      ['csiStorageCapacities', capacity],
      ['volumeAttachments', attachment],
      ['csiDrivers', { metadata: { name: 'csi.example.com' }, spec: { storageCapacity: true } }],
    ] as const) {
      for (const one of broken(object)) {
        const { metadata } = one as ApiObject;
        scheduler.setObject(resources[name] as ApiResource, one);
        scheduler.deleteObject(resources[name], metadata?.namespace, metadata?.name ?? '');
      }
    }
    expect(logged.filter((message) => message.includes('handler'))).toEqual([]);
    expect(scheduler.explain('u-waits').state).not.toBe('unknown');
  });
});

describe('a claim that cannot be read', () => {
  it.each([
    [{ resources: { requests: { storage: 'much' } } }, 'spec.resources.requests.storage'],
    [{ selector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } }, 'operator'],
  ])('ends the attempt of its own pod: %j', (spec, word) => {
    const world = new VolumeWorld({ persistentVolumes: [volumeOf('pv')], persistentVolumeClaims: [claimOf('c', spec)] });
    expect(() => world.judge(podWith('p', 'c'))).toThrow(word);
  });
});
