import { describe, expect, it } from 'vitest';
import { Random } from '../../../../examples/virtual-node/random.ts';
import { type CacheVersion, SchedulerCache } from '../../../../src/scheduler/cache/scheduler-cache.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { NodePlaces } from '../../../../src/scheduler/framework/node-places.ts';
import { placedAnswersOf } from '../../../../src/scheduler/framework/placed-plugin.ts';
import type { PluginHandle } from '../../../../src/scheduler/framework/plugin.ts';
import type { Snapshot } from '../../../../src/scheduler/nodes/node-info.ts';
import type { PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { imageLocality } from '../../../../src/scheduler/plugins/image-locality.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { podInfo } from '../framework-world.ts';

const mebibyte = 1024 ** 2;

const node = (name: string, images: Readonly<Record<string, number>> = {}) => ({
  metadata: { name },
  status: { images: Object.entries(images).map(([image, size]) => ({ names: [image], sizeBytes: size * mebibyte })) },
});

const podOf = (...images: string[]): PodInfo =>
  podInfo('p', { containers: images.map((image, index) => ({ name: `c${index}`, image })) });

/** One plugin for a whole run: what it says of the nodes by their places, and what it says of each node by itself. */
class ImageWorld {
  readonly cache: SchedulerCache;
  readonly #places = new NodePlaces();

  constructor(version: CacheVersion = 'v1.36') {
    this.cache = new SchedulerCache({ clock: new FakeClock(), version });
  }

  readonly #plugin = imageLocality(undefined, {
    snapshot: () => this.cache.updateSnapshot(),
  } as Partial<PluginHandle> as PluginHandle);

  /** Undefined where each node is to be asked. */
  byPlace(pod: PodInfo): readonly number[] | 'skip' | undefined {
    return this.ask(pod, this.cache.updateSnapshot());
  }

  /** With the snapshot as it is. */
  ask(pod: PodInfo, snapshot: Snapshot): readonly number[] | 'skip' | undefined {
    this.#places.begin(snapshot);
    const state = new CycleState();
    const answers = placedAnswersOf(this.#plugin);
    const at = [...snapshot.nodes.keys()];
    const begun = answers?.preScore?.(state, pod, at, this.#places);
    if (begun !== 'done') return begun;
    const score = answers?.score?.(state, this.#places);
    return at.map((place) => score?.(place) ?? Number.NaN);
  }

  byNode(pod: PodInfo): readonly number[] {
    const state = new CycleState();
    const { nodes } = this.cache.updateSnapshot();
    this.#plugin.preScore?.(state, pod, nodes);
    return nodes.map((each) => this.#plugin.score?.(state, pod, each) ?? Number.NaN);
  }
}

describe('ImageLocality by places', () => {
  /** Asked so often, what is found out of an image is kept. */
  function knowing(pod: PodInfo): ImageWorld {
    const world = new ImageWorld();
    for (const name of ['n1', 'n2', 'n3']) world.cache.addNode(node(name, name === 'n3' ? {} : { 'big:1': 900 }));
    for (let turn = 0; turn < 3; turn += 1) expect(world.byPlace(pod)).toEqual([59, 59, 0]);
    return world;
  }
  const big = podOf('big:1');

  it.each([
    ['a node has its images no more', ({ cache }) => cache.addNode(node('n1', { 'other:1': 900 })), [0, 28, 0]],
    ['a node has lost all images', ({ cache }) => cache.addNode(node('n2')), [28, 0, 0]],
    ['one more node has an image', ({ cache }) => cache.addNode(node('n3', { 'big:1': 5 })), [89, 89, 89]],
    [
      'an image has moved',
      ({ cache }) => [node('n1'), node('n3', { 'big:1': 9 })].map((each) => cache.addNode(each)),
      [0, 59, 59],
    ],
    ['a node is gone', ({ cache }) => cache.removeNode(node('n1')), [43, 0]],
    [
      'a node is gone and back without its images',
      ({ cache }) => [cache.removeNode(node('n1')), cache.addNode(node('n1'))],
      [28, 0, 0],
    ],
    ['a node comes', ({ cache }) => cache.addNode(node('n4', { 'big:1': 1 })), [66, 66, 0, 66]],
    [
      'all nodes have a smaller image of the same name',
      ({ cache }) => [node('n1'), node('n2'), node('n1', { 'big:1': 300 })].map((each) => cache.addNode(each)),
      [7, 0, 0],
    ],
  ] satisfies readonly (readonly [
    string,
    (world: ImageWorld) => unknown,
    readonly number[],
  ])[])('knows at once where %s', (_what, change, scores) => {
    const world = knowing(big);
    change(world);
    expect(world.byNode(big)).toEqual(scores);
    expect(world.byPlace(big)).toEqual(scores);
  });

  it('knows another size of an image that one node has', () => {
    const world = new ImageWorld();
    world.cache.addNode(node('n1', { 'own:1': 500 }));
    const own = podOf('own:1');
    for (let turn = 0; turn < 3; turn += 1) expect(world.byPlace(own)).toEqual([48]);
    world.cache.addNode(node('n1', { 'own:1': 900 }));
    expect([world.byPlace(own), world.byNode(own)]).toEqual([[89], [89]]);
  });

  it('looks at no node for images that are worth nothing even together', () => {
    const world = new ImageWorld();
    world.cache.addNode(node('n1', { 'a:1': 10, 'b:1': 13, 'c:1': 20, 'd:1': 60 }));
    expect(world.byPlace(podOf('a:1', 'b:1', 'absent'))).toBe('skip');
    expect(world.byPlace(podOf('a:1', 'b:1', 'c:1'))).toBe('skip');
    expect(world.byNode(podOf('a:1', 'b:1', 'c:1'))).toEqual([0]);
    expect(world.byPlace(podOf('a:1', 'b:1', 'd:1'))).toEqual([2]);
    expect(world.byNode(podOf('a:1', 'b:1', 'd:1'))).toEqual([2]);
  });

  it('asks each node where nodes have changed since the snapshot, or say different things of an image', () => {
    const world = new ImageWorld();
    world.cache.addNode(node('n1', { 'big:1': 900 }));
    const snapshot = world.cache.updateSnapshot();
    expect(world.ask(big, snapshot)).toEqual([89]);
    world.cache.addNode(node('n2', { 'big:1': 900 }));
    expect(world.ask(big, snapshot)).toBeUndefined();
    const classic = new ImageWorld('v1.22');
    classic.cache.addNode(node('n1', { 'big:1': 900 }));
    expect(classic.byPlace(big)).toBeUndefined();
    expect(classic.byNode(big)).toEqual([89]);
  });

  it.each(
    Array.from({ length: 12 }, (_, seed) => seed + 1),
  )('scores as each node by itself, whatever happens (seed %i)', (seed) => {
    const random = new Random(seed);
    const below = (end: number): number => Math.floor(random.next() * end);
    const world = new ImageWorld();
    const names = ['a:1', 'b:1', 'c:1', 'd:1'];
    const someImages = () => Object.fromEntries(names.filter(() => random.chance(0.4)).map((name) => [name, below(1500) - 100]));
    for (let turn = 0; turn < 300; turn += 1) {
      const name = `n${below(12)}`;
      for (let change = below(3); change > 0; change -= 1) {
        const dice = random.next();
        if (dice < 0.2) world.cache.removeNode(node(name));
        else if (dice < 0.3) world.cache.assumePod(podInfo(`p${turn}-${change}`), name);
        else world.cache.addNode(node(name, someImages()));
      }
      const pod = podOf(...names.filter(() => random.chance(0.4)), ...(random.chance(0.2) ? ['a:1', 'a:1'] : []));
      const scores = world.byNode(pod);
      const placed = world.byPlace(pod);
      expect(placed === 'skip' ? scores.map(() => 0) : placed).toEqual(scores);
    }
  });
});
