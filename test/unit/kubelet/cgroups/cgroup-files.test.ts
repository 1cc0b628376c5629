import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernelCgroupFiles as files } from '../../../../src/kubelet/cgroups/cgroup-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cgroup-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('kernelCgroupFiles', () => {
  it('reads what is there, and says when nothing is', async () => {
    await writeFile(join(folder, 'file'), 'text\n');
    expect(await files.read(join(folder, 'file'))).toBe('text\n');
    expect(await files.read(join(folder, 'none'))).toBeUndefined();
    expect(await files.read(join(folder, 'file/below'))).toBeUndefined();
    await expect(files.read(folder)).rejects.toThrow('EISDIR');
  });

  it('writes into files of the kernel, and never makes one', async () => {
    await writeFile(join(folder, 'file'), '1');
    await files.write(join(folder, 'file'), '2');
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('2');
    await expect(files.write(join(folder, 'none'), '2')).rejects.toThrow('ENOENT');
    expect(await readdir(folder)).toEqual(['file']);
  });

  it('makes and removes folders, and takes what is done already for done', async () => {
    const group = join(folder, 'group');
    await files.makeFolder(group);
    await files.makeFolder(group);
    await expect(files.makeFolder(join(folder, 'none/group'))).rejects.toThrow('ENOENT');
    await files.removeFolder(group);
    await files.removeFolder(group);
    await mkdir(join(group, 'inner'), { recursive: true });
    await expect(files.removeFolder(group)).rejects.toThrow('ENOTEMPTY');
  });

  it('lists folders, but not the links that lead to them', async () => {
    await mkdir(join(folder, 'cpu,cpuacct'));
    await symlink('cpu,cpuacct', join(folder, 'cpu'));
    await writeFile(join(folder, 'file'), '');
    expect(await files.foldersIn(folder)).toEqual(['cpu,cpuacct']);
    expect(await files.foldersIn(join(folder, 'none'))).toBeUndefined();
  });

  it('kills a process, and takes one that has ended for killed', async () => {
    const sleeper = spawn('sleep', ['60']);
    const ended = once(sleeper, 'exit');
    files.kill(sleeper.pid ?? 0);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(() => files.kill(sleeper.pid ?? 0)).not.toThrow();
  });
});
