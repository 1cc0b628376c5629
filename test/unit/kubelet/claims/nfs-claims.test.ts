import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { NfsClaims, type NfsClaimsOptions } from '../../../../src/kubelet/claims/nfs-claims.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { until } from '../../../support/until.ts';
import { never } from '../volumes/volumes-world.ts';
import { podOf, setUp as setUpClaims, wordsOf } from './claims-world.ts';

/** A node that has the helper of NFS, whose servers answer at once. */
async function setUp(options: Partial<NfsClaimsOptions> = {}, nfs: object = { server: '192.0.2.7', path: '/export' }) {
  const world = await setUpClaims();
  const { mounter, bind, newManager, folderOf } = world;
  const clock = new FakeClock();
  const asked: string[] = [];
  const askFileSystem = async (folder: string) => {
    asked.push(folder);
    return { capacityBytes: 100 };
  };
  const helpers = ['/no/such/helper', '/bin/sh'];
  const kind = new NfsClaims({ mounter, clock: safeClock(clock), askFileSystem, helpers, ...options });
  bind('disk', 'pv-1', { nfs });
  return { ...world, kind, clock, asked, manager: newManager([['nfs', kind]]), folder: folderOf('nfs', 'pv-1') };
}

const ofPart = (() => {
  const volumeMounts = [{ name: 'data', mountPath: '/data', subPath: 'part' }];
  return { containers: [{ name: 'app', image: 'app:1', volumeMounts }] };
})();

describe('A volume of an NFS server', () => {
  it('is a mount of the pod, with the options of its volume, and is given back after a restart', async () => {
    const { manager, newManager, kind, mounter, folder, persistentVolume, asked } = await setUp();
    persistentVolume().spec.mountOptions = ['nfsvers=4.1', 'hard'];
    const volume = { persistentVolumeClaim: { claimName: 'disk', readOnly: true } };
    const mounted = await manager.mountVolumes(podOf({}, {}, volume), never);
    await manager.mountVolumes(podOf({}, {}, volume), never);
    expect(mounted.get('data')).toMatchObject({ hostPath: folder, readonly: true, selinuxRelabel: false });
    const options = { type: 'nfs', options: ['hard', 'nfsvers=4.1', 'ro'], timeoutMs: 150_000 };
    expect(mounter.mounts).toEqual([{ target: folder, source: '192.0.2.7:/export', options }]);
    expect(asked).toEqual([]);
    await newManager([['nfs', kind]]).unmountVolumes('u1');
    expect(mounter.mounts).toEqual([]);
  });

  it('may have an address of version 6', async () => {
    const { manager, mounter } = await setUp({}, { server: '2001:db8::7', path: '/' });
    await manager.mountVolumes(podOf(), never);
    expect(mounter.mounts.map(({ source }) => source)).toEqual(['[2001:db8::7]:/']);
  });

  it('is refused by a node that has no helper, and as a device', async () => {
    const { manager, persistentVolume } = await setUp({ helpers: ['/no/such/helper'] });
    const words = 'this node mounts no NFS: it has no mount.nfs (the package nfs-common or nfs-utils)';
    expect(await wordsOf(manager.mountVolumes(podOf(), never))).toBe(`MountVolume.SetUp failed for volume "pv-1" : ${words}`);
    const devices = { containers: [{ name: 'app', image: 'app:1', volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }] };
    persistentVolume().spec.volumeMode = 'Block';
    await expect(manager.mountVolumes(podOf(devices), never)).rejects.toThrow('persistent volumes of nfs are no block devices');
  });

  it('whose server does not answer is not opened for a sub path, and keeps only its own pod', async () => {
    const { manager, clock, folder } = await setUp({
      askFileSystem: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    const words = wordsOf(manager.mountVolumes(podOf(ofPart), never));
    await until(() => clock.pendingTimers > 0);
    await clock.advance(10_000);
    const why = "the NFS server does not answer for the volume's sub paths: it took longer than 10 s";
    expect(await words).toBe(`MountVolume.SetUp failed for volume "pv-1" : ${why}`);
    // without a sub path the runtime alone goes in
    const other = await manager.mountVolumes(podOf({}, { name: 'other', uid: 'u2' }), never);
    expect(other.get('data')?.hostPath).toBe(join(folder.replace('/u1/', '/u2/')));
  });

  it('is asked how full it is by a program', async () => {
    const { mounter, clock } = await setUp();
    const kind = new NfsClaims({ mounter, clock: safeClock(clock) });
    const mounted = { name: 'data', type: 'persistentVolumeClaim', hostPath: '/', readonly: false, selinuxRelabel: false };
    const { capacityBytes = 0, usedBytes = 0, availableBytes = 0 } = await kind.measure({ mounted });
    expect(usedBytes + availableBytes).toBeGreaterThan(0);
    expect(usedBytes + availableBytes).toBeLessThanOrEqual(capacityBytes);
  });
});
