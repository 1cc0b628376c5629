import { describe, expect, it } from 'vitest';
import { podUIDOf } from '../../real/node/faults/node-scan.ts';

const uid = 'd1f3a5b7-1c2d-4e5f-8a9b-0c1d2e3f4a5b';
const byName = uid.replaceAll('-', '_');

describe('the pod of a process, by its cgroups', () => {
  it.each([
    ['version 1', `12:pids:/kubepods/besteffort/pod${uid}/4f2a\n11:memory:/kubepods/besteffort/pod${uid}/4f2a\n`],
    ['version 2', `0::/kubepods/burstable/pod${uid}/4f2a\n`],
    ['version 2, the pod itself', `0::/kubepods/pod${uid}\n`],
    [
      'systemd',
      `0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${byName}.slice/cri-containerd-4f2a.scope\n`,
    ],
    ['systemd, a guaranteed pod', `0::/kubepods.slice/kubepods-pod${byName}.slice\n`],
  ])('is found with %s', (_, text) => {
    expect(podUIDOf(text)).toBe(uid);
  });

  it.each(['0::/system.slice/kubelet.service\n', '0::/kubepods.slice\n', ''])('is none in %j', (text) => {
    expect(podUIDOf(text)).toBeUndefined();
  });
});
