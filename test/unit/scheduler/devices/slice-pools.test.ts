import { describe, expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import type { ResourceSlice, SliceSpec } from '../../../../src/scheduler/devices/device-types.ts';
import { SlicePools } from '../../../../src/scheduler/devices/slice-pools.ts';
import { Prng } from '../../../random/chaos/prng.ts';
import { deviceOf, devicesNamed, driver, nodeOf, poolOf, sliceOf } from './devices-world.ts';

/** What a node reaches: the pools with their devices, or with what is wrong. */
function reached(slices: readonly ResourceSlice[], node = nodeOf()): readonly string[] {
  return new SlicePools(slices)
    .reachedBy(node)
    .map(
      ({ source, state, devices }) =>
        `${source.name}: ${state === 'whole' ? devices.map(({ given }) => given.name).join(' ') : state}`,
    );
}

const counters = (set: string, more = {}) =>
  sliceOf(`counters-${set}`, [], { allNodes: true, sharedCounters: [{ name: set, counters: { mem: { value: '4' } } }], ...more });
const using = (name: string, counterSet: string, counter = 'mem') =>
  deviceOf(name, {}, { consumesCounters: [{ counterSet, counters: { [counter]: { value: '1' } } }] });

describe('a node', () => {
  it('reaches its own slices, those of all nodes, and those that select it', () => {
    const selecting = (key: string) => ({ nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] });
    const slices = [
      sliceOf('own', devicesNamed('a'), { pool: poolOf('own') }),
      sliceOf('other', devicesNamed('b'), { pool: poolOf('other'), nodeName: 'n1' }),
      sliceOf('all', devicesNamed('c'), { pool: poolOf('all'), allNodes: true }),
      sliceOf('zone', devicesNamed('d'), { pool: poolOf('zone'), nodeSelector: selecting('zone') }),
      sliceOf('rack', devicesNamed('e'), { pool: poolOf('rack'), nodeSelector: selecting('rack') }),
    ];
    expect(reached(slices, nodeOf('n0', { zone: 'x' }))).toEqual(['all: c', 'own: a', 'zone: d']);
    expect(reached(slices, nodeOf('n9'))).toEqual(['all: c']);
  });

  it('reaches a slice whose devices name their nodes, if one of them is for it', () => {
    const named = [deviceOf('a', {}, { nodeName: 'n1' }), deviceOf('b', {}, { nodeName: 'n0' })];
    const slice = sliceOf('s', named, { perDeviceNodeSelection: true });
    expect([reached([slice]), reached([slice], nodeOf('n2'))]).toEqual([['p: a b'], []]);
    const mixed = sliceOf('s', [deviceOf('a', {}, { nodeName: 'n1' }), deviceOf('b', {}, { allNodes: true })], {
      perDeviceNodeSelection: true,
    });
    expect(reached([mixed])).toEqual(['p: a b']);
  });

  it('does not reach a slice that says nothing of nodes', () => {
    const { nodeName: _none, ...spec } = sliceOf('s', devicesNamed('a')).spec;
    expect(reached([{ metadata: { name: 's' }, spec }])).toEqual([]);
  });

  it('is not judged by a selector that breaks a rule', () => {
    const nodeSelector = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Maybe' }] }] };
    const slice = sliceOf('s', devicesNamed('a'), { nodeSelector });
    expect(() => reached([slice])).toThrow('failed to perform node selection for slice s');
  });
});

describe('the devices of a pool', () => {
  it('come slice by slice, by the names of the slices', () => {
    const pool = poolOf('p', 2);
    expect(reached([sliceOf('y', devicesNamed('a'), { pool }), sliceOf('x', devicesNamed('c', 'b'), { pool })])).toEqual([
      'p: c b a',
    ]);
  });

  it('come after those of pools with lesser names, and with binding conditions last', () => {
    const waits = sliceOf('a', [deviceOf('a', {}, { bindingConditions: ['ready'] })], { pool: poolOf('a') });
    const other = sliceOf('o', devicesNamed('o'), { pool: poolOf('a'), driver: 'a.example.com' });
    const slices = [
      waits,
      sliceOf('c', devicesNamed('c'), { pool: poolOf('c') }),
      sliceOf('b', devicesNamed('b'), { pool: poolOf('b') }),
      other,
    ];
    expect(reached(slices)).toEqual(['a: o', 'b: b', 'c: c', 'a: a']);
  });
});

