import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PluginCallError } from '../../../../src/kubelet.ts';
import { until } from '../../../support/until.ts';
import { driver, setUp, unique } from './persistent-world.ts';

const busy = new PluginCallError('Internal', 'NodeUnstageVolume', 'device busy');

/** Counts how often the disk is read: a folder without a file has its mounts asked for each time. */
async function counted(driverSpec: object = {}) {
  const test = await setUp(driverSpec);
  const folder = join(test.rootDirectory, 'plugins', 'kubernetes.io', 'csi', 'other.example.com', 'empty');
  await mkdir(folder, { recursive: true });
  let reads = 0;
  const { mountsBelow } = test.mounter;
  test.mounter.mountsBelow = async (path) => {
    if (path.startsWith(folder)) reads += 1;
    return mountsBelow.call(test.mounter, path);
  };
  const unstages = (): number => test.calls.filter((call) => call.startsWith('unstage')).length;
  /** What is read in this time. */
  const readsIn = async (ms: number): Promise<number> => {
    const before = reads;
    for (let passed = 0; passed < ms; passed += ms / 20) {
      await test.clock.advance(ms / 20);
      await test.settled();
    }
    return reads - before;
  };
  test.storage.start();
  await until(() => reads > 0);
  return { ...test, unstages, readsIn };
}

/** Leaves what a kubelet does of a block device. */
async function deviceLeft(rootDirectory: string): Promise<string> {
  const root = join(rootDirectory, 'plugins', 'kubernetes.io', 'csi', 'volumeDevices');
  const data = join(root, 'pv-1', 'data');
  await mkdir(data, { recursive: true });
  await mkdir(join(root, 'staging', 'pv-1'), { recursive: true });
  await writeFile(join(data, 'vol_data.json'), JSON.stringify({ driverName: driver, volumeHandle: 'h-1' }));
  return root;
}

describe('the volumes of a node', () => {
  it('read the disk no more often once a pod has one again that was not given back, and tell of it no more', async () => {
    const test = await counted();
    await test.mount('u1');
    test.state.before.unstage = () => Promise.reject(busy);
    await test.unmount('u1');
    await until(() => test.storage.problems().length > 0);
    await test.mount('u2');
    expect(test.storage.problems()).toEqual([]);
    // the try that was due finds the pod
    expect(await test.readsIn(2000)).toBeLessThanOrEqual(1);
    expect(await test.readsIn(2000)).toBe(0);
    await test.unmount('u2');
    await until(() => test.unstages() === 2);
    await until(() => test.storage.problems().length > 0);
    expect(test.storage.problems()).toMatchObject([{ kind: 'csi-unstage', attempt: 1 }]);
  });

  it('read the disk no more often while a driver does not answer to the second try', async () => {
    const test = await counted();
    await test.mount('u1');
    test.state.before.unstage = () => Promise.reject(busy);
    await test.unmount('u1');
    await until(() => test.storage.problems().length > 0);
    const answer = Promise.withResolvers<void>();
    test.state.before.unstage = () => answer.promise;
    await test.clock.advance(500);
    await until(() => test.unstages() === 2);
    await test.settled();
    expect(await test.readsIn(2000)).toBe(0);
    answer.resolve();
    await until(() => test.storage.problems().length === 0);
    expect(await test.files()).toEqual([]);
  });

  it('tell of no trouble with one that a pod asks for while its driver does not give it back', async () => {
    const test = await counted();
    await test.mount('u1');
    const answer = Promise.withResolvers<void>();
    test.state.before.unstage = () => answer.promise;
    await test.unmount('u1');
    await until(() => test.unstages() === 1);
    const coming = test.mount('u2');
    await test.settled();
    answer.reject(busy);
    await coming;
    expect([test.storage.problems(), test.warnings]).toEqual([[], []]);
    expect(await test.readsIn(2000)).toBeLessThanOrEqual(1);
  });

  it('take back the block device that a kubelet has left, once', async () => {
    const test = await setUp({ attachRequired: true });
    const root = await deviceLeft(test.rootDirectory);
    test.storage.start();
    await until(() => test.storage.volumesInUse()?.length === 0);
    expect(test.calls).toEqual([`unstage ${join(root, 'staging', 'pv-1').slice(test.rootDirectory.length + 1)}`]);
  });

  it.each([
    [
      'a block device that is there for a pod that is gone',
      async (rootDirectory: string) => {
        const folder = join(await deviceLeft(rootDirectory), 'publish', 'pv-1', 'u0');
        await mkdir(folder, { recursive: true });
        return folder;
      },
    ],
    [
      'the folder of a volume where an older kubelet had it',
      async (rootDirectory: string) => {
        const folder = join(rootDirectory, 'plugins', 'kubernetes.io', 'csi', 'pv', 'pv-1');
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'vol_data.json'), JSON.stringify({ driverName: driver, volumeHandle: 'h-1' }));
        return folder;
      },
    ],
  ])('keep in use and tell of %s', async (_, leave) => {
    const test = await counted({ attachRequired: true });
    const folder = await leave(test.rootDirectory);
    await test.clock.advance(60_000);
    await until(() => test.storage.problems().length > 0);
    expect(test.storage.problems()).toMatchObject([
      { kind: 'csi-unstage', message: expect.stringContaining(`${folder} is still there`) },
    ]);
    expect([test.storage.volumesInUse(), test.unstages(), test.warnings.length]).toEqual([[unique], 0, 1]);
    await rm(folder, { recursive: true });
    await test.clock.advance(500);
    await until(() => test.storage.volumesInUse()?.length === 0);
  });

  it('give back one whose CSIDriver has changed while it was to leave', async () => {
    const test = await setUp();
    test.storage.start();
    await test.mount('u1');
    const answer = Promise.withResolvers<void>();
    test.state.before.unstage = () => answer.promise;
    await test.unmount('u1');
    await until(() => test.calls.some((call) => call.startsWith('unstage')));
    const path = `/apis/storage.k8s.io/v1/csidrivers/${driver}`;
    test.objects.set(path, { spec: { ...test.objects.get(path).spec, attachRequired: true } });
    const ending = new AbortController();
    const coming = test.mount('u2', { signal: ending.signal }).catch(() => 'it ends');
    await until(() => test.storage.volumesInUse()?.join() === unique);
    answer.resolve();
    await until(() => test.mounter.mounts.length === 0);
    await test.settled();
    ending.abort(new Error('it ends'));
    await coming;
    await test.unmount('u2');
    await until(() => test.storage.volumesInUse()?.length === 0);
    expect(await test.files()).toEqual([]);
  });
});
