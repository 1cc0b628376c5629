import { describe, expect, it } from 'vitest';
import { containerDevices } from '../../../../src/kubelet/containers/container-devices.ts';
import { volumeMounts } from '../../../../src/kubelet/containers/container-mounts.ts';
import type { MountedVolume } from '../../../../src/kubelet.ts';

const block: MountedVolume = {
  name: 'block',
  type: 'persistentVolumeClaim',
  hostPath: '',
  devicePath: '/k/pods/u1/volumeDevices/kubernetes.io~local-volume/pv-1',
  readonly: false,
  selinuxRelabel: false,
};
const files: MountedVolume = { ...block, name: 'files', hostPath: '/k/files', devicePath: undefined } as never;
const volumes = new Map([block, { ...block, name: 'fixed', readonly: true }, files].map((volume) => [volume.name, volume]));

describe('the devices of a container', () => {
  it('are block volumes, with the right to write unless the claim is only read', () => {
    const volumeDevices = [
      { name: 'block', devicePath: '/dev/a' },
      { name: 'fixed', devicePath: '/dev/b' },
    ];
    expect(containerDevices({ name: 'app', volumeDevices }, volumes)).toEqual([
      { containerPath: '/dev/a', hostPath: block.devicePath, permissions: 'mrw' },
      { containerPath: '/dev/b', hostPath: block.devicePath, permissions: 'r' },
    ]);
    expect(containerDevices({ name: 'app' }, volumes)).toEqual([]);
  });

  it.each([
    ['block', 'dev/a', 'error DevicePath `dev/a` must be an absolute path'],
    ['files', '/dev/a', 'cannot find volume "files" to pass into container "app"'],
    ['none', '/dev/a', 'cannot find volume "none" to pass into container "app"'],
  ])('are refused in the kubelet’s words: %s at %s', (name, devicePath, words) => {
    expect(() => containerDevices({ name: 'app', volumeDevices: [{ name, devicePath }] }, volumes)).toThrow(words);
  });

  it('are no mounts', async () => {
    const container = { name: 'app', volumeMounts: [{ name: 'block', mountPath: '/data' }] };
    const sources = { volumes, expandPath: String, prepareSubPath: async () => '', recursiveReadOnly: false };
    await expect(volumeMounts(container, sources)).rejects.toThrow('cannot find volume "block" to mount into container "app"');
  });
});
