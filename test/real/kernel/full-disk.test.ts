// The folders of a node agent on a file system that is full, or that the kernel has made read-only after an error of the disk.
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mapDevice } from '../../../src/kubelet/claims/device-map.ts';
import { CsiStaging } from '../../../src/kubelet/csi/csi-staging.ts';
import { makeFolders, makeFoldersSync } from '../../../src/node/files/make-folders.ts';
import { FakeMounter } from '../../../src/testing/fakes/fake-mounter.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { NodeWorld } from '../../unit/kubelet/agent/node-world.ts';
import { requireOwnMounts } from './own-mounts.ts';

requireOwnMounts();

/** A small file system of its own. */
async function smallDisk() {
  const disk = await tempDir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'disk', disk]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]));
  const remount = (how: string): void => void execFileSync('mount', ['-o', `remount,${how}`, disk]);
  return { disk, remount };
}

/** A node whose agent keeps all that it has on such a disk. */
async function nodeOnDisk() {
  const { disk, remount } = await smallDisk();
  const world = await NodeWorld.make();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const logged: string[] = [];
  const note = (fields: { err?: unknown }, message: string): void =>
    void logged.push(`${message}: ${fields.err instanceof Error ? fields.err.message : ''}`);
  const agent = world.agent({
    rootDirectory: join(disk, 'kubelet'),
    podLogsDirectory: join(disk, 'logs'),
    evictionHard: {},
    imageGCHighThresholdPercent: 100,
    logger: { debug: () => {}, info: () => {}, warn: note, error: note },
  });
  const events = (): string[] =>
    (world.objects.target('/api/v1/events').store.list() as unknown as { reason: string; message: string }[]).map(
      ({ reason, message }) => `${reason}: ${message}`,
    );
  const phase = (name: string): string | undefined => world.pod(name)?.status?.phase;
  const told = (name: string): string => agent.explain(world.pod(name)?.metadata?.uid ?? '').problem?.message ?? '';
  return { world, agent, disk, remount, events, logged, phase, told };
}

type Node = Awaited<ReturnType<typeof nodeOnDisk>>;

describe.each([
  {
    name: 'full',
    words: 'ENOSPC',
    event: 'Failed',
    spoil: ({ disk }: Node) => writeFile(join(disk, 'filler'), Buffer.alloc(2 * 1024 * 1024)).catch(() => {}),
    mend: ({ disk }: Node) => rm(join(disk, 'filler')),
  },
  {
    name: 'read-only',
    words: 'EROFS',
    event: 'FailedMount',
    spoil: async ({ remount }: Node) => remount('ro'),
    mend: async ({ remount }: Node) => remount('rw'),
  },
])('a disk that is $name', ({ name, words, event, spoil, mend }) => {
  it('keeps new pods waiting, which say so, costs those that run nothing, and all goes on once it is well again', async () => {
    const node = await nodeOnDisk();
    const { world, agent, phase, told } = node;
    await world.through(agent.start());
    world.create('old');
    world.create('leaving');
    await world.pass(10_000);
    expect([phase('old'), phase('leaving')]).toEqual(['Running', 'Running']);

    await spoil(node);
    world.create('new', { containers: [{ name: 'app', image: 'other:1', imagePullPolicy: 'Always' }] });
    await world.pass(60_000);
    expect([phase('old'), phase('leaving'), phase('new')]).toEqual(['Running', 'Running', 'Pending']);
    expect(told('new')).toContain(words);
    expect(node.events().join('\n')).toMatch(new RegExp(`^${event}: .*${words}`, 'm'));
    expect(node.logged.join('\n')).toMatch(new RegExp(`^the allocation of a pod cannot be written: ${words}`, 'm'));
    expect(agent.snapshot().notes.join('\n')).toContain(`default/new: `);

    // its container ends in any case; its files can be removed where that writes nothing
    world.delete('leaving', 5);
    await world.pass(30_000);
    if (name === 'full') expect(world.pod('leaving')).toBeUndefined();
    else expect([phase('leaving'), told('leaving')]).toEqual(['Succeeded', expect.stringContaining(words)]);

    await mend(node);
    await world.pass(600_000);
    expect([phase('old'), phase('new'), world.pod('leaving')]).toEqual(['Running', 'Running', undefined]);
    expect(agent.snapshot().problems).toEqual([]);
    await world.through(agent.stop());
  });

  it('stops no agent that starts on it, and its pods are taken over', async () => {
    const node = await nodeOnDisk();
    const { world, agent, disk, phase } = node;
    await world.through(agent.start());
    world.create('old');
    await world.pass(10_000);
    await world.through(agent.stop());
    await spoil(node);
    const next = world.agent({ rootDirectory: join(disk, 'kubelet'), podLogsDirectory: join(disk, 'logs'), evictionHard: {} });
    await world.through(next.start());
    await world.pass(30_000);
    const started = world.runtime.calls.filter(({ call }) => call === 'StartContainer');
    expect([phase('old'), next.snapshot().pods?.length, started.length]).toEqual(['Running', 1, 1]);
    await world.through(next.stop());
  });
});

describe('a folder that is made', () => {
  it('is refused with the words of the kernel on a disk that is read-only', async () => {
    const { disk, remount } = await smallDisk();
    await makeFolders(join(disk, 'a/b'), 0o755);
    await makeFolders(join(disk, 'a/b'), 0o755);
    remount('ro');
    await makeFolders(join(disk, 'a/b'), 0o755);
    for (const path of ['a/c', 'a/b/c/d']) {
      await expect(makeFolders(join(disk, path), 0o755)).rejects.toMatchObject({ code: 'EROFS' });
      expect(() => makeFoldersSync(join(disk, path), 0o755)).toThrow('EROFS');
    }
    remount('rw');
    await writeFile(join(disk, 'file'), '');
    await expect(makeFolders(join(disk, 'file/a'), 0o755)).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(() => makeFoldersSync(join(disk, 'file/a'), 0o755)).toThrow('ENOTDIR');
    for (const _ of [1, 2]) makeFoldersSync(join(disk, 'c/d'), 0o755);
  });

  it.each([
    ['of a device that a pod gets', mapOnto],
    ['of a volume that a driver stages', stageOnto],
  ])('is refused with these words where it is one %s', async (_, make) => {
    const { disk, remount } = await smallDisk();
    remount('ro');
    await expect(make(disk)).rejects.toMatchObject({ code: 'EROFS' });
  });
});

function mapOnto(disk: string): Promise<void> {
  const map = { globalFolder: join(disk, 'plugins/a/dev'), podLink: join(disk, 'pods/u1/volumeDevices/a/data'), podUID: 'u1' };
  return mapDevice('/dev/null', { ...map, mounter: new FakeMounter() });
}

function stageOnto(disk: string): Promise<void> {
  const staging = new CsiStaging({ rootDirectory: disk } as ConstructorParameters<typeof CsiStaging>[0]);
  const node = {} as Parameters<CsiStaging['stage']>[1]['node'];
  return staging.stage({ driverName: 'csi.example.com', volumeHandle: 'v1' }, { node }, {} as Parameters<CsiStaging['stage']>[2]);
}
