import { describe, expect, it } from 'vitest';
import { ReadySet } from '../../../../src/status/sync/sync-slots.ts';

const keys = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

function filled(normal: readonly string[], urgent: readonly string[]): ReadySet {
  const set = new ReadySet();
  for (const key of normal) set.add(key, false);
  for (const key of urgent) set.add(key, true);
  return set;
}

function taken(set: ReadySet): (string | undefined)[] {
  const result: (string | undefined)[] = [];
  while (set.size > 0) result.push(set.take());
  return result;
}

describe('ReadySet', () => {
  it('is empty at first', () => {
    const set = new ReadySet();
    expect([set.size, set.has('a'), set.take()]).toEqual([0, false, undefined]);
  });

  it('returns pods of each kind in order of arrival', () => {
    expect(taken(filled(keys('n', 4), []))).toEqual(keys('n', 4));
    expect(taken(filled([], keys('u', 4)))).toEqual(keys('u', 4));
  });

  it('returns urgent pods first', () => {
    expect(taken(filled(['n0', 'n1'], ['u0', 'u1']))).toEqual(['u0', 'u1', 'n0', 'n1']);
  });

  it('gives every fourth turn to another pod, so that none starves under a stream of urgent pods', () => {
    const set = filled(keys('n', 3), []);
    const order: (string | undefined)[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      set.add(`u${turn}`, true);
      order.push(set.take());
    }
    expect(order).toEqual(['u0', 'u1', 'u2', 'n0', 'u3', 'u4', 'u5', 'n1', 'u6', 'u7', 'u8', 'n2']);
  });

  it('counts only turns in which another pod was passed over', () => {
    const set = filled([], keys('u', 9));
    for (let turn = 0; turn < 5; turn += 1) set.take();
    set.add('n', false);
    expect([set.take(), set.take(), set.take(), set.take()]).toEqual(['u5', 'u6', 'u7', 'n']);
  });

  it('holds a pod once: it keeps its place, and can become urgent but not ordinary again', () => {
    const set = filled(['a', 'b', 'c'], []);
    set.add('a', false);
    set.add('c', true);
    set.add('c', false);
    set.add('c', true);
    expect(set.size).toBe(3);
    expect(taken(set)).toEqual(['c', 'a', 'b']);
  });

  it('drops a deleted pod of either kind', () => {
    const set = filled(['a', 'b'], ['u', 'v']);
    set.delete('a');
    set.delete('u');
    set.delete('unknown');
    expect([set.has('a'), set.has('u'), set.has('b'), set.has('v')]).toEqual([false, false, true, true]);
    expect(taken(set)).toEqual(['v', 'b']);
  });
});
