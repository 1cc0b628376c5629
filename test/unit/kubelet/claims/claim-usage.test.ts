import { expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ClaimUsages, type MeasuredVolume } from '../../../../src/kubelet/claims/claim-usage.ts';
import { LocalClaims } from '../../../../src/kubelet/claims/local-claims.ts';
import { MountTurns } from '../../../../src/kubelet/claims/mount-turns.ts';
import type { VolumeUsage } from '../../../../src/kubelet/claims/persistent-volume-kind.ts';
import { FakeClock, FakeMounter } from '../../../../src/testing.ts';

/** They hang for ever. */
const mountTurns = new MountTurns({ clock: safeClock(new FakeClock()), logger: silentLogger });
for (const name of ['one', 'two']) void mountTurns.run(name, () => new Promise<never>(() => {}), new AbortController().signal);

const local = new LocalClaims({
  mountTurns,
  clock: safeClock(new FakeClock()),
  rootDirectory: '/',
  mounter: new FakeMounter(),
  eventRecorder: { event: () => {} },
  logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
});

/** A mounted volume that is measured so. */
function volumeOf(measure: (() => Promise<VolumeUsage | undefined>) | undefined, isBlock = false): MeasuredVolume {
  const mounted = { name: 'data', type: 'persistentVolumeClaim', hostPath: '/', readonly: false, selinuxRelabel: false };
  const claim = { metadata: { name: 'disk', namespace: 'shop' } };
  const bound = { claim, persistentVolume: { metadata: { name: 'pv-1' } }, isBlock };
  const kind = {
    takesMountOptions: true,
    takesBlock: true,
    mount: async () => mounted,
    unmount: async () => {},
    volumesOnDisk: async () => [],
    ...(measure && { measure }),
  };
  return { bound, mounted, kind };
}

it('a local volume is as full as its file system, also while other mounts hang, and a device as nobody knows', async () => {
  const usages = new ClaimUsages(safeClock(new FakeClock()));
  const [usage, ...more] = await usages.of([
    { ...volumeOf(undefined), kind: local },
    { ...volumeOf(undefined, true), kind: local },
  ]);
  expect(more).toEqual([]);
  const {
    capacityBytes = 0,
    availableBytes = 0,
    usedBytes = 0,
    inodes = 0,
    inodesFree = 0,
    inodesUsed = 0,
    ...names
  } = usage ?? {};
  expect(names).toEqual({ name: 'data', claim: { name: 'disk', namespace: 'shop' }, at: expect.any(Number) });
  expect(usedBytes + availableBytes).toBeGreaterThan(0);
  expect(usedBytes + availableBytes).toBeLessThanOrEqual(capacityBytes);
  expect(inodesFree + inodesUsed).toBe(inodes);
});

it('a volume is measured once a minute, and one that fails keeps nobody', async () => {
  const clock = new FakeClock();
  const usages = new ClaimUsages(safeClock(clock));
  let calls = 0;
  const volumes = [
    volumeOf(async () => ({ usedBytes: ++calls })),
    volumeOf(async () => {
      throw new Error('the driver says no');
    }),
    volumeOf(undefined),
  ];
  const used = async (): Promise<unknown> => (await usages.of(volumes)).map(({ usedBytes }) => usedBytes);
  expect([await used(), await used()]).toEqual([[1], [1]]);
  await clock.advance(60_000);
  expect(await used()).toEqual([2]);
});

it('a volume that does not answer is waited for a second, asked by one call, and told of once it answers', async () => {
  const clock = new FakeClock();
  const usages = new ClaimUsages(safeClock(clock));
  const answer = Promise.withResolvers<VolumeUsage>();
  let calls = 0;
  const volumes = [
    volumeOf(() => {
      calls += 1;
      return answer.promise;
    }),
    volumeOf(async () => ({ usedBytes: 1 })),
  ];
  const first = usages.of(volumes);
  await clock.advance(1000);
  expect((await first).map(({ usedBytes }) => usedBytes)).toEqual([1]);
  await clock.advance(60_000);
  const second = usages.of(volumes);
  expect(calls).toBe(1);
  answer.resolve({ usedBytes: 7 });
  expect((await second).map(({ usedBytes }) => usedBytes)).toEqual([7, 1]);
});
