import { describe, expect, it } from 'vitest';
import { resources } from '../../../../../src/client/resources/api-resource.ts';
import { settle } from '../../../../../src/testing/fakes/fake-clock.ts';
import { claimOf, lateClass, podWith, VolumeWorld, volumeOf, zoneNode } from './volume-world.ts';

const selectedNode = 'volume.kubernetes.io/selected-node';
const claimRefOf = (world: VolumeWorld, name: string): unknown =>
  (world.get('persistentVolumes', name) as { readonly spec?: { readonly claimRef?: unknown } }).spec?.claimRef;

describe('volumes of a pod that has its node', () => {
  it('are written for its claims, and the pod waits until whoever binds them has finished', async () => {
    const world = new VolumeWorld({ persistentVolumes: [volumeOf('pv', 'a')], persistentVolumeClaims: [claimOf('c')] });
    const placed = world.place(podWith('p', 'c'));
    expect(placed.preFlight).toBeUndefined();
    expect(placed.awaited).toBe('the volumes of d/c');
    await placed.bind();
    expect(world.asked.map(({ what, patch }) => ({ what, patch }))).toEqual([
      {
        what: 'PersistentVolume/pv',
        patch: {
          metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
          spec: {
            claimRef: {
              ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
              ...{ namespace: 'd', name: 'c', uid: 'u-c', resourceVersion: '20' },
            },
          },
        },
      },
    ]);
    expect(placed.end).toBeUndefined();
    world.finish('c', 'pv');
    await settle();
    expect(placed.end).toBe('bound');
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('are asked for by the name of the node where none is there', async () => {
    const world = new VolumeWorld({ persistentVolumes: [volumeOf('pv', 'b')], persistentVolumeClaims: [claimOf('c')] });
    const placed = await world.place(podWith('p', 'c')).bind();
    expect(world.asked.map(({ what, patch }) => ({ what, patch }))).toEqual([
      { what: 'PersistentVolumeClaim/c', patch: { metadata: { annotations: { [selectedNode]: 'n1' } } } },
    ]);
    world.finish('c', 'made');
    await settle();
    // the watch has yet to bring the volume
    expect(placed.end).toBeUndefined();
    world.set('persistentVolumes', volumeOf('made', 'a', { claimRef: { namespace: 'd', name: 'c', uid: 'u-c' } }));
    await settle();
    expect(placed.end).toBe('bound');
  });

  it('are given up where the claim gets another volume, which need not reach the node', async () => {
    const world = new VolumeWorld({
      persistentVolumes: [volumeOf('pv', 'a'), volumeOf('far', 'b')],
      persistentVolumeClaims: [claimOf('c')],
    });
    const placed = await world.place(podWith('p', 'c')).bind();
    world.finish('c', 'far');
    await settle();
    expect(placed.end).toBe('claim "d/c" has the volume "far" instead of "pv"');
    placed.unreserve();
    expect(world.judge(podWith('p', 'c'))).toEqual({ n1: "node(s) didn't match PersistentVolume's node affinity" });
  });

  it('are not waited for where all claims have theirs', () => {
    const world = new VolumeWorld({ persistentVolumes: [volumeOf('pv')], persistentVolumeClaims: [claimOf('c')] });
    const placed = world.place(podWith('p', 'c'));
    world.finish('c', 'pv');
    const other = world.place(podWith('q', 'c'));
    expect([placed.preFlight, other.preFlight, other.awaited]).toEqual([undefined, 'skip', undefined]);
  });

  it('are written once more only where something of them changes', async () => {
    const claimRef = { namespace: 'd', name: 'c', uid: 'u-c' };
    const named = new VolumeWorld({
      persistentVolumes: [volumeOf('pv', 'a', { claimRef })],
      persistentVolumeClaims: [claimOf('c')],
    });
    const placed = await named.place(podWith('p', 'c')).bind();
    expect(named.asked).toEqual([]);
    named.finish('c', 'pv');
    await settle();
    expect(placed.end).toBe('bound');
    // it was set aside for a claim of this name: whoever did that gets no mark of the scheduler
    const aside = { claimRef: { namespace: 'd', name: 'c' } };
    const world = new VolumeWorld({ persistentVolumes: [volumeOf('pv', 'a', aside)], persistentVolumeClaims: [claimOf('c')] });
    await world.place(podWith('p', 'c')).bind();
    expect(world.asked[0]?.patch).not.toHaveProperty('metadata');
    expect(claimRefOf(world, 'pv')).toMatchObject({ uid: 'u-c' });
  });
});

/** Nobody makes volumes of this class. */
const byHand = { ...lateClass, provisioner: 'kubernetes.io/no-provisioner' };

describe('a claim that the pod names twice', () => {
  it('has one volume', async () => {
    const given = { persistentVolumes: [volumeOf('pv'), volumeOf('pw')], persistentVolumeClaims: [claimOf('c')] };
    const world = new VolumeWorld(given);
    await world.place(podWith('p', 'c', 'c')).bind();
    expect(world.asked.map(({ what }) => what)).toEqual(['PersistentVolume/pv']);
    const made = new VolumeWorld({ persistentVolumeClaims: [claimOf('c')] });
    await made.place(podWith('p', 'c', 'c')).bind();
    expect(made.asked.map(({ what }) => what)).toEqual(['PersistentVolumeClaim/c']);
  });
});

describe('a volume that was taken for a claim', () => {
  const objects = { persistentVolumes: [volumeOf('pv', 'a')], persistentVolumeClaims: [claimOf('c'), claimOf('e')] };

  it('is offered to no other claim: another volume is made for that one', async () => {
    const world = new VolumeWorld(objects);
    world.place(podWith('p', 'c'));
    await world.place(podWith('q', 'e')).bind();
    expect(world.asked.map(({ what }) => what)).toEqual(['PersistentVolumeClaim/e']);
  });

  it("is the claim's alone: a second pod that has the claim shares it, and the write", async () => {
    const world = new VolumeWorld(objects);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    const other = await world.place(podWith('q', 'c')).bind();
    // it has nothing to write: the first pod's write is for their claim
    expect([world.asked.length, other.end]).toEqual([1, undefined]);
    world.asked[0]?.take();
    await settle();
    expect([placed.end, other.end]).toEqual([undefined, undefined]);
    world.finish('c', 'pv');
    await settle();
    expect([placed.end, other.end, world.asked.length]).toEqual(['bound', 'bound', 1]);
  });

  it('is the only one of a class without a maker: the other pod waits, and has it once it was given back', () => {
    const world = new VolumeWorld({ ...objects, storageClasses: [byHand] });
    const placed = world.place(podWith('p', 'c'));
    const none = { n1: "node(s) didn't find available persistent volumes to bind" };
    expect(world.judge(podWith('q', 'e'))).toEqual(none);
    placed.unreserve();
    expect(world.judge(podWith('q', 'e'))).toEqual({});
  });

  it('stays with the claim where the server has it so, whatever the binding comes to', async () => {
    const world = new VolumeWorld({ ...objects, storageClasses: [byHand] });
    const placed = await world.place(podWith('p', 'c')).bind();
    placed.controller.abort(new Error('given up'));
    await settle();
    placed.unreserve();
    expect(placed.end).toBe('given up');
    expect(world.judge(podWith('q', 'e'))).toEqual({ n1: "node(s) didn't find available persistent volumes to bind" });
    expect(world.judge(podWith('p', 'c'))).toEqual({});
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('is refused where it has changed since it was looked at, and nothing else is kept of that attempt', () => {
    const larger = { capacity: { storage: '6Gi' } };
    const given = { ...objects, storageClasses: [byHand], persistentVolumes: [volumeOf('pv', 'a'), volumeOf('pw', 'a', larger)] };
    const world = new VolumeWorld(given);
    const { filter } = world.plugin;
    world.plugin.filter = (state, pod, node) => {
      const answer = filter?.(state, pod, node);
      world.set('persistentVolumes', volumeOf('pw', 'a', { ...larger, claimRef: { namespace: 'd', name: 'their', uid: 'u' } }));
      return answer;
    };
    expect(() => world.place(podWith('p', 'c', 'e'))).toThrow('"pw" is out of sync (stored: 101, assume: 10)');
    world.plugin.filter = filter as NonNullable<typeof filter>;
    // the other one of the two is free again
    expect(world.judge(podWith('q', 'e'))).toEqual({});
  });
});

describe('a binding of volumes fails', () => {
  const two = {
    persistentVolumes: [volumeOf('pv', 'a'), volumeOf('pw', 'a', { capacity: { storage: '6Gi' } })],
    persistentVolumeClaims: [claimOf('c'), claimOf('e', { resources: { requests: { storage: '2Gi' } } })],
  };
  const one = { persistentVolumes: [volumeOf('pv', 'a')], persistentVolumeClaims: [claimOf('c')] };
  const made = { persistentVolumeClaims: [claimOf('c')] };

  it('at the second volume: the first stays as the server has it, the second is free', async () => {
    const world = new VolumeWorld(two);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c', 'e')).bind();
    world.asked[0]?.take();
    await settle();
    world.asked[1]?.refuse(new Error('no room'));
    await settle();
    expect(placed.end).toBe('no room');
    placed.unreserve();
    expect(claimRefOf(world, 'pv')).toMatchObject({ name: 'c' });
    world.set('persistentVolumeClaims', claimOf('other', { resources: { requests: { storage: '6Gi' } } }));
    world.holds = false;
    await world.place(podWith('q', 'other')).bind();
    expect(claimRefOf(world, 'pw')).toMatchObject({ name: 'other' });
  });

  it('where somebody has changed the volume meanwhile', async () => {
    const world = new VolumeWorld(one);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.set('persistentVolumes', volumeOf('pv', 'a', { claimRef: { namespace: 'd', name: 'their', uid: 'u' } }));
    world.asked[0]?.take();
    await settle();
    placed.unreserve();
    expect(placed.end).toBe('pv: the object has been modified');
    expect(claimRefOf(world, 'pv')).toMatchObject({ name: 'their' });
  });

  it('where an answer was lost: the next attempt finds the volume with the claim, and writes nothing', async () => {
    const world = new VolumeWorld(one);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.takeUnheard();
    await settle();
    expect(placed.end).toBe('the answer was lost');
    placed.unreserve();
    const again = await world.place(podWith('p', 'c')).bind();
    expect(world.asked).toHaveLength(1);
    world.finish('c', 'pv');
    await settle();
    expect(again.end).toBe('bound');
  });

  it.each([
    ['a volume', one],
    ['a claim', made],
  ])('where the server refuses the change of %s: the next attempt sends it again', async (_what, objects) => {
    const world = new VolumeWorld(objects);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c')).bind();
    world.asked[0]?.refuse(new Error('no room'));
    await settle();
    placed.unreserve();
    const again = await world.place(podWith('p', 'c')).bind();
    expect([placed.end, again.end, world.asked.length]).toEqual(['no room', undefined, 2]);
    expect(world.asked[1]?.patch).toEqual(world.asked[0]?.patch);
  });

  it('where somebody took a change back: another pod with the claim sends it again', async () => {
    const world = new VolumeWorld(two);
    world.holds = true;
    await world.place(podWith('p', 'c', 'e')).bind();
    world.asked[0]?.take();
    await settle();
    world.set('persistentVolumes', volumeOf('pv', 'a'));
    await world.place(podWith('q', 'c')).bind();
    expect(world.asked.map(({ what }) => what)).toEqual(['PersistentVolume/pv', 'PersistentVolume/pw', 'PersistentVolume/pv']);
  });

  it('where the volume is gone', async () => {
    const world = new VolumeWorld(one);
    const placed = await world.place(podWith('p', 'c')).bind();
    world.objects.delete(resources.persistentVolumes, undefined, 'pv');
    await settle();
    expect(placed.end).toBe('failed to check binding: persistentvolumes "pv" not found');
  });

  it.each([
    ['of a volume', one, 'failed to check binding'],
    ['of a volume that is to be made', made, 'failed to check provisioning pvc'],
  ])('where the claim %s is gone', async (_what, objects, doing) => {
    const world = new VolumeWorld(objects);
    const placed = await world.place(podWith('p', 'c')).bind();
    world.objects.delete(resources.persistentVolumeClaims, 'd', 'c');
    await settle();
    expect(placed.end).toBe(`${doing}: persistentvolumeclaims "d/c" not found`);
  });

  it('where the volume belongs to nobody again', async () => {
    const world = new VolumeWorld(one);
    const placed = await world.place(podWith('p', 'c')).bind();
    world.set('persistentVolumes', volumeOf('pv', 'a', { claimRef: { namespace: 'd', name: 'c' } }));
    await settle();
    expect(placed.end).toBe('ClaimRef got reset for pv "pv"');
  });

  it.each([
    [{ annotations: { other: 'x' } }, 'provisioning failed for PVC "c"'],
    [{ annotations: { [selectedNode]: 'n2' } }, 'provisioning failed for PVC "c"'],
    [{}, 'selectedNode annotation reset for PVC "c"'],
  ])('where whoever makes the volume takes the name of the node away: %j', async (metadata, message) => {
    const world = new VolumeWorld(made);
    const placed = await world.place(podWith('p', 'c')).bind();
    world.set('persistentVolumeClaims', claimOf('c', {}, metadata));
    await settle();
    expect(placed.end).toBe(message);
  });

  it('where the volume is made elsewhere', async () => {
    const world = new VolumeWorld(made);
    const placed = await world.place(podWith('p', 'c')).bind();
    world.set('persistentVolumes', volumeOf('made', 'b'));
    world.finish('c', 'made');
    await settle();
    expect(placed.end).toBe('pv "made" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms');
  });

  it('where the node is gone, or is elsewhere by now, which is seen after a while', async () => {
    const gone = new VolumeWorld(one);
    const moved = new VolumeWorld(one);
    const placed = [await gone.place(podWith('p', 'c')).bind(), await moved.place(podWith('p', 'c')).bind()];
    for (const { clock } of [gone, moved]) await clock.advance(25_000);
    gone.nodes = [];
    moved.nodes = [zoneNode('n1', 'b')];
    for (const { clock } of [gone, moved]) await clock.advance(10_000);
    expect(placed.map(({ end }) => end)).toEqual([
      'failed to get node "n1": node "n1" not found',
      'pv "pv" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms',
    ]);
    expect([gone.clock.pendingTimers, moved.clock.pendingTimers]).toEqual([0, 0]);
  });

  it('where the client has no such method', async () => {
    const { patchObject: _, ...client } = { patchObject: undefined };
    const world = new VolumeWorld(made, { client: { ...client, patchObject: undefined } as never });
    expect(world.judge(podWith('p', 'c'))).toBe(
      "the pod's PersistentVolumeClaims wait for its node, and the scheduler's client has no method patchObject, which binds them",
    );
  });
});

describe('a binding of volumes that is given up', () => {
  const objects = {
    persistentVolumes: [volumeOf('pv', 'a'), volumeOf('pw', 'a', { capacity: { storage: '6Gi' } })],
    persistentVolumeClaims: [claimOf('c'), claimOf('e', { resources: { requests: { storage: '2Gi' } } })],
  };

  it('writes nothing more once the write under way has ended', async () => {
    const world = new VolumeWorld(objects);
    world.holds = true;
    const placed = await world.place(podWith('p', 'c', 'e')).bind();
    placed.controller.abort(new Error('the scheduler was stopped'));
    placed.unreserve();
    world.asked[0]?.take();
    await settle();
    expect(placed.end).toBe('the scheduler was stopped');
    expect(world.asked).toHaveLength(1);
  });

  it('is sent anew by the next attempt, also where the watch has brought nothing of it', async () => {
    let count = 0;
    const patchObject = async <T>(_resource: unknown, object: T): Promise<T> => {
      count += 1;
      return object;
    };
    const world = new VolumeWorld(objects, { client: { patchObject } });
    const placed = await world.place(podWith('p', 'c')).bind();
    placed.controller.abort(new Error('too late'));
    await settle();
    placed.unreserve();
    await world.place(podWith('p', 'c')).bind();
    expect([placed.end, count]).toEqual(['too late', 2]);
  });

  it('waits for nothing where it was given up before', async () => {
    const world = new VolumeWorld(objects);
    const placed = world.place(podWith('p', 'c'));
    placed.controller.abort(new Error('too late'));
    await placed.bind();
    expect(placed.end).toBe('too late');
    expect([world.asked.length, world.clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe('an older version that the watch brings late', () => {
  it('proves nothing of a volume', async () => {
    const world = new VolumeWorld({ persistentVolumes: [volumeOf('pv', 'a')], persistentVolumeClaims: [claimOf('c')] });
    const placed = await world.place(podWith('p', 'c')).bind();
    world.set('persistentVolumes', volumeOf('pv', 'a'), '50');
    world.finish('c', 'pv');
    await settle();
    expect(placed.end).toBeUndefined();
    const claimRef = { namespace: 'd', name: 'c', uid: 'u-c' };
    world.set('persistentVolumes', volumeOf('pv', 'a', { claimRef }));
    await settle();
    expect(placed.end).toBe('bound');
  });

  it('proves nothing of a claim', async () => {
    const world = new VolumeWorld({ persistentVolumeClaims: [claimOf('c')] });
    const placed = await world.place(podWith('p', 'c')).bind();
    world.set('persistentVolumeClaims', claimOf('c'), '50');
    await settle();
    expect(placed.end).toBeUndefined();
    expect(world.get('persistentVolumeClaims', 'c').metadata?.annotations).toBeUndefined();
  });
});
