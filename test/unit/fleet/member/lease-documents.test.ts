import { describe, expect, it } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import { keptAgain } from '../../../../src/fleet/member/kept-shard.ts';
import {
  gainReason,
  identityOf,
  idOf,
  labelled,
  memberMarks,
  shardLeaseName,
  shardOfLease,
  shardsOf,
  withNodes,
  withShards,
} from '../../../../src/fleet/member/lease-documents.ts';
import { names, timing } from './keeper-world.ts';

const shardsAnnotation = 'pod-status-manager/fleet-shards';
const lease = (annotations: Record<string, string>): WireLease => ({ metadata: { annotations } });

describe('the documents of a fleet', () => {
  it.each([
    ['8', 8],
    ['0', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    ['Infinity', undefined],
  ])('name a number of shards only where it is one: %j', (text, shards) => {
    expect(shardsOf(lease({ [shardsAnnotation]: text }))).toBe(shards);
  });

  it('name the shards by three digits, or more, and no shard otherwise', () => {
    expect([shardLeaseName(names, 7), shardLeaseName(names, 1000)]).toEqual(['fleet-edge-shard-007', 'fleet-edge-shard-1000']);
    const shards = ['007', '7', '1000', '0007', '-01', 'x', ''].map((text) =>
      shardOfLease(names, { metadata: { name: `fleet-edge-shard-${text}` } }),
    );
    expect(shards).toEqual([7, undefined, 1000, undefined, undefined, undefined, undefined]);
  });

  it('show so much of what a member says of its process', () => {
    const agent = 'x'.repeat(300);
    expect(memberMarks(lease({ 'pod-status-manager/fleet-agent': agent })).agent).toBe('x'.repeat(256));
  });

  it('keep what others have put into them', () => {
    const metadata = { labels: { mine: 'stays' }, annotations: { mine: 'stays' } };
    expect(labelled({ metadata }, names, 'shard').metadata?.labels).toMatchObject({ mine: 'stays' });
    expect(withShards({ metadata }, 8).metadata?.annotations).toEqual({ mine: 'stays', [shardsAnnotation]: '8' });
    expect(withNodes({ metadata }, true).metadata?.annotations).toMatchObject({ mine: 'stays' });
  });

  it('are as they were where the nodes of a shard neither start nor did', () => {
    const one = lease({ mine: 'stays' });
    expect(withNodes(one, false)).toBe(one);
    expect(withNodes(withNodes(one, true), false)).toEqual(one);
  });

  it('name a holder by the id of its member, and by a part that no other process has', () => {
    expect([idOf(identityOf('a', 'p')), idOf('a_b_p'), idOf('somebody')]).toEqual(['a', 'a_b', 'somebody']);
  });

  it.each<[string, WireLease | undefined, string]>([
    ['there was none', undefined, 'free'],
    ['was this member’s', { spec: { holderIdentity: 'a_p' } }, 'free'],
    ['was given up', { spec: { holderIdentity: '' } }, 'handed_over'],
    ['is another’s', { spec: { holderIdentity: 'b_p' } }, 'run_out'],
  ])('say how one came to a shard whose Lease %s', (_, base, reason) => {
    expect(gainReason(base, 'a_p')).toBe(reason);
  });
});

describe('a shard that was taken in the place of a member', () => {
  it('is kept longer each time, but counted anew for another member', () => {
    const first = keptAgain(undefined, 'b', 0, timing);
    const second = keptAgain(first, 'b', 100, timing);
    expect([first.untilMs, second.untilMs, second.times]).toEqual([30_000, 60_100, 2]);
    expect(keptAgain(second, 'c', 0, timing)).toEqual({ placedOn: 'c', untilMs: 30_000, times: 1 });
  });
});
