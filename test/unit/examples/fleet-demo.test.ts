import { describe, expect, it, onTestFinished } from 'vitest';
import { FleetCloud } from '../../../examples/virtual-node/fleet/fleet-cloud.ts';
import { FleetPods } from '../../../examples/virtual-node/fleet/fleet-pods.ts';
import { memberPiece, type ShownMember } from '../../../examples/virtual-node/fleet/member-piece.ts';
import { type CloudPod, statusOfCloudPod, versionOfStatus } from '../../../examples/virtual-node/fleet/messages.ts';
import { parseOptions } from '../../../examples/virtual-node/options.ts';
import { openWorld } from '../../../examples/virtual-node/world.ts';
import type { WirePod } from '../../../src/index.ts';
import { until } from '../../support/until.ts';

/** Four pods of a fleet's run on a server in memory, which a cloud runs; nobody writes a status but the test. */
async function setUp() {
  const options = parseOptions(['--fleet', '2']);
  if (options === 'help') throw new Error('no run');
  const world = await openWorld(options);
  const pods = new FleetPods(world, ['node-a', 'node-b']);
  const cloud = new FleetCloud(1, () => {});
  onTestFinished(async () => {
    await pods.stop();
    await world.close(() => {});
  });
  await pods.begin(4);
  const all = await world.admin.listPods(world.namespace, world.labelSelector);
  for (const { metadata, spec } of all) {
    const { uid = '', name = '', namespace = '' } = metadata ?? {};
    cloud.take({ call: 'create', pod: { uid, name, namespace, nodeName: spec?.nodeName ?? '' } }, 'member-1');
  }
  /** Writes a status as a member would. */
  const write = async ({ metadata }: WirePod, changes: Partial<CloudPod> = {}): Promise<void> => {
    const pod = cloud.get(metadata?.uid ?? '');
    if (pod === undefined) throw new Error('the cloud has no such pod');
    const path = `/api/v1/namespaces/${world.namespace}/pods/${metadata?.name}/status`;
    const body = { status: statusOfCloudPod({ ...pod, ...changes }) };
    await world.transport.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  };
  return { pods, cloud, all, write };
}

describe('a member of the demo of a fleet', () => {
  const state = { isMember: true, shards: 3, moving: 0, running: 20, failed: 0, notes: [] };
  it.each<[string, Partial<ShownMember>]>([
    ['m starts', {}],
    ['m 3 shards 20 nodes', { state }],
    ['m 3 shards 20 nodes, leaves', { state, isLeaving: true }],
    ['m frozen', { isFrozen: true }],
    ['m has ended', { isAlive: false, isLeaving: true }],
  ])('is shown as: %s', (text, facts) => {
    const fresh: ShownMember = { id: 'm', state: undefined, isAlive: true, isFrozen: false, isLeaving: false };
    expect(memberPiece({ ...fresh, ...facts }).text).toBe(text);
  });
});

describe('the judge of a fleet', () => {
  it('finds no status lost where the server says what the cloud runs', async () => {
    const { pods, cloud, all, write } = await setUp();
    expect(all.map(({ spec }) => spec?.nodeName).sort()).toEqual(['node-a', 'node-a', 'node-b', 'node-b']);
    for (const pod of all) await write(pod);
    expect(await pods.lost(cloud)).toEqual({ compared: 4, lost: [] });
  });

  it('names each pod of which the server says something else, or nothing', async () => {
    const { pods, cloud, all, write } = await setUp();
    const [one, two, three, four] = all;
    if (!one || !two || !three || !four) throw new Error('four pods');
    for (const pod of [one, two, three]) await write(pod);
    await write(one, { version: 7 });
    await write(two, { ready: false });
    cloud.take({ call: 'delete', uid: three.metadata?.uid ?? '' }, 'member-1');
    const { lost } = await pods.lost(cloud);
    expect(lost.toSorted()).toEqual(
      [
        `${one.metadata?.name}: the cloud has version 1, the server version 7`,
        `${two.metadata?.name}: the cloud has version 1, the server version 1`,
        `${three.metadata?.name}: the cloud does not run it`,
        `${four.metadata?.name}: the cloud has version 1, the server no status`,
      ].toSorted(),
    );
  });

  it('sees a status that is older than the one before', async () => {
    const { pods, all, write } = await setUp();
    const [pod] = all;
    if (!pod) throw new Error('a pod');
    await write(pod, { version: 5, restarts: 2 });
    await until(() => pods.statuses === 1);
    await write(pod, { version: 4, restarts: 2 });
    await until(() => pods.backInTime.length > 0);
    expect(pods.backInTime).toEqual([`${pod.metadata?.name}: version 5 with 2 restarts, then 4 with 2`]);
  });

  it('counts a pod that is created twice, also after its end', () => {
    const cloud = new FleetCloud(1, () => {});
    const pod = { uid: 'u', name: 'web', namespace: 'n', nodeName: 'a' };
    cloud.take({ call: 'create', pod }, 'member-1');
    cloud.take({ call: 'delete', uid: 'u' }, 'member-1');
    expect(() => cloud.take({ call: 'create', pod }, 'member-2')).toThrow('already');
    expect(cloud.doubled).toEqual(['member-2 created web, which was there before']);
  });

  it('tells which of two statuses is the newer one', () => {
    expect([versionOfStatus({ message: 'version 12' }), versionOfStatus({ message: 'x' }), versionOfStatus(undefined)]).toEqual([
      12, 0, 0,
    ]);
  });
});
