import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { type Merge, PodStorage, type PodStorageOptions } from '../../../../src/node/config/pod-storage.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function storageOf(options: Partial<PodStorageOptions> = {}): PodStorage {
  return new PodStorage({
    ...{ metadataOf: 'latest', eventRecorder: { event() {} }, podObserved: undefined, now: () => 0, logger: quiet },
    ...options,
  });
}

/** Pods that count how often anything of them is read. */
class CountedPods {
  reads = 0;

  pod(name: string, version: number): Pod {
    const metadata = { name, namespace: 'default', uid: name, labels: { version: String(version) } };
    const read = (): typeof metadata => {
      this.reads += 1;
      return metadata;
    };
    return Object.defineProperty({ spec: { containers: [] } }, 'metadata', { get: read, enumerable: true });
  }
}

describe('a list that differs in a few pods from the one before', () => {
  const count = 1000;
  const world = () => {
    const counted = new CountedPods();
    const storage = storageOf();
    const list = Array.from({ length: count }, (_, index) => counted.pod(`pod-${index}`, 0));
    storage.merge('api', list.slice());
    counted.reads = 0;
    return { counted, storage, list };
  };

  it('costs what these pods cost, when each pod changes once', () => {
    const { counted, storage, list } = world();
    let updated = 0;
    for (let index = 0; index < count; index++) {
      list[index] = counted.pod(`pod-${index}`, 1);
      updated += storage.merge('api', list.slice()).updated.length;
    }
    expect(updated).toBe(count);
    expect(counted.reads).toBeLessThan(40 * count);
  });

  it('costs what these pods cost, when pods go and others come', () => {
    const { counted, storage, list } = world();
    for (let index = 0; index < count; index++) {
      list.splice((index * 7) % list.length, 1);
      list.push(counted.pod(`new-${index}`, 0));
      const { removed, added, updated } = storage.merge('api', list.slice());
      expect([removed.length, added.length, updated.length]).toEqual([1, 1, 0]);
    }
    expect(counted.reads).toBeLessThan(40 * count);
    expect(storage.pods().map(({ metadata }) => metadata?.name)).toEqual(list.map(({ metadata }) => metadata?.name));
  });
});

it('tells of any lists what it tells of lists that are looked at as a whole', () => {
  const uid = fc.integer({ min: 0, max: 5 });
  const entry = fc.record({ uid, name: uid, version: fc.integer({ min: 0, max: 2 }), broken: fc.nat({ max: 30 }) });
  const operation = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), at: fc.nat({ max: 6 }), entry }),
    fc.record({ kind: fc.constant('remove' as const), at: fc.nat({ max: 6 }) }),
    fc.record({ kind: fc.constant('add' as const), entry }),
    fc.record({ kind: fc.constant('swap' as const), at: fc.nat({ max: 6 }) }),
    fc.record({ kind: fc.constant('send' as const) }),
  );
  const podOf = ({ uid, name, version, broken }: { uid: number; name: number; version: number; broken: number }): Pod => {
    if (broken === 0) return null as never;
    const metadata = { uid: uid === 5 && broken === 1 ? '' : `uid-${uid}`, name: `name-${name}`, namespace: 'default' };
    const pod = { metadata: { ...metadata, labels: { version: `${version}` } }, spec: { containers: [] } };
    if (broken === 2)
      Object.defineProperty(pod, 'spec', {
        enumerable: true,
        get: () => {
          throw new Error('broken');
        },
      });
    return pod;
  };
  const told = ({ isFirst, ...changes }: Merge): unknown => [
    isFirst,
    Object.entries(changes).map(([kind, pods]) => [
      kind,
      pods.map(({ metadata }) => [metadata?.uid, metadata?.name, metadata?.labels]),
    ]),
  ];
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 40 }), fc.constantFrom('latest', 'firstSeen'), (operations, metadataOf) => {
      const refused: string[][] = [[], []];
      const optionsOf = (at: 0 | 1): Partial<PodStorageOptions> => ({
        metadataOf: metadataOf as 'latest',
        eventRecorder: { event: (_pod, _type, _reason, message) => void refused[at]?.push(message) },
      });
      const some = storageOf(optionsOf(0));
      // somebody who wants to know every pod of each list makes it look at all of them
      const whole = storageOf({ ...optionsOf(1), podObserved: () => {} });
      const list: Pod[] = [];
      for (const step of [...operations, { kind: 'send' as const }]) {
        if (step.kind === 'set' && step.at < list.length) list[step.at] = podOf(step.entry);
        else if (step.kind === 'remove') list.splice(step.at, 1);
        else if (step.kind === 'add') list.push(podOf(step.entry));
        else if (step.kind === 'swap' && step.at + 1 < list.length) list.push(...list.splice(step.at, 1));
        else if (step.kind === 'send') {
          expect(told(some.merge('api', list.slice()))).toEqual(told(whole.merge('api', list.slice())));
          expect(some.pods()).toEqual(whole.pods());
          expect([some.count('api'), refused[0]]).toEqual([whole.count('api'), refused[1]]);
        }
      }
    }),
    { numRuns: 500 },
  );
});
