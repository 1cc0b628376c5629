import { describe, expect, it } from 'vitest';
import type { WireNode, WirePersistentVolume, WirePersistentVolumeClaim } from '../../../../../src/api/json/types.ts';
import { fittingVolumes, matchingVolume, VolumeSizes } from '../../../../../src/scheduler/plugins/volumes/volume-matching.ts';
import { VolumePlaces } from '../../../../../src/scheduler/plugins/volumes/volume-places.ts';
import { Prng } from '../../../../random/chaos/prng.ts';
import { claimOf, volumeOf } from './volume-world.ts';

const hostname = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';

/** How often it is looked whether a volume reaches a node. */
class CountingPlaces extends VolumePlaces {
  looks = 0;

  override reaches(volume: WirePersistentVolume, node: WireNode): boolean {
    this.looks += 1;
    return super.reaches(volume, node);
  }
}

type Terms = readonly unknown[];

function volume(name: string, nodeSelectorTerms: Terms | undefined, storage = '5Gi'): WirePersistentVolume {
  const nodeAffinity = nodeSelectorTerms && { required: { nodeSelectorTerms } };
  return volumeOf(name, undefined, {
    capacity: { storage },
    ...(nodeAffinity && { nodeAffinity }),
  } as never) as WirePersistentVolume;
}

const isIn = (key: string, ...values: readonly string[]): object => ({ key, operator: 'In', values });
const term = (...matchExpressions: readonly unknown[]): object => ({ matchExpressions });
const node = (name: string, labels: Readonly<Record<string, string>>): WireNode => ({ metadata: { name, labels } });
const claim = claimOf('c') as WirePersistentVolumeClaim;

function found(volumes: readonly WirePersistentVolume[], nodes: readonly WireNode[], taken: ReadonlySet<string> = new Set()) {
  const places = new CountingPlaces();
  const fitting = fittingVolumes(claim, volumes, { sizes: new VolumeSizes(), places });
  const names = nodes.map((one) => matchingVolume(fitting, one, { taken, places })?.metadata?.name);
  return { names, looks: places.looks };
}

describe('many free volumes of one node each', () => {
  it('cost a pod one look for each, not one for each node and volume', () => {
    const many = Array.from({ length: 500 }, (_, index) => `n${index}`);
    const volumes = many.map((name) => volume(`pv-${name}`, [term(isIn(hostname, name))]));
    const nodes = many.map((name) => node(name, { [hostname]: name }));
    const { names, looks } = found(volumes, nodes);
    expect(names).toEqual(many.map((name) => `pv-${name}`));
    expect(looks).toBe(500);
    const others = Array.from({ length: 500 }, (_, index) => node(`m${index}`, { [hostname]: `m${index}` }));
    expect(found(volumes, others).looks).toBe(0);
  });

  it('are found by the host where a volume names its zone, too', () => {
    const many = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const volumes = many.map((name) => volume(`pv-${name}`, [term(isIn(zone, 'a'), isIn(hostname, name))]));
    const nodes = many.map((name) => node(name, { [hostname]: name, [zone]: 'a' }));
    expect(found(volumes, nodes).looks).toBe(100);
  });
});

describe('the volume for a node', () => {
  it('is the one that a look at all of them finds', () => {
    const prng = new Prng(7);
    const random = (): number => prng.next();
    const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    const values = (): string[] => Array.from({ length: pick(0, 1, 1, 2, 3) }, () => pick('a', 'b', 'c'));
    const expression = (): unknown =>
      pick<() => unknown>(
        () => isIn(pick(hostname, zone, 'rack', '__proto__'), ...values()),
        () => isIn(pick(hostname, zone), pick('a', 'b')),
        () => ({ key: pick(hostname, zone), operator: pick('NotIn', 'Exists', 'DoesNotExist'), values: values() }),
        () => pick<unknown>(null, {}, { key: zone, operator: 'In', values: 'a' }, { key: 1, operator: 'In', values: ['a'] }),
        () => ({ key: zone, operator: 'In', values: ['a', 5] }),
      )();
    const anyTerm = (): unknown => pick<unknown>(term(expression()), term(expression(), expression()), {}, term(), null);
    const terms = (): Terms | undefined =>
      pick<() => Terms | undefined>(
        () => undefined,
        () => [anyTerm()],
        () => [anyTerm(), anyTerm()],
        () => [],
        () => 'x' as never,
      )();
    const labels = (): Record<string, string> =>
      Object.fromEntries([hostname, zone, 'rack'].flatMap((key) => (random() < 0.7 ? [[key, pick('a', 'b', 'c', '')]] : [])));
    let matched = 0;
    for (let round = 0; round < 400; round += 1) {
      const volumes = Array.from({ length: 12 }, (_, index) => volume(`pv${index}`, terms(), pick('5Gi', '7Gi')));
      const nodes = Array.from({ length: 5 }, (_, index) => node(`n${index}`, labels()));
      const taken = new Set(volumes.slice(0, pick(0, 1, 4)).map(({ metadata }) => metadata?.name ?? ''));
      const { names } = found(volumes, nodes, taken);
      const places = new VolumePlaces();
      const sorted = ['5Gi', '7Gi'].flatMap((size) => volumes.filter(({ spec }) => spec?.capacity?.storage === size));
      const all = nodes.map(
        (one) => sorted.find((each) => !taken.has(each.metadata?.name ?? '') && places.reaches(each, one))?.metadata?.name,
      );
      expect(names).toEqual(all);
      matched += all.filter((name) => name !== undefined).length;
    }
    expect(matched).toBeGreaterThan(500);
  });
});
