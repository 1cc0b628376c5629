import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readVolumesOnDisk } from '../../../../src/kubelet/csi/volumes-on-disk.ts';
import { until } from '../../../support/until.ts';
import { driver, setUp, unique } from './persistent-world.ts';

/** A folder that nobody can read, root included: a link to itself. */
async function unreadable(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(join(path, '..'), { recursive: true });
  await symlink(path, path);
}

describe('what the disk says of volumes', () => {
  it('is read beside their mounts: a mount may hang', async () => {
    const { rootDirectory } = await setUp();
    const staged = join(rootDirectory, 'plugins', 'kubernetes.io', 'csi', driver, 'hash');
    await mkdir(join(staged, 'globalmount'), { recursive: true });
    const asked: string[] = [];
    const mountsBelow = async (path: string): Promise<readonly string[]> => {
      asked.push(path);
      return [join(staged, 'globalmount')];
    };
    const { unknown } = await readVolumesOnDisk(rootDirectory, { mountsBelow });
    expect(asked).toEqual([staged]);
    const message = `${join(staged, 'globalmount')} is mounted, and no file says by which driver`;
    expect(unknown).toEqual([{ folder: staged, message }]);
  });

  it.each([
    ['the volumes of a pod', 'pods/u9/volumes/kubernetes.io~csi'],
    ['the devices of a pod', 'pods/u9/volumeDevices/kubernetes.io~csi'],
    ['what a driver has made ready', 'plugins/kubernetes.io/csi/broken.example.com'],
    ['the block devices', 'plugins/kubernetes.io/csi/volumeDevices'],
  ])('leaves the rest known where %s cannot be read: new volumes are attached, and none is given up', async (_, broken) => {
    const test = await setUp({ attachRequired: true });
    test.node.status = { volumesInUse: ['kubernetes.io/csi/gone^1'] };
    const path = join(test.rootDirectory, broken);
    await unreadable(path);
    const staged = join(test.rootDirectory, 'plugins', 'kubernetes.io', 'csi', driver, 'hash');
    await mkdir(staged, { recursive: true });
    await writeFile(join(staged, 'vol_data.json'), JSON.stringify({ driverName: driver, volumeHandle: 'h-1' }));
    test.storage.start();
    await until(() => test.storage.problems().length > 0);
    expect(test.storage.volumesInUse()).toEqual([unique, 'kubernetes.io/csi/gone^1']);
    expect(test.storage.problems()).toMatchObject([{ kind: 'csi-unsure', message: expect.stringContaining(`${path} (ELOOP`) }]);
    const ending = new AbortController();
    const coming = test.mount('u1', { csi: { volumeHandle: 'h-2' }, signal: ending.signal }).catch(() => 'it ends');
    await until(() => test.node.status.volumesInUse?.includes(`kubernetes.io/csi/${driver}^h-2`) === true);
    ending.abort(new Error('it ends'));
    await coming;
    expect(test.calls).toEqual([]);
  });
});
