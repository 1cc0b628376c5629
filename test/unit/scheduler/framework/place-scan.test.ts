import { describe, expect, it } from 'vitest';
import { DomainCheck } from '../../../../src/scheduler/framework/domain-check.ts';
import { FilterColumn } from '../../../../src/scheduler/framework/kept-columns.ts';
import { NodePlaces } from '../../../../src/scheduler/framework/node-places.ts';
import { type KnownAnswers, PlaceScan } from '../../../../src/scheduler/framework/place-scan.ts';
import type { PluginRejection, Rejection } from '../../../../src/scheduler/framework/plugin.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../support/node-snapshots.ts';

const far: Rejection = { code: 'Unschedulable', reasons: ['far'] };
const nowhere: Rejection = { code: 'UnschedulableAndUnresolvable', reasons: ['nowhere'] };

/** Six nodes in the zones `a`, `b` and none, in turns, of which all filters agree to all that are known. */
function world(known: Partial<KnownAnswers> = {}) {
  const nodes = Array.from({ length: 6 }, (_, index) => {
    const zone = [{ zone: 'a' }, { zone: 'b' }, {}][index % 3];
    return createNodeInfo({ metadata: { name: `n${index}`, labels: { ...zone } } });
  });
  const places = new NodePlaces();
  places.begin(nodeSnapshotOf(nodes));
  places.domains('zone');
  const domains = places.domains('zone');
  if (domains === undefined) throw new Error('the key came twice');
  const column = new FilterColumn();
  column.begin(places.epoch, nodes.length);
  for (const place of nodes.keys()) column.agree(place, places.generations[place] as number);
  const asked: number[] = [];
  const reject = (place: number): PluginRejection => ({ plugin: 'Test', code: 'Unschedulable', reasons: [`asked of ${place}`] });
  const all: KnownAnswers = {
    ...{ places, column, checks: [], odd: new Set<number>() },
    verdict(_node, place) {
      asked.push(place);
      return reject(place);
    },
    ...known,
  };
  const scan = new PlaceScan(all);
  const why = () => [...scan.rejections()].map(([{ name }, { reasons }]) => `${name}: ${reasons.join()}`);
  return { scan, asked, column, domains, places, all, why };
}

describe('PlaceScan', () => {
  it('asks of no node that is known, goes round and ends when there are enough', () => {
    const { scan, asked, why } = world();
    expect(scan.run(4, 3)).toEqual([4, 5, 0]);
    expect([scan.rejected, asked, why()]).toEqual([0, [], []]);
  });

  it('asks of a promised node and of one that has changed, and once only', () => {
    const { scan, asked, places, why } = world({ odd: new Set([2]) });
    places.generations[5] = 99;
    expect(scan.run(0, 6)).toEqual([0, 1, 3, 4]);
    expect([scan.rejected, asked]).toEqual([2, [2, 5]]);
    expect(why()).toEqual(['n2: asked of 2', 'n5: asked of 5']);
    expect(asked).toEqual([2, 5]);
  });

  it('passes over what is known not to fit, and says why when that is asked for', () => {
    const { scan, asked, column, places, why } = world();
    column.reject(1, places.generations[1] as number, {
      filter: 0,
      rejection: { plugin: 'Test', code: 'Unschedulable', reasons: ['full'] },
    });
    expect(scan.run(0, 6)).toEqual([0, 2, 3, 4, 5]);
    expect(asked).toEqual([]);
    expect([scan.rejected, why(), asked]).toEqual([1, ['n1: asked of 1'], [1]]);
  });

  it('passes over the domains that any of the checks rejects', () => {
    const { domains, all } = world();
    const agreeing = DomainCheck.of(domains, { rejection: far, lacking: undefined }, true, []);
    const notA = DomainCheck.of(domains, { rejection: far, lacking: undefined }, true, ['a', 'unknown']);
    expect(new PlaceScan({ ...all, checks: [notA, agreeing] }).run(0, 6)).toEqual([1, 2, 4, 5]);
    expect(new PlaceScan({ ...all, checks: [agreeing, notA] }).run(0, 6)).toEqual([1, 2, 4, 5]);
  });
});

describe('DomainCheck', () => {
  it('asks about each domain once, and never about nodes without the label', () => {
    const { domains } = world();
    const asked: number[] = [];
    const check = DomainCheck.asking(domains, { rejection: far, lacking: nowhere }, (domain) => {
      asked.push(domain);
      return domains.names[domain] === 'b';
    });
    const said = () => [0, 1, 2, 3, 4, 5].map((place) => check.rejection(place)?.reasons.join());
    expect(said()).toEqual([undefined, 'far', 'nowhere', undefined, 'far', 'nowhere']);
    expect(said()).toEqual([undefined, 'far', 'nowhere', undefined, 'far', 'nowhere']);
    expect([0, 1, 2].map((place) => check.isRejected(place))).toEqual([false, true, true]);
    expect(asked).toEqual([0, 1]);
  });

  it('rejects all domains but those that are named, and nodes without the label where it has a reason', () => {
    const { domains } = world();
    const near = DomainCheck.of(domains, { rejection: far, lacking: far }, false, ['a']);
    expect([0, 1, 2].map((place) => near.isRejected(place))).toEqual([false, true, true]);
    const apart = DomainCheck.of(domains, { rejection: far, lacking: undefined }, true, ['a']);
    expect([0, 1, 2].map((place) => apart.rejection(place)?.reasons.join())).toEqual(['far', undefined, undefined]);
  });
});
