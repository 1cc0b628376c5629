// Rules and the file's format after pkg/kubelet/userns and getKubeletMappings, v1.36.3.

import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { idsForPods, UserNamespaces, type UserNamespacesOptions } from '../../../../src/kubelet/containers/user-namespaces.ts';
import { barePod } from '../../../support/pods.ts';

const unit = 65_536;
let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'userns-'));
});
afterEach(() => rm(root, { recursive: true }));

const podOf = (uid: string, hostUsers: boolean | 'absent' = false): Pod =>
  barePod({ metadata: { uid }, spec: { ...(hostUsers !== 'absent' && { hostUsers }), containers: [{ name: 'c' }] } });

function namespaces(more: Partial<UserNamespacesOptions> = {}): UserNamespaces {
  return new UserNamespaces({
    rootDirectory: root,
    idsPerPod: unit,
    maxPods: 2,
    handlerKnows: () => true,
    range: async () => ({ first: unit, length: 3 * unit }),
    ...more,
  });
}

const fileOf = (uid: string) => join(root, 'pods', uid, 'userns');
const first = async (given: UserNamespaces, uid: string) => (await given.idsOf(podOf(uid), ''))?.hostID;

async function keep(uid: string, said: unknown): Promise<void> {
  await mkdir(join(root, 'pods', uid), { recursive: true });
  await writeFile(fileOf(uid), typeof said === 'string' ? said : JSON.stringify(said));
}

/** The next file is written, and then its folder cannot be. */
async function folderCannotBeSynced(before = async (): Promise<void> => {}): Promise<AsyncDisposable> {
  const handle = await open(root);
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync');
  await handle.close();
  sync.mockResolvedValueOnce(undefined).mockImplementationOnce(async () => {
    await before();
    throw new Error('EIO');
  });
  return { [Symbol.asyncDispose]: async () => sync.mockRestore() };
}

