import { describe, expect, it } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import { SeenLeases } from '../../../../src/fleet/member/seen-leases.ts';
import { ApiError } from '../../../../src/index.ts';
import type { ResourceTransport } from '../../../../src/reflector.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { FleetLeaseServer } from './fleet-lease-server.ts';
import { leaseName, names, timing } from './keeper-world.ts';

const lease = (spec: object, name = leaseName, role = 'shard', fleet = 'edge'): WireLease => ({
  metadata: { name, labels: { 'pod-status-manager/fleet': fleet, 'pod-status-manager/fleet-role': role } },
  spec: { leaseDurationSeconds: 15, ...spec },
});
const memberName = 'fleet-edge-member-a';

function seenOver(transport: ResourceTransport, clock: FakeClock, changed = (): void => {}): SeenLeases {
  const { logger } = recordedLines();
  const { leaseDurationMs } = timing;
  return new SeenLeases({ transport, names, leaseDurationMs, clock, random: () => 0, logger, metrics: undefined, changed });
}

async function world(...before: WireLease[]) {
  const clock = new FakeClock();
  const server = new FleetLeaseServer(clock);
  for (const one of before) server.put(one);
  let changes = 0;
  const changed = (): void => {
    changes += 1;
  };
  const seen = seenOver(server.transportOf('a'), clock, changed);
  await seen.start();
  const took = (): number => {
    const count = changes;
    changes = 0;
    return count;
  };
  took();
  return { clock, server, seen, took };
}

describe('the Leases of a fleet as they are seen', () => {
  it('are those of its label and its names, of no other fleet', async () => {
    const { seen } = await world(
      lease({ holderIdentity: 'a_p' }),
      lease({ holderIdentity: 'b_p' }, 'fleet-edge-shard-004', 'shard', 'other'),
      lease({ holderIdentity: 'c_p' }, 'fleet-other-shard-004'),
      lease({ holderIdentity: 'd_p' }, 'fleet-edge-shard-4'),
    );
    expect([seen.hasSynced, [...seen.all()].map(({ observed }) => observed.holder)]).toEqual([true, ['a_p']]);
    expect(seen.hasOwnedShards).toBe(true);
    await seen.stop();
  });

  it('run out from when their last change was seen here, and a mere renewal wakes nobody', async () => {
    const { seen, server, clock, took } = await world(lease({ holderIdentity: 'a_p', renewTime: '1' }));
    await clock.advance(4000);
    server.edit(leaseName, { renewTime: '2' });
    await clock.advance(0);
    expect([seen.get(leaseName)?.observed.runsOutAt, took()]).toEqual([19_000, 0]);
    server.edit(leaseName, { holderIdentity: 'b_p', renewTime: '3' });
    await clock.advance(0);
    expect(took()).toBe(1);
    await clock.advance(14_999);
    expect(seen.hasOwnedShards).toBe(true);
    await clock.advance(1);
    expect(seen.hasOwnedShards).toBe(false);
    await seen.stop();
  });

  it('never go back to an older copy, but where that is the truth', async () => {
    const { seen, server, clock } = await world(lease({ holderIdentity: 'a_p', renewTime: '1' }));
    const older = structuredClone(server.leases.get(leaseName) ?? {});
    server.edit(leaseName, { holderIdentity: 'b_p', renewTime: '2' });
    await clock.advance(0);
    seen.noted(older);
    expect(seen.get(leaseName)?.observed.holder).toBe('b_p');
    seen.noted(older, true);
    expect(seen.get(leaseName)?.observed.holder).toBe('a_p');
    await seen.stop();
  });

  it('of a shard stay known once they are gone, since when; those of members do not', async () => {
    const { seen, server, clock, took } = await world(
      lease({ holderIdentity: 'a_p' }),
      lease({ holderIdentity: 'a_p' }, memberName, 'member'),
    );
    await clock.advance(3000);
    for (const name of [leaseName, memberName]) server.delete(name);
    await clock.advance(0);
    expect([took(), seen.get(memberName), seen.get(leaseName)?.observed.lease]).toEqual([2, undefined, undefined]);
    expect([seen.get(leaseName)?.observed.since, seen.hasOwnedShards]).toEqual([3000, false]);
    await seen.stop();
  });

  it('that were deleted and created again are not lost by a late word of the deletion', async () => {
    const { seen, server, clock } = await world(lease({ holderIdentity: 'a_p' }));
    const before = structuredClone(server.leases.get(leaseName) ?? {});
    server.delete(leaseName);
    server.put(lease({ holderIdentity: 'b_p' }));
    await clock.advance(0);
    seen.gone(leaseName, before);
    expect(seen.get(leaseName)?.observed.holder).toBe('b_p');
    await seen.stop();
  });

  it.each<[string, object, object]>([
    ['its holder', {}, { holderIdentity: 'b_p' }],
    ['its duration', {}, { leaseDurationSeconds: 60 }],
    ['that its member leaves', { 'pod-status-manager/fleet-state': 'leaving' }, {}],
    ['its number of shards', { 'pod-status-manager/fleet-shards': '4' }, {}],
    ['that its nodes start', { 'pod-status-manager/fleet-state': 'starting' }, {}],
  ])('wake a member where they say something else: %s', async (_, annotations, spec) => {
    const { seen, server, clock, took } = await world(lease({ holderIdentity: 'a_p' }));
    const { metadata, ...before } = server.leases.get(leaseName) ?? {};
    server.put({ metadata: { ...metadata, annotations: { ...annotations } }, spec: { ...before.spec, ...spec } });
    await clock.advance(0);
    expect(took()).toBe(1);
    await seen.stop();
  });

  it('wake a member where they are new, or were made anew', async () => {
    const { seen, server, clock, took } = await world();
    server.put(lease({ holderIdentity: 'a_p' }));
    await clock.advance(0);
    expect(took()).toBe(1);
    seen.noted({ ...server.leases.get(leaseName), metadata: { ...server.leases.get(leaseName)?.metadata, uid: 'another' } });
    expect(took()).toBe(1);
    await seen.stop();
  });

  it('say when they were last seen to change', async () => {
    const { seen, server, clock } = await world(lease({ holderIdentity: 'a_p', renewTime: '1' }));
    const beganAt = clock.now();
    expect(seen.get(leaseName)?.seenAt).toBe(beganAt);
    await clock.advance(2000);
    // the same again is no change
    server.edit(leaseName, {});
    await clock.advance(1000);
    expect(seen.get(leaseName)?.seenAt).toBe(beganAt);
    server.edit(leaseName, { renewTime: '2' });
    await clock.advance(0);
    expect(seen.get(leaseName)?.seenAt).toBe(beganAt + 3000);
    await seen.stop();
  });

  it('are those of a list where the watch has missed something: what is not there is gone, and what is older is so', async () => {
    const { seen, server, clock } = await world(
      lease({ holderIdentity: 'a_p' }),
      lease({ holderIdentity: 'a_p' }, memberName, 'member'),
    );
    server.isDeaf = () => true;
    // etcd was restored: one Lease is older, and one is gone
    const known = server.leases.get(leaseName);
    server.leases.set(leaseName, {
      ...known,
      metadata: { ...known?.metadata, resourceVersion: '0' },
      spec: { holderIdentity: 'c_p' },
    });
    server.delete(memberName);
    // one that this process has written itself, and of which the watch has never told
    const ownName = 'fleet-edge-member-b';
    seen.noted(lease({ holderIdentity: 'b_p' }, ownName, 'member'));
    server.endWatches('a');
    await clock.advance(60_000);
    expect([leaseName, memberName, ownName].map((name) => seen.get(name)?.observed.holder)).toEqual([
      'c_p',
      undefined,
      undefined,
    ]);
    await seen.stop();
  });
});

