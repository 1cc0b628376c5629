// After pkg/kubelet/kubelet_pods_test.go and kubelet_pods_linux_test.go (makeMounts), v1.36.3.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Container } from '../../../../src/api/pod/pod-containers.ts';
import {
  type MountSources,
  makeTerminationLog,
  volumeMounts,
  writeHostsFile,
} from '../../../../src/kubelet/containers/container-mounts.ts';
import { readVolumeFile } from '../../../../src/kubelet/containers/volume-file.ts';
import type { MountedVolume } from '../../../../src/kubelet/volumes/pod-folder.ts';
import { readAtMost } from '../../../../src/node/files/small-file.ts';

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

const volume = (name: string, more: Partial<MountedVolume> = {}): [string, MountedVolume] => [
  name,
  { name, type: 'emptyDir', hostPath: `/v/${name}`, readonly: false, selinuxRelabel: false, ...more },
];
const volumes = new Map([
  volume('disk'),
  volume('secret', { readonly: true, selinuxRelabel: true }),
  volume('image', { type: 'image', hostPath: '', readonly: true, imageRef: 'sha256:9' }),
]);

function mounted(mounts: VolumeMount[], sources: Partial<MountSources> = {}) {
  return volumeMounts(
    { name: 'app', volumeMounts: mounts },
    {
      volumes,
      expandPath: (expression) => expression,
      prepareSubPath: async ({ volume: { hostPath }, subPath, index }) => `${hostPath}!${subPath}!${index}`,
      recursiveReadOnly: true,
      ...sources,
    },
  );
}

