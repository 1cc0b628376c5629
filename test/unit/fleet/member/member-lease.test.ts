import { describe, expect, it, onTestFinished } from 'vitest';
import { MemberLease } from '../../../../src/fleet/member/member-lease.ts';
import { type LeaseFate, refusal } from './fleet-lease-server.ts';
import { names, timing } from './keeper-world.ts';
import { LeaseUser } from './lease-user.ts';

const name = 'fleet-edge-member-a';
const [put, post, get, remove] = [`PUT ${name}`, `POST ${name}`, `GET ${name}`, `DELETE ${name}`];
/** The wall clock does not run with what passes, so that a mistake between both is seen. */
const wallIsAheadMs = 86_400_000;

async function world() {
  const user = await new LeaseUser().start();
  onTestFinished(() => user.seen.stop());
  const { clock, server, leases, seen } = user;
  clock.jump(wallIsAheadMs);
  const own = new MemberLease({ names, id: 'a', identity: 'a_p', agent: 'process 1 on a', timing, leases, seen, clock });
  /** The process of another member, or of the same id. */
  const other = (process: string, agent?: string): object =>
    server.put({
      metadata: {
        name,
        labels: { 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': 'member' },
        ...(agent !== undefined && { annotations: { 'pod-status-manager/fleet-agent': agent } }),
      },
      spec: { holderIdentity: process, leaseDurationSeconds: 15, renewTime: String(clock.now()) },
    });
  const written = () => server.leases.get(name);
  const state = () => written()?.metadata?.annotations?.['pod-status-manager/fleet-state'];
  /** Every write meets this fate. */
  const writesAre = (fate: () => LeaseFate): void => {
    server.fate = ({ verb }) => (verb === 'GET' || verb === 'LIST' ? 'answered' : fate());
  };
  return { user, clock, server, seen, own, other, written, state, writesAre };
}

describe('the Lease of a member', () => {
  it('says who the member is, with how many shards it counts and for how long, and is renewed by one request', async () => {
    const { user, clock, own, written } = await world();
    expect(await own.renew()).toBe(true);
    const { metadata, spec } = structuredClone(written() ?? {});
    expect([metadata?.namespace, metadata?.labels, metadata?.annotations]).toEqual([
      'kube-system',
      { 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': 'member' },
      {
        'pod-status-manager/fleet-state': 'active',
        'pod-status-manager/fleet-agent': 'process 1 on a',
        'pod-status-manager/fleet-shards': '8',
      },
    ]);
    expect([spec?.holderIdentity, spec?.leaseDurationSeconds, user.took()]).toEqual(['a_p', 15, [post]]);
    await clock.advance(5000);
    expect([await own.renew(), user.took(), written()?.spec?.acquireTime]).toEqual([true, [put], spec?.acquireTime]);
    expect(written()?.spec?.renewTime).not.toBe(spec?.renewTime);
  });

  it('says when the member leaves', async () => {
    const { own, state } = await world();
    await own.renew();
    expect(await own.renew(true)).toBe(true);
    expect(state()).toBe('leaving');
  });

  it('is known to the member from the answer, without the watch', async () => {
    const { user, own, seen } = await world();
    user.hearNothing();
    await own.renew();
    expect(seen.get(name)?.observed.holder).toBe('a_p');
    await own.remove();
    expect(seen.get(name)).toBe(undefined);
  });

  it('goes on from one that an earlier process has left, with what else it says', async () => {
    const { user, clock, server, own, other, written } = await world();
    other('a_before', 'process 7');
    server.put({ ...written(), metadata: { ...written()?.metadata, annotations: { mine: 'stays' } } });
    await clock.advance(15_000);
    expect([await own.renew(), user.took()]).toEqual([true, [put]]);
    expect([written()?.spec?.leaseTransitions, written()?.metadata?.annotations]).toMatchObject([1, { mine: 'stays' }]);
  });
});

describe('the age of the Lease of a member', () => {
  it('is old before the first renewal and from between the deadline and the duration on, counted from the sending', async () => {
    const { clock, server, own } = await world();
    expect(own.age).toBe('old');
    server.fate = () => ({ answeredAfterMs: 3000 });
    const renewed = own.renew();
    await clock.advance(2999);
    expect(own.age).toBe('old');
    await clock.advance(1);
    await renewed;
    await clock.advance(9499);
    expect(own.age).toBe('fresh');
    await clock.advance(1);
    expect(own.age).toBe('old');
  });

  it('is doubtful where the wall clock alone says so, and a renewal ends that', async () => {
    const { clock, own } = await world();
    await own.renew();
    clock.jump(12_499);
    expect(own.age).toBe('fresh');
    clock.jump(1);
    expect(own.age).toBe('doubtful');
    await own.renew();
    expect(own.age).toBe('fresh');
    clock.jump(-3_600_000);
    await clock.advance(12_500);
    expect(own.age).toBe('old');
  });

  it('is that of the last renewal that has succeeded', async () => {
    const { clock, own, writesAre } = await world();
    await own.renew();
    await clock.advance(12_499);
    writesAre(() => 'lost');
    await expect(own.renew()).rejects.toMatchObject({ reason: 'NoAnswer' });
    expect(own.age).toBe('fresh');
    await clock.advance(1);
    expect(own.age).toBe('old');
  });
});

describe('a renewal of the Lease of a member', () => {
  it('that has failed is not repeated here, and the next one is made by what was seen: its answer may have been lost', async () => {
    const { user, own, written, writesAre } = await world();
    await own.renew();
    user.took();
    writesAre(() => 'answerLost');
    await expect(own.renew()).rejects.toMatchObject({ reason: 'NoAnswer' });
    expect(user.took()).toEqual([put]);
    // the watch has brought what that one has written
    writesAre(() => 'answered');
    expect([await own.renew(), user.took(), written()?.spec?.holderIdentity]).toEqual([true, [put], 'a_p']);
  });

  it('reads the Lease where somebody else has written it, and writes it again', async () => {
    const { user, server, own, written } = await world();
    await own.renew();
    user.hearNothing();
    server.put({ ...written(), metadata: { ...written()?.metadata, annotations: { mine: 'stays' } } });
    user.took();
    expect([await own.renew(), user.took()]).toEqual([true, [put, get, put]]);
    expect(written()?.metadata?.annotations).toMatchObject({ mine: 'stays', 'pod-status-manager/fleet-shards': '8' });
  });

  it('creates it again where somebody has deleted it', async () => {
    const { user, server, own, written } = await world();
    await own.renew();
    user.hearNothing();
    server.delete(name);
    user.took();
    expect([await own.renew(), user.took(), written()?.spec?.holderIdentity]).toEqual([true, [put, get, post], 'a_p']);
  });

  it('takes what it reads for the truth, also where that is older than what it knew', async () => {
    const { user, server, own, written } = await world();
    await own.renew();
    const older = structuredClone(written() ?? {});
    await own.renew();
    user.hearNothing();
    // etcd was restored: the Lease is there as it was before
    server.leases.set(name, older);
    user.took();
    expect([await own.renew(), user.took()]).toEqual([true, [put, get, put]]);
  });

  it('rejects where another writer is first three times', async () => {
    const { user, own, writesAre } = await world();
    await own.renew();
    user.took();
    writesAre(() => refusal(409, 'Conflict'));
    await expect(own.renew()).rejects.toMatchObject({ status: 409 });
    expect(user.took()).toEqual([put, get, put, get, put, get]);
  });

  it('rejects at once for any other refusal', async () => {
    const { user, own, writesAre } = await world();
    writesAre(() => refusal(403, 'Forbidden'));
    await expect(own.renew()).rejects.toMatchObject({ status: 403 });
    expect(user.took()).toEqual([post]);
  });
});

describe('another process under the id of a member', () => {
  it('is named by what it says of itself, or else by its holder, until its Lease runs out; nothing is written meanwhile', async () => {
    const { user, clock, server, own, other } = await world();
    expect(own.namesake).toBe(undefined);
    other('a_q', 'process 2 on b');
    await clock.advance(14_999);
    expect([own.namesake, await own.renew(), user.took()]).toEqual(['process 2 on b', false, []]);
    server.edit(name, { renewTime: 'later' });
    server.put({ ...server.leases.get(name), metadata: { ...server.leases.get(name)?.metadata, annotations: {} } });
    await clock.advance(14_999);
    expect([own.namesake, await own.renew()]).toEqual(['a_q', false]);
    await clock.advance(1);
    expect([own.namesake, await own.renew(), own.namesake]).toEqual([undefined, true, undefined]);
  });

  it('that the watch has not told of is seen when the write is refused, and is not written over', async () => {
    const { user, own, other, written } = await world();
    user.hearNothing();
    other('a_q', 'process 2 on b');
    expect([await own.renew(), user.took()]).toEqual([false, [post, get]]);
    expect([own.namesake, written()?.spec?.holderIdentity]).toEqual(['process 2 on b', 'a_q']);
  });
});

describe('the removal of the Lease of a member', () => {
  it('is one request, once, and none where this process has no Lease', async () => {
    const { user, own, other, written } = await world();
    other('a_q');
    await own.remove();
    expect([user.took(), written()?.spec?.holderIdentity]).toEqual([[], 'a_q']);
    const { user: another, own: ours, server } = await world();
    await ours.renew();
    another.took();
    await ours.remove();
    await ours.remove();
    expect([another.took(), server.leases.has(name)]).toEqual([[remove], false]);
    // it can join again
    expect([await ours.renew(), another.took()]).toEqual([true, [post]]);
  });

  it('comes also where the last renewal had no answer: what is this process’s is seen', async () => {
    const { own, written, writesAre } = await world();
    await own.renew();
    writesAre(() => 'answerLost');
    await expect(own.renew()).rejects.toMatchObject({ reason: 'NoAnswer' });
    writesAre(() => 'answered');
    await own.remove();
    expect(written()).toBe(undefined);
  });

  it('takes nothing from another process that has written it since, and rejects', async () => {
    const { user, own, other, written } = await world();
    await own.renew();
    user.hearNothing();
    other('a_q');
    await expect(own.remove()).rejects.toMatchObject({ status: 409 });
    expect(written()?.spec?.holderIdentity).toBe('a_q');
  });

  it('has ended when it resolves', async () => {
    const { clock, server, own, writesAre } = await world();
    await own.renew();
    writesAre(() => ({ handledAfterMs: 1000 }));
    let hasEnded = false;
    const removed = own.remove().then(() => {
      hasEnded = true;
    });
    await clock.advance(999);
    expect([hasEnded, server.leases.has(name)]).toEqual([false, true]);
    await clock.advance(1);
    await removed;
    expect(server.leases.has(name)).toBe(false);
  });
});
