import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { type PodEvent, PodStore } from '../../../../src/testing/pods-api/pod-store.ts';

const named = (name: string): object => buildPod({ metadata: { name } });
const shape = ({ type, object }: PodEvent): string => `${type} ${object.metadata?.name}`;

afterEach(() => vi.restoreAllMocks());

describe('the listeners of a store', () => {
  it('all see the events in order, also when one of them writes', () => {
    const store = new PodStore();
    const [first, second]: string[][] = [[], []];
    store.watch((event) => {
      first?.push(shape(event));
      if (shape(event) === 'ADDED a') store.create(named('b'));
      if (shape(event) === 'ADDED b') store.delete('default', 'a', { gracePeriodSeconds: 0 });
    });
    store.watch((event) => second?.push(shape(event)));
    store.create(named('a'));
    expect(second).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED a']);
    expect(first).toEqual(second);
  });

  it('that begin inside a listener get no event from before', () => {
    const store = new PodStore();
    const late: string[] = [];
    store.watch((event) => {
      if (shape(event) !== 'ADDED a') return;
      store.create(named('b'));
      store.watch((later) => late.push(shape(later)));
      store.create(named('c'));
    });
    store.create(named('a'));
    expect(late).toEqual(['ADDED c']);
  });

  it('that are ended inside a listener get no further event', () => {
    const store = new PodStore();
    const seen: string[] = [];
    const stops: (() => void)[] = [];
    store.watch(() => stops[0]?.());
    stops.push(store.watch((event) => seen.push(shape(event))));
    store.create(named('a'));
    expect(seen).toEqual([]);
  });

  it.each([
    ['throws', (): void => void failing()],
    ['rejects', async (): Promise<void> => void failing()],
  ])('go on when one of them %s: the write takes effect, and the error becomes a warning', async (_, listener) => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const store = new PodStore();
    const seen: string[] = [];
    store.watch(listener);
    store.watch((event) => seen.push(shape(event)));
    expect(store.create(named('a')).metadata?.name).toBe('a');
    expect(seen).toEqual(['ADDED a']);
    await Promise.resolve();
    expect(warnings.mock.calls).toEqual([[new Error('of a listener')]]);
  });
});

function failing(): never {
  throw new Error('of a listener');
}
