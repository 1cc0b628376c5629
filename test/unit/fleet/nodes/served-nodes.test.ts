import { describe, expect, it } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import type { FleetNodeOptions } from '../../../../src/fleet/nodes/fleet-node-options.ts';
import { ServedNodes } from '../../../../src/fleet/nodes/served-nodes.ts';
import { shardOf } from '../../../../src/fleet/placement.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { FakeAgents } from './fake-agents.ts';

/** Names of nodes that fall into a shard of four. */
const namesOf = (shard: number): string[] =>
  Array.from({ length: 60 }, (_, i) => `n${i}`).filter((name) => shardOf(name, 4) === shard);
const [one = '', two = ''] = namesOf(1);
const [other = ''] = namesOf(2);
const admitPod = () => ({ admit: true }) as const;

function world() {
  const agents = new FakeAgents();
  const metrics = new MetricsRecorder();
  const left: string[] = [];
  const leftAts: number[] = [];
  const removal = { takesMs: 0, isWanted: (): boolean => false, succeeds: true };
  const hasLeft = async (name: string, _: unknown, isWanted: () => boolean, leftAt: number): Promise<boolean> => {
    left.push(name);
    leftAts.push(leftAt);
    removal.isWanted = isWanted;
    if (removal.takesMs > 0) await agents.after(removal.takesMs);
    return removal.succeeds;
  };
  const nodes = new ServedNodes({ ...agents.options(), shards: 4, hasLeft, metrics: metricsOption(metrics) });
  const { clock } = agents;
  /** The member owns shard 1, and its nodes run. */
  const gained = async (...names: string[]): Promise<void> => {
    for (const name of names) nodes.added({ name });
    void nodes.gained(1, agents.term(1));
    await clock.advance(0);
  };
  return { agents, metrics, left, leftAts, removal, nodes, gained, clock };
}

