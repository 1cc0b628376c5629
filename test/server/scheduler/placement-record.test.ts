import { describe, expect, it } from 'vitest';
import { type PlacementRecord, placementProblems, type Sighting } from './placement-record.ts';

function sighting(pod: string, node?: string, more: Partial<Sighting> = {}): Sighting {
  return { pod, type: 'MODIFIED', ...(node !== undefined && { node }), isReady: node !== undefined, hasEnded: false, ...more };
}

const good: PlacementRecord = {
  sightings: [
    sighting('a', undefined, { type: 'ADDED' }),
    sighting('b', undefined, { type: 'ADDED' }),
    sighting('a', 'n1'),
    sighting('b', 'n1'),
    sighting('a', 'n1', { hasEnded: true }),
    sighting('c', 'n1'),
    sighting('a', 'n1', { type: 'DELETED' }),
    sighting('b', 'n1', { type: 'DELETED' }),
    sighting('d', 'n2'),
  ],
  created: new Map([
    ['n1', ['a', 'b', 'c']],
    ['n2', ['d']],
  ]),
  room: 2,
  wanted: 2,
  drained: new Set(['n3']),
};
const withMore = (...sightings: Sighting[]): PlacementRecord => ({ ...good, sightings: [...good.sightings, ...sightings] });

describe('the record of a placement', () => {
  it('is without problems where all went well', () => {
    expect(placementProblems(good)).toEqual([]);
  });

  it.each<[string, PlacementRecord, string[]]>([
    [
      'a pod that was bound twice',
      withMore(sighting('d', 'n4')),
      ['d was bound to n2, then to n4', 'd was created on n2, and is bound to n4'],
    ],
    [
      'a pod that has lost its node',
      withMore(sighting('d', undefined)),
      ['d was bound to n2, then to no node', 'd was left without a node'],
    ],
    [
      'a node with too many pods',
      { ...good, room: 1 },
      ['n1 has 2 pods, with b, and room for 1', 'n1 has 2 pods, with c, and room for 1'],
    ],
    [
      'a pod that two agents have run',
      { ...good, created: new Map([...good.created, ['n4', ['d']]]) },
      ['d was created again, on n4', 'd was created on n4, and is bound to n2'],
    ],
    ['a pod that one agent has run twice', { ...good, created: new Map([['n1', ['a', 'a']]]) }, ['a was created again, on n1']],
    [
      'a pod that was run without being bound',
      { ...good, created: new Map([['n1', ['x']]]) },
      ['x was created on n1, and is bound to no node'],
    ],
    ['a pod that was left without a node', { ...withMore(sighting('e')), wanted: 3 }, ['e was left without a node']],
    ['a pod that is not ready', { ...withMore(sighting('e', 'n2', { isReady: false })), wanted: 3 }, ['e on n2 is not ready']],
    ['a pod that was lost', { ...good, wanted: 3 }, ['there are 2 pods, and 3 are wanted']],
    ['a pod on a drained node', { ...good, drained: new Set(['n2']) }, ['d is on n2, which was drained']],
  ])('shows %s', (_name, record, problems) => {
    expect(placementProblems(record)).toEqual(problems);
  });
});
