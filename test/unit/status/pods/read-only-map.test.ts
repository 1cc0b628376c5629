import { describe, expect, it } from 'vitest';
import { BasicPodManager, readOnlyMap } from '../../../../src/status/pods/basic-pod-manager.ts';

describe('readOnlyMap', () => {
  it('can be read as before, and not be changed', () => {
    const map = readOnlyMap(new Map([['a', 1]])) as Map<string, number>;
    for (const change of [() => map.set('b', 2), () => map.delete('a'), () => map.clear()]) expect(change).toThrow(TypeError);
    expect([...map]).toEqual([['a', 1]]);
    expect(map).toEqual(new Map([['a', 1]]));
  });

  it('is what BasicPodManager hands out: no reader can change the translations of the others', () => {
    const { podToMirror, mirrorToPod } = new BasicPodManager().getUIDTranslations();
    for (const map of [podToMirror, mirrorToPod]) expect(() => (map as Map<string, string>).clear()).toThrow(TypeError);
  });
});
