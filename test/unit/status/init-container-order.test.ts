import { describe, expect, it } from 'vitest';
import { normalizeStatus } from '../../../src/status/canonical/normalize-status.ts';
import type { WireContainerStatus, WirePod } from '../../../src/wire/types.ts';

const order = ['first', 'second', 'third', 'fourth'];
const pod: WirePod = { spec: { containers: [], initContainers: order.map((name) => ({ name })) } };
const statusOf = (name: string): WireContainerStatus => ({
  name,
  image: `image of ${name}`,
  imageID: '',
  ready: true,
  restartCount: 0,
  state: {},
  lastState: {},
});
const normalized = (statuses: WireContainerStatus[]): WireContainerStatus[] | undefined =>
  normalizeStatus(pod, { initContainerStatuses: statuses }).initContainerStatuses;

describe('order of init container statuses', () => {
  it.each([
    ['keeps spec order', 'T-TY-05', order, order],
    ['brings a shuffled list into spec order', 'T-TY-06', ['second', 'first', 'fourth', 'third'], order],
    ['brings two of four into spec order', 'T-TY-07', ['fourth', 'first'], ['first', 'fourth']],
    ['keeps two of four that are in spec order', 'T-TY-08', ['first', 'third'], ['first', 'third']],
  ])('%s [%s]', (_behaviour, _id, given, wanted) => {
    const input = given.map(statusOf);
    expect(normalized(input)).toEqual(wanted.map(statusOf));
    expect(input).toEqual(given.map(statusOf));
  });

  // An agent may keep its statuses in a map by name; the map's order must not change the result.
  it.each([
    ['lists a map filled in spec order', 'T-TY-09', order, order],
    ['lists a map filled in another order', 'T-TY-10', ['fourth', 'second', 'third', 'first'], order],
    ['lists a map with a gap, filled in another order', 'T-TY-11', ['fourth', 'first', 'third'], ['first', 'third', 'fourth']],
    ['lists a map with a gap, filled in spec order', 'T-TY-12', ['first', 'third', 'fourth'], ['first', 'third', 'fourth']],
  ])('%s [%s]', (_behaviour, _id, filled, wanted) => {
    const byName = new Map(filled.map((name) => [name, statusOf(name)]));
    expect(normalized([...byName.values()])).toEqual(wanted.map(statusOf));
  });
});