describe('the nodes that a member serves', () => {
  it('are those of its shards, whichever comes first, the node or the shard', async () => {
    const { agents, nodes, clock, gained } = world();
    for (const name of [one, other]) nodes.added({ name });
    await clock.advance(0);
    expect([agents.took(), nodes.known.size, nodes.nodesOf(1), nodes.nodesOf(3)]).toEqual([[], 2, 1, 0]);
    await gained();
    expect(agents.took()).toEqual([`start ${one}`]);
    nodes.added({ name: two });
    await clock.advance(0);
    expect([agents.took(), nodes.nodesOf(1)]).toEqual([[`start ${two}`], 2]);
  });

  it.each([true, false])('end with their shard, in peace: %s, and the call ends when they have', async (inPeace) => {
    const { agents, nodes, clock, gained } = world();
    await gained(one, two);
    agents.stops = () => agents.after(3000);
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
    };
    const ended = (inPeace ? nodes.handOver(1) : nodes.lost(1)).then(end);
    await clock.advance(2999);
    expect([hasEnded, nodes.served.size]).toEqual([false, 2]);
    await clock.advance(1);
    await ended;
    expect([hasEnded, nodes.served.size, nodes.known.size]).toEqual([true, 0, 2]);
    expect(agents.limits.map(({ drainTimeoutMs }) => drainTimeoutMs)).toEqual(inPeace ? [4000, 4000] : [0, 0]);
  });

  it('start again where the shard comes back while they end: each once the one before has ended', async () => {
    const { agents, nodes, clock, gained } = world();
    await gained(one);
    agents.stops = () => agents.after(3000);
    void nodes.lost(1);
    await clock.advance(0);
    void nodes.gained(1, agents.term(1));
    await clock.advance(2999);
    expect(agents.took()).toEqual([`start ${one}`, `stop ${one}`]);
    await clock.advance(1);
    expect([agents.took(), agents.mostOfOneName, nodes.served.get(one)?.state]).toEqual([[`start ${one}`], 1, 'running']);
  });

  it('do not come while their shard is handed over', async () => {
    const { agents, nodes, clock, gained } = world();
    await gained(one);
    agents.stops = () => agents.after(3000);
    void nodes.handOver(1);
    nodes.added({ name: two });
    nodes.added({ name: one, options: {} });
    await clock.advance(10_000);
    expect([agents.took(), nodes.served.size]).toEqual([[`start ${one}`, `stop ${one}`], 0]);
  });

  it('end when they leave the fleet, which is told then, and come again when they are added again', async () => {
    const { agents, nodes, clock, left, gained } = world();
    await gained(one);
    agents.stops = () => agents.after(1000);
    nodes.removed(one);
    nodes.removed('unknown');
    await clock.advance(999);
    expect([left, nodes.known.size, nodes.nodesOf(1)]).toEqual([[], 0, 0]);
    await clock.advance(1);
    expect([left, nodes.served.size]).toEqual([[one], 0]);
    nodes.added({ name: one });
    await clock.advance(0);
    expect(agents.took()).toEqual([`start ${one}`, `stop ${one}`, `start ${one}`]);
  });

  it('that leave and come again before they have ended have not left', async () => {
    const { agents, nodes, clock, left, gained } = world();
    await gained(one);
    agents.stops = () => agents.after(1000);
    nodes.removed(one);
    nodes.added({ name: one });
    await clock.advance(5000);
    expect([left, agents.took(), agents.mostOfOneName]).toEqual([[], [`start ${one}`, `stop ${one}`, `start ${one}`], 1]);
  });

  it('that come again while what they have left is removed start once that is over', async () => {
    const { agents, nodes, clock, left, removal, gained } = world();
    await gained(one);
    removal.takesMs = 3000;
    nodes.removed(one);
    await clock.advance(1000);
    expect([left, removal.isWanted()]).toEqual([[one], false]);
    nodes.added({ name: one });
    await clock.advance(1999);
    expect([removal.isWanted(), agents.took()]).toEqual([true, [`start ${one}`, `stop ${one}`]]);
    await clock.advance(1);
    expect([left, agents.took()]).toEqual([[one], [`start ${one}`]]);
  });

  it('that come again and leave again meanwhile are removed once more', async () => {
    const { agents, nodes, clock, left, removal, gained } = world();
    await gained(one);
    removal.takesMs = 3000;
    nodes.removed(one);
    await clock.advance(1000);
    nodes.added({ name: one });
    await clock.advance(1000);
    nodes.removed(one);
    await clock.advance(999);
    expect(left).toEqual([one]);
    await clock.advance(10_000);
    expect([left, agents.took()]).toEqual([
      [one, one],
      [`start ${one}`, `stop ${one}`],
    ]);
    nodes.added({ name: one });
    await clock.advance(0);
    expect(agents.took()).toEqual([`start ${one}`]);
  });

  it('that are being removed hold up the hand-over of their shard, so that nothing of the next owner is removed; not its loss', async () => {
    const { nodes, clock, removal, gained } = world();
    await gained(one);
    removal.takesMs = 3000;
    nodes.removed(one);
    const ended: string[] = [];
    void nodes.lost(1).then(() => ended.push('lost'));
    await clock.advance(100);
    expect(ended).toEqual(['lost']);
    void nodes.handOver(1).then(() => ended.push('handed over'));
    await clock.advance(2899);
    expect(ended).toEqual(['lost']);
    await clock.advance(1);
    expect(ended).toEqual(['lost', 'handed over']);
  });

  it('of another member are not told to have left', async () => {
    const { nodes, clock, left } = world();
    nodes.added({ name: other });
    nodes.removed(other);
    await clock.advance(0);
    expect([left, nodes.known.size]).toEqual([[], 0]);
  });

  it('have left to the next owner of their shard, where it comes within ten minutes, and once more where that has failed', async () => {
    const { nodes, clock, left, removal, gained } = world();
    nodes.added({ name: one });
    nodes.added({ name: two });
    nodes.removed(one);
    nodes.removed(two);
    nodes.added({ name: two });
    removal.succeeds = false;
    await gained();
    expect(left).toEqual([one]);
    await nodes.lost(1);
    removal.succeeds = true;
    await gained();
    expect(left).toEqual([one, one]);
    await nodes.lost(1);
    await gained();
    await nodes.lost(1);
    expect(left).toEqual([one, one]);
    nodes.removed(two);
    await clock.advance(600_001);
    await gained();
    expect(left).toEqual([one, one]);
  });

  it.each<[string, FleetNodeOptions | undefined, FleetNodeOptions | undefined]>([
    ['the same ones', { capacity: { cpu: '2' } }, { capacity: { cpu: '2' } }],
    ['none', undefined, {}],
    ['the same function', { admitPod }, { admitPod }],
  ])('go on where they are added again with options that say the same: %s', async (_, first, again) => {
    const { agents, nodes, clock, gained } = world();
    nodes.added({ name: one, ...(first !== undefined && { options: first }) });
    await gained();
    nodes.added({ name: one, ...(again !== undefined && { options: again }) });
    await clock.advance(10_000);
    expect(agents.took()).toEqual([`start ${one}`]);
  });

  it.each<[string, FleetNodeOptions | undefined, FleetNodeOptions | undefined]>([
    ['another value', { capacity: { cpu: '2' } }, { capacity: { cpu: '3' } }],
    ['none any more', { capacity: { cpu: '2' } }, undefined],
    ['another function', { admitPod }, { admitPod: () => ({ admit: true }) }],
  ])('start again with other options: %s', async (_, first, again) => {
    const { agents, nodes, clock, gained } = world();
    nodes.added({ name: one, ...(first !== undefined && { options: first }) });
    await gained();
    const node = { name: one, ...(again !== undefined && { options: again }) };
    nodes.added(node);
    await clock.advance(0);
    expect(agents.took()).toEqual([`start ${one}`, `stop ${one}`, `start ${one}`]);
    expect(nodes.served.get(one)?.node).toEqual(node);
  });

  it('are counted in: how long it takes until those of a shard run', async () => {
    const { agents, metrics, clock, gained } = world();
    agents.starts = () => agents.after(1500);
    await gained(one);
    await clock.advance(2000);
    expect(metrics.values('pod_status_manager_fleet_handover_duration_seconds', { direction: 'in' })).toEqual([1.5]);
  });
});

