import { describe, expect, it, onTestFinished } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import { FleetSettings } from '../../../../src/fleet/member/fleet-settings.ts';
import { shardLeaseName } from '../../../../src/fleet/member/lease-documents.ts';
import { refusal } from './fleet-lease-server.ts';
import { names } from './keeper-world.ts';
import { LeaseUser } from './lease-user.ts';

const name = 'fleet-edge';
const [post, put, get] = [`POST ${name}`, `PUT ${name}`, `GET ${name}`];
const labels = { 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': 'fleet' };
const [shardsSaid, takenSaid] = ['pod-status-manager/fleet-shards', 'pod-status-manager/fleet-shards-taken'];
/** The Lease of the fleet, as somebody has written it. */
const saying = (annotations: Record<string, string>): WireLease => ({ metadata: { name, labels, annotations } });
const allow = (): Promise<boolean> => Promise.resolve(true);
const refuse = (): Promise<boolean> => Promise.resolve(false);

async function world(before?: WireLease) {
  const user = new LeaseUser();
  if (before !== undefined) user.server.put(before);
  await user.start();
  onTestFinished(() => user.seen.stop());
  const { server, leases, seen } = user;
  const settings = new FleetSettings({ names, leases, seen });
  const said = () => server.leases.get(name)?.metadata?.annotations;
  /** Each of these shards gets a Lease. */
  const takeShards = (count: number): void => {
    const metadata = { labels: { ...labels, 'pod-status-manager/fleet-role': 'shard' } };
    const spec = { holderIdentity: 'b_p', leaseDurationSeconds: 15 };
    for (let shard = 0; shard < count; shard += 1) {
      server.put({ metadata: { ...metadata, name: shardLeaseName(names, shard) }, spec });
    }
  };
  return { user, server, seen, settings, said, takeShards };
}

describe('a process agrees on the number of shards', () => {
  it('by writing its own where there is none, and knows it from the answer', async () => {
    const { user, server, settings, said } = await world();
    user.hearNothing();
    expect([settings.seen, settings.areAllTaken]).toEqual([undefined, false]);
    expect(await settings.agree(allow)).toEqual(8);
    expect([user.took(), said(), settings.seen]).toEqual([[get, post], { [shardsSaid]: '8' }, 8]);
    expect(server.leases.get(name)?.metadata?.labels).toEqual(labels);
  });

  it('by reading it where it is the same: nobody is asked then, and nothing written', async () => {
    const { user, settings } = await world(saying({ [shardsSaid]: '8' }));
    const asked = (): never => expect.fail('asked whether it may change');
    expect([await settings.agree(asked), user.took()]).toEqual([8, [get]]);
  });

  it.each<[string | undefined, number | undefined]>([
    ['4', 4],
    [undefined, undefined],
    ['many', undefined],
  ])('not where the Lease says %s and it may not be changed', async (text, shards) => {
    const { user, settings, said } = await world(saying(text === undefined ? {} : { [shardsSaid]: text }));
    const before = said();
    expect([await settings.agree(refuse), user.took()]).toEqual([shards, [get]]);
    expect([said(), settings.seen]).toEqual([before, shards]);
  });

  it('by changing another one, with what else the Lease says, where it may', async () => {
    const { user, settings, said } = await world(saying({ [shardsSaid]: '4', [takenSaid]: '4', mine: 'stays' }));
    user.hearNothing();
    expect(await settings.agree(allow)).toEqual(8);
    expect([user.took(), said()]).toEqual([[get, put], { [shardsSaid]: '8', [takenSaid]: '4', mine: 'stays' }]);
    // what was taken by another number says nothing of this one
    expect([settings.seen, settings.areAllTaken]).toEqual([8, false]);
  });

  it('by what it reads, not by what it knew: also where that is older', async () => {
    const { user, server, settings } = await world(saying({ [shardsSaid]: '4' }));
    const older = structuredClone(server.leases.get(name) ?? {});
    server.put(saying({ [shardsSaid]: '16' }));
    user.hearNothing();
    await user.clock.advance(0);
    expect(settings.seen).toBe(16);
    // etcd was restored: the Lease is there as it was before
    server.leases.set(name, older);
    expect([await settings.agree(refuse), settings.seen]).toEqual([4, 4]);
  });

  it('by reading again where another was first, and asks again whether it may', async () => {
    const { user, server, settings, said } = await world();
    user.hearNothing();
    const others = ['16', '8'];
    let asked = 0;
    // another writes its number before this one can, and then this one's
    const slow = async (): Promise<boolean> => {
      asked += 1;
      server.put(saying({ [shardsSaid]: others.shift() ?? '' }));
      return true;
    };
    expect(await settings.agree(slow)).toEqual(8);
    expect([asked, user.took(), said()]).toEqual([2, [get, post, get, put, get], { [shardsSaid]: '8' }]);
  });

  it('not where another is always first: after five tries it rejects', async () => {
    const { user, server, settings } = await world();
    server.fate = ({ verb }) => (verb === 'POST' ? refusal(409, 'AlreadyExists') : 'answered');
    await expect(settings.agree(allow)).rejects.toMatchObject({ status: 409 });
    expect(user.took()).toEqual([get, post, get, post, get, post, get, post, get, post]);
  });

  it('not where the write is refused for another reason: it rejects at once', async () => {
    const { user, server, settings } = await world();
    server.fate = ({ verb }) => (verb === 'POST' ? refusal(403, 'Forbidden') : 'answered');
    await expect(settings.agree(allow)).rejects.toMatchObject({ status: 403 });
    expect(user.took()).toEqual([get, post]);
  });
});

describe('a member keeps the Lease of the fleet', () => {
  it('by creating it where somebody has deleted it, and knows it from the answer', async () => {
    const { user, settings, said } = await world();
    user.hearNothing();
    await settings.keep();
    expect([user.took(), said(), settings.seen]).toEqual([[post], { [shardsSaid]: '8' }, 8]);
    await settings.keep();
    expect(user.took()).toEqual([]);
  });

  it('and leaves one alone that says another number', async () => {
    const { user, settings, takeShards } = await world(saying({ [shardsSaid]: '4' }));
    takeShards(8);
    user.took();
    await settings.keep();
    expect(user.took()).toEqual([]);
  });

  it('and says once that every shard has had a Lease, not before; one that was deleted has had one', async () => {
    const { user, server, settings, said, takeShards } = await world(saying({ [shardsSaid]: '8', mine: 'stays' }));
    takeShards(7);
    await settings.keep();
    expect([user.took(), settings.areAllTaken]).toEqual([[], false]);
    takeShards(8);
    server.delete(shardLeaseName(names, 3));
    user.hearNothing();
    await settings.keep();
    expect([user.took(), said()]).toEqual([[put], { [shardsSaid]: '8', [takenSaid]: '8', mine: 'stays' }]);
    expect(settings.areAllTaken).toBe(true);
    await settings.keep();
    expect(user.took()).toEqual([]);
  });

  it('and says it anew where it was said of another number', async () => {
    const { settings, said, takeShards } = await world(saying({ [shardsSaid]: '8', [takenSaid]: '4' }));
    expect(settings.areAllTaken).toBe(false);
    takeShards(8);
    await settings.keep();
    expect([said()?.[takenSaid], settings.areAllTaken]).toEqual(['8', true]);
  });

  it('and writes nothing where it says so already, of shards whose Leases were deleted before this process came', async () => {
    const { user, settings, takeShards } = await world(saying({ [shardsSaid]: '8', [takenSaid]: '8' }));
    takeShards(7);
    user.took();
    await settings.keep();
    expect([user.took(), settings.areAllTaken]).toEqual([[], true]);
  });

  it('and rejects with what the request rejects with', async () => {
    const { server, settings } = await world();
    server.fate = () => refusal(403, 'Forbidden');
    await expect(settings.keep()).rejects.toMatchObject({ status: 403 });
  });
});