describe('volumeMounts', () => {
  it.each<[Partial<VolumeMount>, object]>([
    [{}, { hostPath: '/v/disk', containerPath: '/d', readonly: false, selinuxRelabel: false, propagation: 'private' }],
    [{ readOnly: true }, { readonly: true }],
    [{ name: 'secret' }, { readonly: true, selinuxRelabel: true }],
    [{ mountPath: 'relative' }, { containerPath: '/relative' }],
    [{ mountPropagation: 'HostToContainer' }, { propagation: 'hostToContainer' }],
    [{ mountPropagation: 'Bidirectional' }, { propagation: 'bidirectional' }],
    [{ mountPropagation: 'None' }, { propagation: 'private' }],
    [{ subPath: 'a/b' }, { hostPath: '/v/disk!a/b!0' }],
    [{ subPathExpr: 'c' }, { hostPath: '/v/disk!c!0' }],
    [{ name: 'image' }, { hostPath: '', image: 'sha256:9', readonly: true }],
    [
      { name: 'image', subPath: 'x' },
      { hostPath: '', image: 'sha256:9', imageSubPath: 'x' },
    ],
    [{ readOnly: true, recursiveReadOnly: 'Enabled' }, { recursiveReadOnly: true }],
    [{ readOnly: true, recursiveReadOnly: 'IfPossible' }, { recursiveReadOnly: true }],
  ])('%j is %j', async (mount, expected) => {
    const [only, ...others] = await mounted([{ name: 'disk', mountPath: '/d', ...mount }]);
    expect(others).toEqual([]);
    expect(only).toMatchObject(expected);
  });

  it('keeps what is below a mount from being written only where the runtime can', async () => {
    const mount = { name: 'disk', mountPath: '/d', readOnly: true };
    const sources = { recursiveReadOnly: false };
    expect((await mounted([{ ...mount, recursiveReadOnly: 'IfPossible' }], sources))[0]).not.toHaveProperty('recursiveReadOnly');
    await expect(mounted([{ ...mount, recursiveReadOnly: 'Enabled' }], sources)).rejects.toThrow('not supported by the runtime');
  });

  it.each<[Partial<VolumeMount>, string]>([
    [{ name: 'none' }, 'cannot find volume "none" to mount into container "app"'],
    [{ subPath: '/abs' }, 'error SubPath `/abs` must not be an absolute path'],
    [{ subPath: 'a/../b' }, "unable to provision SubPath `a/../b`: must not contain '..'"],
    [{ name: 'image', subPath: '../x' }, "must not contain '..'"],
    [{ mountPropagation: 'Odd' }, 'invalid MountPropagation mode: "Odd"'],
    [{ recursiveReadOnly: 'Enabled' }, 'but it is not read-only'],
    [{ readOnly: true, recursiveReadOnly: 'Odd' }, 'unknown recursive read-only mode "Odd"'],
    [
      { readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' },
      'not compatible with propagation "HostToContainer"',
    ],
  ])('refuses %j', async (mount, message) => {
    await expect(mounted([{ name: 'disk', mountPath: '/d', ...mount }])).rejects.toThrow(message);
  });

  it('tells nobody what went wrong on the node with a sub path', async () => {
    const prepareSubPath = () => Promise.reject(new Error('/secret/path is a link'));
    await expect(mounted([{ name: 'disk', mountPath: '/d', subPath: 'x' }], { prepareSubPath })).rejects.toMatchObject({
      message: 'failed to prepare subPath for volumeMount "disk" of container "app"',
      cause: { message: '/secret/path is a link' },
    });
  });
});

describe('files of the agent', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'files-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('keeps the hosts file where it is, so that running containers see the new one', async () => {
    const path = await writeHostsFile(folder, 'u-1', 'one\n');
    expect(path).toBe(join(folder, 'pods/u-1/etc-hosts'));
    const before = await stat(path);
    await writeHostsFile(folder, 'u-1', 'two\n');
    expect(await readFile(path, 'utf8')).toBe('two\n');
    expect((await stat(path)).ino).toBe(before.ino);
    expect(before.mode & 0o777).toBe(0o644);
  });

  it('writes no hosts file that says the same, and reads none that a container has made huge', async () => {
    const path = await writeHostsFile(folder, 'u-1', 'one\n');
    const { mtimeMs } = await stat(path);
    await writeHostsFile(folder, 'u-1', 'one\n');
    expect((await stat(path)).mtimeMs).toBe(mtimeMs);
    await truncate(path, 2 ** 40);
    await writeHostsFile(folder, 'u-1', 'one\n');
    expect(await readFile(path, 'utf8')).toBe('one\n');
  });

  it('makes a termination log that each user can write, and never one that is there', async () => {
    const path = await makeTerminationLog(folder, 'u-1', 'app', 'x');
    const { mode, size } = await stat(path);
    expect([mode & 0o777, size]).toEqual([0o666, 0]);
    await expect(makeTerminationLog(folder, 'u-1', 'app', 'x')).rejects.toThrow('EEXIST');
  });

  it('reads files within a limit, and nothing that would keep it waiting', async () => {
    const path = join(folder, 'file');
    await writeFile(path, 'text');
    expect(await readAtMost(path, 4)).toBe('text');
    await expect(readAtMost(path, 3)).rejects.toThrow('more than 3 bytes');
    await expect(readAtMost(folder, 3)).rejects.toThrow('is no file');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(readAtMost(join(folder, 'pipe'), 3)).rejects.toThrow('is no file');
  });

  it('reads files of a volume, but not through links that lead out of it', async () => {
    const hostPath = join(folder, 'volume');
    await mkdir(join(hostPath, 'in'), { recursive: true });
    await writeFile(join(hostPath, 'in/file'), 'inside');
    await writeFile(join(folder, 'secret'), 'outside');
    await symlink('in/file', join(hostPath, 'link'));
    await symlink(join(folder, 'secret'), join(hostPath, 'out'));
    await writeFile(join(hostPath, 'large'), Buffer.alloc(1024 * 1024 + 1));
    execFileSync('mkfifo', [join(hostPath, 'pipe')]);
    const own = new Map([volume('v', { hostPath })]);
    expect(await readVolumeFile(own, 'v', 'in/file')).toBe('inside');
    expect(await readVolumeFile(own, 'v', 'link')).toBe('inside');
    for (const path of ['out', '../secret', 'in', 'none', 'large', 'pipe']) {
      const error = await readVolumeFile(own, 'v', path).catch((reason: unknown) => reason);
      // the same, whatever is there or not
      expect((error as Error).message).toBe("couldn't parse env file");
    }
    await expect(readVolumeFile(own, 'w', 'x')).rejects.toThrow('cannot find the volume "w" referenced by FileKeyRef');
  });
});
