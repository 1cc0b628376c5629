import { describe, expect, it } from 'vitest';
import type { DebugSummary } from '../../../../../src/observe/debug/debug-api.ts';
import type { DebugFleet } from '../../../../../src/observe/debug/debug-fleet-api.ts';
import { createDebugHandler } from '../../../../../src/observe/debug/debug-handler.ts';
import { FakeClock } from '../../../../../src/testing.ts';
import type { StreamListener } from '../../../../../tools/page/src/model/connection.ts';
import { fleetSeries } from '../../../../../tools/page/src/model/fleet-columns.ts';
import { Model } from '../../../../../tools/page/src/model/model.ts';
import { SampleFleet } from '../../../../real/browser/debug-page/sample-fleet.ts';
import { podDetails, podRow, summaryOf } from '../../../../real/browser/debug-page/sample-pods.ts';
import { serveLocally } from '../../../../support/serve-locally.ts';

const head = { name: 'edge', state: 'running', members: 4, problemCount: 0 };

/** The page's model, which asks a real handler for the fleet. */
async function setUp(sample: SampleFleet, address = '', summary: Partial<DebugSummary> = { state: 'none', fleet: head }) {
  const clock = new FakeClock();
  const handler = createDebugHandler({ fleet: sample, logger: null });
  const server = await serveLocally(handler);
  const views: string[] = [];
  const reads: string[] = [];
  const pending = new Set<Promise<unknown>>();
  let stream: StreamListener | undefined;
  const ask = <T>(path: string): Promise<T | undefined> => {
    reads.push(path);
    const answer = fetch(new URL(path, server.url)).then((one) => (one.ok ? (one.json() as Promise<T>) : undefined));
    pending.add(answer);
    return answer;
  };
  const model = new Model({
    openStream: (listener) => {
      stream = listener;
      return () => {};
    },
    readPod: async (podUID) => podDetails(podRow(0, { podUID })),
    readPart: async () => undefined,
    readFleet: (query) => ask(`api/fleet?${query}`),
    readFleetNode: (name) => ask(`api/fleet/nodes/${name}`),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    now: () => clock.now(),
    onChange: () => {},
    onView: (view, isStep) => views.push(`${isStep ? 'step' : 'same'}: ${view}`),
  });
  model.start(address);
  stream?.onSnapshot({ summary: { ...summaryOf([]), ...summary }, traffic: [], pods: [] });
  /** All that was asked is answered, and what is asked again then, too. */
  const settled = async (): Promise<void> => {
    do {
      await Promise.all(pending);
      pending.clear();
      await clock.advance(500);
    } while (pending.size > 0);
  };
  await settled();
  return {
    model,
    views,
    reads,
    settled,
    async [Symbol.asyncDispose]() {
      handler.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('the model of a fleet', () => {
  it('is read where there is nothing but a fleet, and each second again', async () => {
    await using at = await setUp(new SampleFleet({ nodes: 10 }));
    const { model, reads } = at;
    expect([model.isFleetShown, model.hasPods, model.fleet.fleet?.known]).toEqual([true, false, 10]);
    expect(reads).toEqual(['api/fleet?from=0&count=200&sort=need']);
    model.tick();
    await at.settled();
    expect(reads).toHaveLength(2);
  });

  it('is not read beside pods until somebody wants it, nor after that', async () => {
    await using at = await setUp(new SampleFleet(), '', { state: 'running', fleet: head });
    const { model, reads, views } = at;
    expect([model.isFleetShown, reads]).toEqual([false, []]);
    model.openPanelOf('fleet');
    await at.settled();
    expect([model.isFleetShown, model.fleet.fleet?.known, views]).toEqual([true, 200, ['step: panel=fleet']]);
    model.open('uid-1');
    model.tick();
    await at.settled();
    expect([model.isFleetShown, model.fleet.fleet, reads.length]).toEqual([false, undefined, 1]);
  });

  it('has a filter, an order and an open node, which the address keeps', async () => {
    const sample = new SampleFleet({ nodes: 40, shards: 8 });
    await using at = await setUp(sample);
    const { model, views } = at;
    model.filterFleetBy({ text: ' node  member-1 ', states: ['elsewhere'] });
    model.filterFleetBy({ sort: 'shard', descending: true });
    await at.settled();
    expect(at.reads.at(-1)).toBe('api/fleet?from=0&count=200&filter=node+member-1&state=elsewhere&sort=-shard');
    expect(model.fleet.row(0)).toMatchObject({ nodeName: 'node-00005', owner: 'member-1' });
    model.openFleetNode('node-00005');
    await at.settled();
    expect(model.fleet.openNode?.shown?.row).toMatchObject({ why: 'member-1 owns its shard' });
    const address = '#panel=fleet&node=node-00005&nodes=+node++member-1+&state=elsewhere&order=-shard';
    expect(views.at(-1)).toBe(`step: ${address.slice(1)}`);
    model.close();
    expect([model.hasPanel, model.isFleetShown]).toEqual([false, true]);

    await using again = await setUp(sample, address);
    expect(again.model.fleet.filter).toEqual(model.fleet.filter);
    expect(again.model.fleet.openNode?.key).toBe('node-00005');
    again.model.clearFilter();
    again.model.toggleTrouble();
    expect(again.views.at(-1)).toBe('same: panel=fleet&node=node-00005&failing=yes&order=-shard');
  });

  it('reads the rows that come in sight, and only those', async () => {
    await using at = await setUp(new SampleFleet({ nodes: 10_000 }));
    const { model } = at;
    model.fleet.look(0, 60);
    await at.settled();
    expect(at.reads).toHaveLength(1);
    model.fleet.look(9_000, 9_060);
    expect(model.fleet.row(9_000)).toBeUndefined();
    await at.settled();
    expect(at.reads.at(-1)).toBe('api/fleet?from=8940&count=200&sort=need');
    expect([model.fleet.row(9_000)?.nodeName, model.fleet.row(0)]).toEqual(['node-09000', undefined]);
    model.fleet.look(9_940, 10_000);
    await at.settled();
    expect([model.fleet.row(9_999)?.nodeName, model.fleet.moveActive(Number.MAX_SAFE_INTEGER)]).toEqual(['node-09999', 9_999]);
    model.filterFleetBy({ text: 'node-0000' });
    await at.settled();
    expect([model.fleet.fleet?.matching, model.fleet.active, model.fleet.row(9)?.nodeName]).toEqual([10, -1, 'node-00009']);
    expect([model.fleet.moveActive(1), model.fleet.moveActive(99), model.fleet.moveActive(-3)]).toEqual([0, 9, 6]);
  });

  it('asks for no more words and states than the server takes', async () => {
    await using at = await setUp(new SampleFleet({ nodes: 3 }));
    const words = Array.from({ length: 30 }, (_, index) => `w${index}`);
    at.model.filterFleetBy({ text: words.join(' '), states: words });
    await at.settled();
    expect([at.model.fleet.failure, at.model.fleet.fleet?.matching]).toEqual([undefined, 0]);
  });
});

describe('the chart of a fleet', () => {
  const member = (slot: number): DebugFleet['history']['members'][number] => ({ id: `m${slot}`, slot, shards: [slot, 1] });

  it('has a series for each member, in a colour that it keeps', () => {
    const series = fleetSeries({ at: [1, 2], members: [member(2), member(0)] });
    expect(series.map(({ name, colour }) => [name, colour])).toEqual([
      ['m0', 'patch'],
      ['m2', 'delete'],
    ]);
  });

  it('has one for all that have no colour', () => {
    const series = fleetSeries({ at: [1, 2], members: [0, 5, 6, 9].map(member) });
    expect(series.at(-1)).toEqual({ name: '2 others', colour: 'others', values: [15, 2] });
    expect(series).toHaveLength(3);
  });
});
