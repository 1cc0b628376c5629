import { describe, expect, it } from 'vitest';
import { Random } from '../../../../examples/virtual-node/random.ts';
import { DomainTotals, totalsByDomain } from '../../../../src/scheduler/nodes/domain-totals.ts';

/** Nodes `n0`, `n1` and so on, which are asked for their labels. */
class Nodes {
  labelsVersion = 0;
  asked = 0;
  readonly #zones: (string | undefined)[];

  constructor(count: number) {
    this.#zones = Array.from({ length: count }, (_, index) => `z${index % 3}`);
  }

  setZone(index: number, zone: string | undefined): void {
    this.#zones[index] = zone;
    this.labelsVersion += 1;
  }

  get(name: string) {
    this.asked += 1;
    const zone = this.#zones[Number(name.slice(1))];
    const labels: Record<string, string> = zone === undefined ? {} : { zone, host: name };
    return name === 'n3' ? undefined : { node: { metadata: { name, labels } } };
  }
}

/** So many pods on each of so many nodes. */
function podsOn(nodes: number): Map<string, number> {
  return new Map(Array.from({ length: nodes }, (_, index) => [`n${index}`, 1 + (index % 2)]));
}

describe('DomainTotals', () => {
  it.each([1, 2, 3, 4])('says what counting anew says, whatever changes (seed %i)', (seed) => {
    const random = new Random(seed);
    const [nodes, totals, counts] = [new Nodes(60), new DomainTotals(), podsOn(40)];
    for (let turn = 0; turn < 400; turn += 1) {
      const index = Math.floor(random.next() * 60);
      const name = `n${index}`;
      const before = counts.get(name) ?? 0;
      const by = random.chance(0.5) && before > 0 ? -before : 1;
      if (before + by === 0) counts.delete(name);
      else counts.set(name, before + by);
      totals.change(counts, name, by);
      if (random.chance(0.05)) nodes.setZone(index, random.chance(0.3) ? undefined : `z${index % 4}`);
      if (random.chance(0.3)) continue;
      for (const key of ['zone', 'host', 'none']) {
        const anew = [...totalsByDomain(counts, key, nodes)].sort();
        expect([...totals.of(counts, key, nodes)].sort()).toEqual(anew);
      }
    }
  });

  it('asks only about the nodes that have changed, unless labels have', () => {
    const [nodes, totals, counts] = [new Nodes(60), new DomainTotals(), podsOn(40)];
    const askedFor = () => {
      nodes.asked = 0;
      totals.of(counts, 'zone', nodes);
      return nodes.asked;
    };
    expect([askedFor(), askedFor()]).toEqual([40, 0]);
    totals.change(counts, 'n5', 1);
    expect([askedFor(), askedFor()]).toEqual([1, 0]);
    nodes.setZone(5, 'z9');
    expect([askedFor(), askedFor()]).toEqual([40, 0]);
  });

  it('leaves what it has handed out as it is until it is asked again', () => {
    const [nodes, totals, counts] = [new Nodes(60), new DomainTotals(), podsOn(40)];
    const handedOut = totals.of(counts, 'zone', nodes);
    const before = handedOut.get('z1');
    totals.change(counts, 'n1', 5);
    expect(handedOut.get('z1')).toBe(before);
    expect(totals.of(counts, 'zone', nodes).get('z1')).toBe((before ?? 0) + 5);
  });

  it('keeps nothing of what is gone, and begins anew where many changes wait', () => {
    const [nodes, totals, counts] = [new Nodes(60), new DomainTotals(), podsOn(40)];
    totals.of(counts, 'zone', nodes);
    totals.drop(counts);
    nodes.asked = 0;
    totals.of(counts, 'zone', nodes);
    expect(nodes.asked).toBe(40);
    for (let change = 0; change <= 2 ** 14; change += 1) totals.change(counts, 'n1', change % 2 === 0 ? 1 : -1);
    nodes.asked = 0;
    totals.of(counts, 'zone', nodes);
    expect(nodes.asked).toBe(40);
  });

  it('keeps so many domains at most, whoever names topology keys', () => {
    const [nodes, totals] = [new Nodes(2000), new DomainTotals()];
    let most = 0;
    for (let group = 0; group < 200; group += 1) {
      totals.of(podsOn(2000), 'host', nodes);
      totals.of(podsOn(2000), `none-${group}`, nodes);
      most = Math.max(most, totals.size);
    }
    expect(most).toBeGreaterThan(2 ** 17);
    expect(most).toBeLessThanOrEqual(2 ** 18);
  });

  it('counts what it keeps as it grows, shrinks and goes', () => {
    const [nodes, totals, counts] = [new Nodes(60), new DomainTotals(), podsOn(40)];
    totals.of(counts, 'host', nodes);
    // n3 is not there, and totals of no domain take a place, too
    expect(totals.size).toBe(40);
    totals.change(counts, 'n50', 1);
    totals.of(counts, 'host', nodes);
    expect(totals.size).toBe(41);
    for (const name of ['n50', 'n0']) totals.change(counts, name, -1);
    totals.of(counts, 'host', nodes);
    expect(totals.size).toBe(39);
    totals.drop(counts);
    expect(totals.size).toBe(0);
  });
});
