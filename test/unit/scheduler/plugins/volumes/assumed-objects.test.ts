import { describe, expect, it } from 'vitest';
import type { WirePersistentVolume } from '../../../../../src/api/json/types.ts';
import { resources } from '../../../../../src/client/resources/api-resource.ts';
import { AssumedObjects } from '../../../../../src/scheduler/plugins/volumes/assumed-objects.ts';
import { clusterObjects } from '../../../../support/cluster-objects.ts';

const volume = (resourceVersion: string | undefined, phase = 'Available'): WirePersistentVolume => ({
  metadata: { name: 'pv', ...(resourceVersion !== undefined && { resourceVersion }) },
  status: { phase },
});

function assumedWorld(version: string | undefined) {
  const objects = clusterObjects({ persistentVolumes: [volume(version)] });
  const assumed = new AssumedObjects<WirePersistentVolume>(objects.lister(resources.persistentVolumes));
  const phase = (): string | undefined => assumed.get(undefined, 'pv')?.status?.phase;
  return { objects, assumed, phase, set: (object: WirePersistentVolume) => objects.set(resources.persistentVolumes, object) };
}

describe('an object that is assumed to be otherwise', () => {
  it('counts in the place of the stored one until it is given back', () => {
    const { assumed, phase } = assumedWorld('1');
    const taken = volume('1', 'Bound');
    assumed.assume(taken);
    expect([phase(), assumed.stored(undefined, 'pv')?.status?.phase, assumed.size]).toEqual(['Bound', 'Available', 1]);
    assumed.restore(volume('1', 'Bound'));
    expect(phase()).toBe('Bound');
    assumed.restore(taken);
    assumed.restore(taken);
    expect([phase(), assumed.size]).toEqual(['Available', 0]);
  });

  it('counts no more once the watch brings any other version, or its end', () => {
    const { objects, assumed, phase, set } = assumedWorld('5');
    assumed.assume(volume('5', 'Bound'));
    set(volume('5', 'Released'));
    expect(phase()).toBe('Bound');
    set(volume('4', 'Failed'));
    expect([phase(), assumed.size]).toEqual(['Failed', 0]);
    assumed.assume(volume('4', 'Bound'));
    objects.delete(resources.persistentVolumes, undefined, 'pv');
    expect([phase(), assumed.size]).toEqual([undefined, 0]);
  });

  it('counts no more after any change where objects have no versions', () => {
    const { assumed, phase, set } = assumedWorld(undefined);
    assumed.assume(volume(undefined, 'Bound'));
    expect(phase()).toBe('Bound');
    set(volume(undefined, 'Released'));
    expect([phase(), assumed.size]).toEqual(['Released', 0]);
  });

  it('is refused where it is unknown, or of another version', () => {
    const { assumed, phase } = assumedWorld('5');
    expect(() => assumed.assume(volume('4', 'Bound'))).toThrow('"pv" is out of sync (stored: 5, assume: 4)');
    expect(() => assumed.assume({ metadata: { name: 'other' } })).toThrow('"other" not found');
    expect([phase(), assumed.size]).toEqual(['Available', 0]);
  });

  it('is one of its namespace', () => {
    const given = ['d', 'e'].map((namespace) => ({ metadata: { name: 'c', namespace, resourceVersion: '1' } }));
    const lister = clusterObjects({ persistentVolumeClaims: given }).lister(resources.persistentVolumeClaims);
    const assumed = new AssumedObjects(lister);
    assumed.assume({ metadata: { name: 'c', namespace: 'd', resourceVersion: '1' }, status: { phase: 'Bound' } } as never);
    const [own, other] = [assumed.get('d', 'c'), assumed.get('e', 'c')] as { readonly status?: unknown }[];
    expect([own?.status, other?.status]).toEqual([{ phase: 'Bound' }, undefined]);
  });
});
