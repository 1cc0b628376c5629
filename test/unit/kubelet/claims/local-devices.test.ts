import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LocalDevices } from '../../../../src/kubelet/claims/local-devices.ts';
import { never } from '../volumes/volumes-world.ts';
import { setUp } from './claims-world.ts';

it('the file system of a device goes with its last pod, whatever a driver has made of the same name for others', async () => {
  const { rootDirectory, mounter, folderOf } = await setUp();
  const devices = new LocalDevices(rootDirectory, mounter);
  const persistentVolume = { metadata: { name: 'pv-1' }, spec: { local: { path: '/dev/disk' } } };
  const folder = await devices.mount('/dev/disk', {
    persistentVolume,
    mountOptions: [],
    readOnly: false,
    signal: never,
  } as never);
  const ofOther = (type: string): string => folderOf(type, 'pv-1').replace('/u1/', '/u2/');
  await mkdir(ofOther('local-volume'), { recursive: true });
  await devices.release('pv-1', 'u1');
  expect(mounter.mounts.map(({ target }) => target)).toEqual([folder]);
  await mkdir(join(ofOther('csi').replace('/u2/', '/u3/')), { recursive: true });
  await devices.release('pv-1', 'u2');
  expect(mounter.mounts).toEqual([]);
});