describe('the ids of a pod with hostUsers: false', () => {
  it('are its own, kept in its folder, and the same whenever it is asked for', async () => {
    const given = namespaces();
    const pods = ['a', 'b'].map((uid) => podOf(uid));
    const all = await Promise.all([...pods, ...pods].map((pod) => given.idsOf(pod, '')));
    expect(all.map((ids) => ids?.hostID)).toEqual([unit, 2 * unit, unit, 2 * unit]);
    expect(all[0]).toEqual({ hostID: unit, containerID: 0, length: unit });
    const mapping = [{ hostId: 2 * unit, containerId: 0, length: unit }];
    expect(JSON.parse(await readFile(fileOf('b'), 'utf8'))).toEqual({ uidMappings: mapping, gidMappings: mapping });
    expect((await stat(fileOf('b'))).mode & 0o777).toBe(0o600);
    expect(given.podUIDs).toEqual(['a', 'b']);
  });

  it('are none of a pod with the users of the machine', async () => {
    const given = namespaces({ handlerKnows: () => false });
    expect(await given.idsOf(podOf('a', true), '')).toBeUndefined();
    expect(await given.idsOf(podOf('b', 'absent'), '')).toBeUndefined();
    expect(given.podUIDs).toEqual([]);
  });

  it('outlive the agent, and nobody else gets them', async () => {
    const before = namespaces();
    expect(await first(before, 'a')).toBe(unit);
    expect(await first(before, 'b')).toBe(2 * unit);
    const after = namespaces();
    expect(await first(after, 'c')).toBe(3 * unit);
    expect(await first(after, 'b')).toBe(2 * unit);
    expect(after.podUIDs.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('are free again once they were given back', async () => {
    const given = namespaces();
    for (const uid of ['a', 'b', 'c']) await first(given, uid);
    await expect(first(given, 'd')).rejects.toThrow('the pod cannot get a user namespace: all ids are taken');
    await given.release('b');
    await given.release('unknown');
    await expect(stat(fileOf('b'))).rejects.toThrow('ENOENT');
    expect(await first(given, 'd')).toBe(2 * unit);
    expect(await first(namespaces(), 'd')).toBe(2 * unit);
  });

  it('are not used where they cannot be kept, and tried again', async () => {
    await mkdir(join(root, 'pods'));
    await writeFile(join(root, 'pods', 'a'), '');
    const given = namespaces();
    await expect(first(given, 'a')).rejects.toThrow('the pod cannot get a user namespace: ');
    expect(await first(given, 'b')).toBe(unit);
    await rm(join(root, 'pods', 'a'));
    expect(await first(given, 'a')).toBe(2 * unit);
  });

  it("are nobody else's where the pod comes back while they are given back", async () => {
    const given = namespaces();
    await first(given, 'a');
    const [, again] = await Promise.all([given.release('a'), first(given, 'a')]);
    expect(await first(given, 'b')).not.toBe(again);
    expect(await first(namespaces(), 'a')).toBe(again);
  });

  it('are free again where only the folder of the file could not be written for good', async () => {
    await using _failure = await folderCannotBeSynced();
    const given = namespaces();
    await expect(first(given, 'a')).rejects.toThrow('the pod cannot get a user namespace: EIO');
    await expect(stat(fileOf('a'))).rejects.toThrow('ENOENT');
    expect(given.podUIDs).toEqual([]);
    expect(await first(given, 'b')).toBe(unit);
    expect(await first(given, 'a')).toBe(2 * unit);
  });

  it('stay those of the pod while the file that names them can be neither kept nor removed', async () => {
    await using _failure = await folderCannotBeSynced(async () => {
      await rm(fileOf('a'));
      await mkdir(fileOf('a'));
    });
    const given = namespaces();
    await expect(first(given, 'a')).rejects.toThrow('the pod cannot get a user namespace: EIO');
    expect(await first(given, 'b')).toBe(2 * unit);
    await expect(first(given, 'a')).rejects.toThrow('the pod cannot get a user namespace: ');
    await expect(given.release('a')).rejects.toThrow(fileOf('a'));
    expect(given.podUIDs).toEqual(['a', 'b']);
    await rm(fileOf('a'), { recursive: true });
    expect(await first(given, 'a')).toBe(unit);
    expect(await first(namespaces(), 'a')).toBe(unit);
  });

  it.each([
    ['', undefined, 'the container runtime has not said that it knows user namespaces'],
    ['', false, 'the container runtime has no user namespaces'],
    ['kata', false, 'the runtime handler "kata" has no user namespaces'],
  ])('need a runtime that knows them: %j %j', async (handler, knows, words) => {
    await expect(namespaces({ handlerKnows: () => knows }).idsOf(podOf('a'), handler)).rejects.toThrow(words);
    await expect(stat(fileOf('a'))).rejects.toThrow('ENOENT');
  });

  it.each([
    [{ first: unit + 1, length: 2 * unit }, 'are no multiples of 65536'],
    [{ first: unit, length: 2 * unit + 1 }, 'are no multiples of 65536'],
    [{ first: 0, length: 3 * unit }, 'begin below 65536'],
    [{ first: unit, length: unit }, 'are too few for 2 pods of 65536 ids'],
  ])('come from ids that pods may have: not %j', async (range, words) => {
    await expect(first(namespaces({ range: async () => range }), 'a')).rejects.toThrow(words);
  });

  const mapping = (hostId: unknown, more: object = {}) => [{ hostId, containerId: 0, length: unit, ...more }];
  it.each([
    ['no JSON', 'no file of ours'],
    ['two ranges', { uidMappings: [...mapping(unit), ...mapping(2 * unit)], gidMappings: mapping(unit) }],
    ['other groups', { uidMappings: mapping(unit), gidMappings: mapping(2 * unit) }],
    [
      'other ids in the container',
      { uidMappings: mapping(unit, { containerId: 7 }), gidMappings: mapping(unit, { containerId: 7 }) },
    ],
    ['another length', { uidMappings: mapping(unit, { length: 1 }), gidMappings: mapping(unit, { length: 1 }) }],
    ['ids of the machine', { uidMappings: mapping(0), gidMappings: mapping(0) }],
    ['ids that are no pods', { uidMappings: mapping(9 * unit), gidMappings: mapping(9 * unit) }],
  ])('are given to nobody while a pod has a file with %s, which is named', async (_what, said) => {
    await keep('old', said);
    const given = namespaces();
    await expect(first(given, 'a')).rejects.toThrow(`no pod can get a user namespace: ${fileOf('old')} has not 65536 ids`);
    await rm(fileOf('old'));
    expect(await first(given, 'a')).toBe(unit);
  });

  it('are given to nobody while two pods have the same', async () => {
    const same = { uidMappings: mapping(unit), gidMappings: mapping(unit) };
    await keep('old', same);
    await keep('older', same);
    await expect(first(namespaces(), 'a')).rejects.toThrow('another pod has the same ids');
  });
});

describe('the ids that pods may get', () => {
  const user = 'root:x:0:0::/root:/bin/sh\nkubelet:x:999:999::/:/bin/false\n';
  const of = (users: string, ...said: (string | undefined)[]) =>
    idsForPods(unit, { users: async () => users, subordinates: async (whose) => said[whose === 'users' ? 0 : 1] });
  const all = { first: unit, length: 2 ** 32 - unit };

  it.each([
    ['all but the first ones where there is no user kubelet', 'root:x:0:0::/root:/bin/sh\n', ['0: kubelet 65536 131072\n'], all],
    ['all but the first ones without getsubids', user, [undefined], all],
    [
      'those of the user kubelet',
      user,
      ['0: kubelet 65536 131072\n', '0: kubelet 65536 131072\n'],
      { first: unit, length: 2 * unit },
    ],
  ])('are %s', async (_what, users, said, expected) => {
    expect(await of(users, ...said)).toEqual(expected);
  });

  it.each([
    ['0: kubelet 65536 131072\n', '0: kubelet 131072 131072\n', 'other ids of users than of groups'],
    ['0: kubelet 65536 65536\n1: kubelet 0 1\n', '0: kubelet 65536 65536\n1: kubelet 0 1\n', 'no single range'],
    ['', '', 'no single range'],
    ['0: kubelet 65536 4294967296\n', '0: kubelet 65536 4294967296\n', 'no single range'],
  ])('are not what is no range: %j %j', async (users, groups, words) => {
    await expect(of(user, users, groups)).rejects.toThrow(words);
  });

  it('fill no more than the kernel has', async () => {
    const { first: begin, length } = await idsForPods(3 * unit, { users: async () => '', subordinates: async () => undefined });
    expect(begin).toBe(3 * unit);
    expect(length % (3 * unit)).toBe(0);
    expect(begin + length).toBeLessThanOrEqual(2 ** 32);
  });
});