describe('of the Leases of a fleet is heard', () => {
  const refused = new ApiError({ status: 500, reason: 'InternalError', message: 'database space exceeded' });
  const lost = new ApiError({ reason: 'Network', message: 'no connection' });

  it('nothing before the start, and until now while the watch owes nothing', async () => {
    const clock = new FakeClock();
    const seen = seenOver(new FleetLeaseServer(clock).transportOf('a'), clock);
    expect([seen.isHeard, seen.heardUntil]).toEqual([false, undefined]);
    await seen.start();
    await clock.advance(100_000);
    expect([seen.isHeard, seen.heardUntil]).toEqual([true, 100_000]);
    await seen.stop();
    await clock.advance(1000);
    expect([seen.isHeard, seen.heardUntil]).toEqual([false, 100_000]);
  });

  it('nothing from the own renewal on that a dead watch does not bring', async () => {
    const { seen, server, clock } = await world(lease({ holderIdentity: 'a_p', renewTime: '1' }));
    server.isDeaf = () => true;
    await clock.advance(4000);
    seen.renews();
    await clock.advance(5000);
    seen.renews();
    seen.renewalFailed(lost);
    await clock.advance(9999);
    expect([seen.isHeard, seen.heardUntil]).toEqual([true, 4000]);
    await clock.advance(1);
    expect([seen.isHeard, seen.heardUntil]).toEqual([false, 4000]);
    server.isDeaf = () => false;
    server.edit(leaseName, { renewTime: '2' });
    await clock.advance(0);
    expect([seen.isHeard, seen.heardUntil]).toEqual([true, 19_000]);
    await seen.stop();
  });

  it.each([
    [refused, 20_000],
    [lost, 0],
    [new TypeError('a mistake'), 0],
    [new ApiError({ status: 503, reason: 'ServiceUnavailable', message: 'no backend' }), 0],
  ])('after %s of a renewal until %d', async (error, until) => {
    const { seen, clock } = await world();
    seen.renews();
    seen.renewalFailed(error);
    await clock.advance(20_000);
    expect([seen.isHeard, seen.heardUntil]).toEqual([until > 0, until]);
    await seen.stop();
  });

  it('while the watch has failed, until the last Lease that came, not until the failure', async () => {
    const clock = new FakeClock();
    const server = new FleetLeaseServer(clock);
    const own = server.transportOf('a');
    let isCutOff = false;
    const transport: typeof own = { ...own, stream: (stream) => (isCutOff ? Promise.reject(lost) : own.stream(stream)) };
    const seen = seenOver(transport, clock);
    await seen.start();
    await clock.advance(3000);
    server.put(lease({ holderIdentity: 'a_p', renewTime: '1' }));
    await clock.advance(150_000);
    isCutOff = true;
    server.fate = () => 'lost';
    server.endWatches('a');
    await clock.advance(5000);
    expect([seen.lastFailure() !== undefined, seen.isHeard, seen.heardUntil]).toEqual([true, false, 3000]);
    isCutOff = false;
    server.fate = () => 'answered';
    await clock.advance(60_000);
    expect([seen.isHeard, seen.heardUntil]).toEqual([true, 218_000]);
    await seen.stop();
  });
});