describe('nodes that leave', () => {
  it('leave what was made before to the next owner alone, and all that there is where this one ran them', async () => {
    const { nodes, clock, left, leftAts, gained } = world();
    nodes.added({ name: one });
    nodes.removed(one);
    const at = clock.now();
    await clock.advance(5000);
    await gained();
    nodes.added({ name: two });
    nodes.removed(two);
    await clock.advance(0);
    expect([left, leftAts]).toEqual([
      [one, two],
      [at, Number.POSITIVE_INFINITY],
    ]);
  });

  it('of another shard have not left to the owner of this one', async () => {
    const { nodes, left, gained } = world();
    nodes.added({ name: other });
    nodes.removed(other);
    await gained();
    expect(left).toEqual([]);
  });

  it('and come again before their shard comes are started once', async () => {
    const { agents, nodes, clock, gained } = world();
    nodes.added({ name: one });
    nodes.removed(one);
    nodes.added({ name: one });
    await gained();
    await clock.advance(10_000);
    expect(agents.took()).toEqual([`start ${one}`]);
  });

  it('and come again while their removal fails are not remembered as gone', async () => {
    const { agents, nodes, clock, left, removal, gained } = world();
    await gained(one);
    removal.succeeds = false;
    removal.takesMs = 3000;
    nodes.removed(one);
    await clock.advance(1000);
    nodes.added({ name: one });
    await clock.advance(2000);
    await nodes.lost(1);
    agents.took();
    await gained();
    await clock.advance(10_000);
    expect([left, agents.took()]).toEqual([[one], [`start ${one}`]]);
  });

  it('twice start again only once the second removal is over', async () => {
    const { agents, nodes, clock, removal, gained } = world();
    await gained(one);
    removal.takesMs = 3000;
    nodes.removed(one);
    await clock.advance(1000);
    nodes.added({ name: one });
    nodes.removed(one);
    await clock.advance(2500);
    nodes.added({ name: one });
    agents.took();
    await clock.advance(2499);
    expect(agents.took()).toEqual([]);
    await clock.advance(1);
    expect(agents.took()).toEqual([`start ${one}`]);
  });

  it('hold up the hand-over of their own shard alone', async () => {
    const { agents, nodes, clock, removal, gained } = world();
    await gained(one);
    nodes.added({ name: other });
    void nodes.gained(2, agents.term(2));
    removal.takesMs = 3000;
    nodes.removed(other);
    let hasEnded = false;
    void nodes.handOver(1).then(() => {
      hasEnded = true;
    });
    await clock.advance(0);
    expect(hasEnded).toBe(true);
    await clock.advance(3000);
  });

  it('are remembered so many, the last ones', async () => {
    const { nodes, clock, left, gained } = world();
    const names = Array.from({ length: 42_000 }, (_, i) => `m${i}`).filter((name) => shardOf(name, 4) === 1);
    const all = names.slice(0, 10_001);
    for (const name of all) {
      nodes.added({ name });
      nodes.removed(name);
    }
    await gained();
    await clock.advance(0);
    expect([left.length, left.includes(all[0] ?? ''), left.at(-1)]).toEqual([10_000, false, all.at(-1)]);
  });

  it.each([2, 5])('are none where a node only gets %i new options at once: it ends and starts once', async (changes) => {
    const { agents, nodes, clock, gained } = world();
    await gained(one);
    agents.stops = () => agents.after(1000);
    agents.took();
    for (let cpu = 1; cpu <= changes; cpu += 1) nodes.added({ name: one, options: { capacity: { cpu: String(cpu) } } });
    await clock.advance(5000);
    expect(agents.took()).toEqual([`stop ${one}`, `start ${one}`]);
    expect([nodes.served.size, agents.running(one)]).toEqual([1, 1]);
  });
});
