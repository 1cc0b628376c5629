import { describe, expect, it } from 'vitest';
import { Random } from '../../../examples/virtual-node/random.ts';
import { demoNodes } from '../../../examples/virtual-node/schedule/demo-nodes.ts';
import { requestsOf, schedulablePod } from '../../../examples/virtual-node/schedule/demo-pods.ts';
import { Placements } from '../../../examples/virtual-node/schedule/placements.ts';
import type { WirePod } from '../../../src/index.ts';
import { barePod } from '../../support/pods.ts';

const nodes = [
  { name: 'small', zone: 'a', has: { milliCPU: 1000, memoryMiB: 1024 } },
  { name: 'large', zone: 'b', has: { milliCPU: 4000, memoryMiB: 8192 } },
];

function pod(name: string, nodeName?: string, cpu = '600m', memory = '256Mi', phase = 'Pending'): WirePod {
  const containers = [{ name: 'app', resources: { requests: { cpu, memory } } }];
  return barePod({ metadata: { name, uid: name }, spec: { ...(nodeName && { nodeName }), containers }, status: { phase } });
}

describe('the placements', () => {
  const watched = () => {
    let now = 0;
    const placements = new Placements(nodes, () => now);
    const add = (object: WirePod) => placements.note({ type: 'ADDED', object, previous: undefined });
    const change = (object: WirePod, previous: WirePod) => placements.note({ type: 'MODIFIED', object, previous });
    const place = (name: string, nodeName: string, cpu?: string, memory?: string) => {
      add(pod(name, undefined, cpu, memory));
      now += 10;
      change(pod(name, nodeName, cpu, memory), pod(name, undefined, cpu, memory));
    };
    return { placements, add, change, place };
  };

  it('count what is on a node until the pod is over or gone', () => {
    const { placements, change, place } = watched();
    place('one', 'large');
    place('two', 'large');
    expect(placements.load('large')).toEqual({ milliCPU: 1200, memoryMiB: 512, pods: 2 });
    change(pod('one', 'large', '600m', '256Mi', 'Succeeded'), pod('one', 'large'));
    placements.note({ type: 'DELETED', object: pod('one', 'large'), previous: pod('one', 'large') });
    placements.note({ type: 'DELETED', object: pod('two', 'large'), previous: pod('two', 'large') });
    expect(placements.load('large')).toEqual({ milliCPU: 0, memoryMiB: 0, pods: 0 });
    expect([placements.placed, Math.round(placements.medianWaitMs() ?? 0), placements.problems]).toEqual([2, 10, []]);
  });

  it.each<[string, (world: ReturnType<typeof watched>) => void, string]>([
    [
      'CPU',
      ({ place }) => {
        for (const name of ['one', 'two']) place(name, 'small');
      },
      'two took more CPU than small had left',
    ],
    ['memory', ({ place }) => place('one', 'small', '1m', '2048Mi'), 'one took more memory than small had left'],
    ['a node that is not there', ({ place }) => place('one', 'other'), 'one is on other, which is no node'],
    [
      'a second node',
      ({ place, change }) => {
        place('one', 'small');
        change(pod('one', 'large'), pod('one', 'small'));
      },
      'one was on small, and is on large',
    ],
    [
      'a pod that loses its node',
      ({ place, change }) => {
        place('one', 'small');
        change(pod('one'), pod('one', 'small'));
      },
      'one was on small, and is on no node',
    ],
  ])('note %s', (_what, happen, problem) => {
    const world = watched();
    happen(world);
    expect(world.placements.problems).toEqual([problem]);
  });

  it('know no wait before a pod has a node', () => {
    const { placements, add } = watched();
    add(pod('one'));
    expect(placements.medianWaitMs()).toBeUndefined();
  });
});

describe('the pods', () => {
  it('have no node, ask for something, and are of three kinds', () => {
    const random = new Random(1);
    const pods = Array.from({ length: 100 }, (_, index) => schedulablePod(`${index}-0`, random));
    expect(new Set(pods.map(({ metadata }) => metadata?.labels?.app))).toEqual(new Set(['web', 'database', 'batch']));
    for (const each of pods) {
      const { milliCPU, memoryMiB } = requestsOf(each);
      expect(each.spec?.nodeName).toBeUndefined();
      expect(milliCPU).toBeGreaterThanOrEqual(250);
      expect(memoryMiB).toBeGreaterThanOrEqual(256);
    }
    const kindOf = ({ spec }: WirePod) => [spec?.topologySpreadConstraints !== undefined, spec?.affinity !== undefined];
    const byApp = new Map(pods.map((each) => [each.metadata?.labels?.app, kindOf(each)]));
    expect([byApp.get('web'), byApp.get('database'), byApp.get('batch')]).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
  });
});

describe('the nodes', () => {
  it('are six of three sizes in three zones', () => {
    expect(new Set(demoNodes.map(({ zone }) => zone)).size).toBe(3);
    expect(new Set(demoNodes.map(({ has }) => has.milliCPU))).toEqual(new Set([4000, 8000, 16_000]));
    expect(new Set(demoNodes.map(({ name }) => name)).size).toBe(6);
  });
});