describe('a pool', () => {
  const two = poolOf('p', 2);

  it('is incomplete while a slice is missing, whatever nodes they are for', () => {
    expect(reached([sliceOf('x', devicesNamed('a'), { pool: two })])).toEqual(['p: incomplete']);
    const slices = [
      sliceOf('x', devicesNamed('a'), { pool: two }),
      sliceOf('y', devicesNamed('b'), { pool: two, nodeName: 'n1' }),
    ];
    expect(reached(slices)).toEqual(['p: a']);
  });

  it('is of the newest generation alone', () => {
    const newer = sliceOf('y', devicesNamed('b'), { pool: poolOf('p', 1, 2) });
    expect(reached([sliceOf('x', devicesNamed('a')), newer])).toEqual(['p: b']);
    expect(reached([newer, sliceOf('x', devicesNamed('a'))])).toEqual(['p: b']);
  });

  it('is left out where a newer generation has nothing for the node, if it is not whole by itself', () => {
    const newer = sliceOf('y', devicesNamed('b'), { pool: poolOf('p', 1, 2), nodeName: 'n1' });
    expect(reached([sliceOf('x', devicesNamed('a'), { pool: two }), newer])).toEqual([]);
    expect(reached([sliceOf('x', devicesNamed('a')), newer])).toEqual(['p: a']);
  });

  it('is invalid with two devices of one name', () => {
    expect(reached([sliceOf('x', devicesNamed('a', 'a'))])).toEqual(['p: invalid']);
  });

  it('is invalid with a quantity that is none', () => {
    expect(reached([sliceOf('x', [deviceOf('a', {}, { capacity: { memory: { value: 'much' } } })])])).toEqual(['p: invalid']);
    const wrong = counters('s', { sharedCounters: [{ name: 's', counters: { mem: { value: 'much' } } }] });
    expect(reached([wrong])).toEqual(['p: invalid']);
  });

  it.each<[string, readonly ResourceSlice[], string]>([
    ['with counters that are there', [sliceOf('x', [using('a', 's')], { pool: two }), counters('s', { pool: two })], 'p: a'],
    [
      'with a set that is not there',
      [sliceOf('x', [using('a', 't')], { pool: two }), counters('s', { pool: two })],
      'p: invalid',
    ],
    [
      'with a counter that is not there',
      [sliceOf('x', [using('a', 's', 'io')], { pool: two }), counters('s', { pool: two })],
      'p: invalid',
    ],
    ['with a set that is there twice', [counters('s', { pool: two }), counters('s', { pool: two })], 'p: invalid'],
    [
      "with another node's device that uses what is not there",
      [
        sliceOf('x', [using('a', 's')], { pool: poolOf('p', 3) }),
        counters('s', { pool: poolOf('p', 3) }),
        sliceOf('y', [using('b', 't')], { pool: poolOf('p', 3), nodeName: 'n1' }),
      ],
      'p: invalid',
    ],
  ])('%s is as it should be, or invalid', (_name, slices, expected) => {
    expect(reached(slices)).toEqual([expected]);
  });

  it('is built once for all nodes that reach the same slices', () => {
    const pools = new SlicePools([sliceOf('x', devicesNamed('a'), { allNodes: true })]);
    expect(pools.reachedBy(nodeOf('n1'))[0]).toBe(pools.reachedBy(nodeOf('n2'))[0]);
    const selective = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }] };
    const ofZone = new SlicePools([sliceOf('x', devicesNamed('a'), { nodeSelector: selective })]);
    expect(ofZone.reachedBy(nodeOf('n1', { zone: 'x' }))[0]).toBe(ofZone.reachedBy(nodeOf('n2', { zone: 'y' }))[0]);
  });

  it('is not mixed up with one of the same name of another driver', () => {
    expect(reached([sliceOf('x', devicesNamed('a')), sliceOf('y', devicesNamed('a'), { driver: 'net.example.com' })])).toEqual([
      'p: a',
      'p: a',
    ]);
    expect(driver).not.toBe('net.example.com');
  });
});

/** Everything that is kept of what a node reaches, but for its identity. */
function pictureOf(pools: SlicePools, node: WireNode): unknown {
  return pools.reachedBy(node).map(({ source, state, devices, hasBindingConditions, counters }) => ({
    pool: `${source.driver}/${source.name}`,
    state,
    devices: devices.map(({ given, key, slice }) => [key, given, slice.name]),
    hasBindingConditions,
    counters: counters && {
      sizes: counters.sizes,
      users: counters.users.map(({ name, spec }) => `${name} ${JSON.stringify(spec)}`).sort(),
    },
  }));
}

const zones = ['x', 'y'];
const nodes = ['n0', 'n1', 'n2'].flatMap((name) => zones.map((zone) => nodeOf(name, { zone })));

/** Where a slice can be reached. */
function anyPlace(prng: Prng): Partial<SliceSpec> {
  const inZone = { matchExpressions: [{ key: 'zone', operator: 'In', values: [zones[prng.int(0, 1)] ?? ''] }] };
  const places: Partial<SliceSpec>[] = [
    {},
    { nodeName: 'n1' },
    { allNodes: true },
    { nodeSelector: { nodeSelectorTerms: [inZone] } },
    { perDeviceNodeSelection: true },
  ];
  return prng.pick(places) ?? {};
}

