import { mkdir, mkdtemp, readdir, readlink, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type DeviceMap, linkDevice, mapDevice, unmapDevice } from '../../../../src/kubelet/claims/device-map.ts';
import { FakeMounter } from '../../../../src/testing.ts';

async function setUp() {
  const root = await mkdtemp(join(tmpdir(), 'device-map-'));
  const mounter = new FakeMounter();
  const device = join(root, 'device');
  await writeFile(device, '');
  const globalFolder = join(root, 'global', 'pv-1');
  const mapOf = (podUID: string): DeviceMap => ({ mounter, globalFolder, podUID, podLink: join(root, podUID, 'pv-1') });
  return { root, mounter, device, globalFolder, mapOf };
}

it('the devices of one pod are linked at once, each by its own link', async () => {
  const { root } = await setUp();
  const longest = 'v'.repeat(253);
  const names = [...Array.from({ length: 30 }, (_, index) => `pv-${index}`), longest];
  await Promise.all(names.map((name) => linkDevice(`/dev/${name}`, join(root, 'links', name))));
  const links = await Promise.all(names.map((name) => readlink(join(root, 'links', name))));
  expect(links).toEqual(names.map((name) => `/dev/${name}`));
  expect((await readdir(join(root, 'links'))).sort()).toEqual([...names].sort());
});

it('a pod gets a device whose folder the end of another pod removes meanwhile', async () => {
  const { mounter, device, globalFolder, mapOf } = await setUp();
  const { mountsBelow } = mounter;
  let isRemoved = false;
  mounter.mountsBelow = async (folder) => {
    const mounts = await mountsBelow.call(mounter, folder);
    if (!isRemoved) await mkdir(globalFolder, { recursive: true }).then(() => rmdir(globalFolder));
    isRemoved = true;
    return mounts;
  };
  await mapDevice(device, mapOf('u1'));
  expect(mounter.mounts.map(({ target }) => target)).toEqual([join(globalFolder, 'u1')]);
});

it('two pods of one device come and go at once', async () => {
  const { mounter, device, mapOf } = await setUp();
  await mapDevice(device, mapOf('u2'));
  for (let round = 0; round < 100; round += 1) {
    const [coming, going] = round % 2 === 0 ? ['u1', 'u2'] : ['u2', 'u1'];
    await Promise.all([mapDevice(device, mapOf(coming)), unmapDevice(mapOf(going))]);
    expect(mounter.heldDevices).toHaveLength(1);
  }
});