/** A slice of one of a few pools, with anything that a pool depends on. */
function anySlice(prng: Prng, name: string): ResourceSlice {
  const pool = poolOf(prng.pick(['p', 'q']) ?? '', prng.int(1, 3), prng.int(1, 2));
  const place = anyPlace(prng);
  const more = { pool, driver: prng.pick([driver, 'net.example.com']) ?? '', ...place };
  if (prng.chance(0.25)) {
    const value = prng.pick(['4', '4', '8', 'much']) ?? '';
    return sliceOf(name, [], { ...more, sharedCounters: [{ name: prng.pick(['s', 't']) ?? '', counters: { mem: { value } } }] });
  }
  const given = {
    ...(prng.chance(0.5) && { consumesCounters: [{ counterSet: 's', counters: { mem: { value: '1' } } }] }),
    ...(prng.chance(0.2) && { bindingConditions: ['ready'] }),
    ...(place.perDeviceNodeSelection === true && { nodeName: 'n2' }),
  };
  const names = Array.from({ length: prng.int(1, 3) }, (_, index) => (prng.chance(0.9) ? `${name}-${index}` : 'd'));
  const devices = names.map((each) => deviceOf(each, {}, given));
  return sliceOf(name, devices, more);
}

describe('pools that are kept', () => {
  it.each([1, 2, 3, 4, 5])('are those that would be built anew, whatever changes (seed %i)', (seed) => {
    const prng = new Prng(seed);
    const pools = new SlicePools([]);
    // as a store keeps them: a changed object stays at its place
    const slices = new Map<string, ResourceSlice>();
    for (let step = 0; step < 300; step++) {
      const name = `s${prng.int(0, 8)}`;
      const before = slices.get(name);
      const after = prng.chance(0.75) || before === undefined ? anySlice(prng, name) : undefined;
      pools.change(before, after);
      if (after === undefined) slices.delete(name);
      else slices.set(name, after);
      if (prng.chance(0.3)) continue;
      const anew = new SlicePools([...slices.values()]);
      for (const node of nodes) expect(pictureOf(pools, node)).toEqual(pictureOf(anew, node));
    }
    for (const slice of slices.values()) pools.change(slice, undefined);
    expect([nodes.flatMap((node) => pools.reachedBy(node)), pools.kept]).toEqual([[], 0]);
  });

  it('are built anew for a slice of theirs alone', () => {
    const own = (name: string) => sliceOf(name, devicesNamed('a'), { pool: poolOf(name), nodeName: name });
    const [first, second] = [own('n1'), own('n2')];
    const everywhere = sliceOf('all', devicesNamed('a'), { pool: poolOf('all'), allNodes: true });
    const pools = new SlicePools([first, second, everywhere]);
    const seen = () => ['n1', 'n2'].map((name) => pools.reachedBy(nodeOf(name)));
    const [before, again] = [seen(), seen()];
    expect(again.flat().every((pool, index) => pool === before.flat()[index])).toBe(true);
    pools.change(first, own('n1'));
    const after = seen();
    const isSame = after.map((list, node) => list.map((pool, index) => pool === before[node]?.[index]));
    expect(isSame).toEqual([
      [true, false],
      [true, true],
    ]);
  });

  it('take a change without a look at the other slices of the pool', () => {
    const count = 100;
    let looks = 0;
    const make = (name: string): ResourceSlice => {
      const slice = sliceOf(name, devicesNamed(name), { pool: poolOf('p', count) });
      const { nodeName: _none, ...spec } = slice.spec;
      const counted = Object.defineProperty({ ...spec }, 'allNodes', { get: () => ++looks > 0 });
      return { ...slice, spec: counted };
    };
    const slices = Array.from({ length: count }, (_, index) => make(`s${index}`));
    const pools = new SlicePools(slices);
    for (const slice of slices) pools.change(slice, make(slice.metadata?.name ?? ''));
    expect(looks).toBeLessThan(20 * count);
    expect(pools.reachedBy(nodeOf()).map(({ devices }) => devices.length)).toEqual([count]);
  });

  it('refuse a change of a slice that they do not know', () => {
    const pools = new SlicePools([sliceOf('s', devicesNamed('a'))]);
    expect(() => pools.change(sliceOf('s', devicesNamed('a')), undefined)).toThrow('a slice that is not there');
  });

  it('are no more than a few times the slices, whatever nodes reach which', () => {
    const count = 12;
    const keys = Array.from({ length: count }, (_, index) => `k${index}`);
    const selecting = (key: string) => ({ nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] });
    const pools = new SlicePools(
      keys.map((key) => sliceOf(key, devicesNamed(key), { pool: poolOf('p', count), nodeSelector: selecting(key) })),
    );
    let most = 0;
    for (let labels = 1; labels < 2 ** count; labels++) {
      const given = keys.filter((_, index) => labels & (1 << index));
      const [pool] = pools.reachedBy(nodeOf('n0', Object.fromEntries(given.map((key) => [key, '']))));
      expect(pool?.devices.map((each) => each.given.name)).toEqual(given.toSorted());
      most = Math.max(most, pools.kept);
    }
    expect(most).toBeGreaterThan(count);
    expect(most).toBeLessThan(16 * count);
  });
});
