import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ProgramFailure } from '../../../../src/base/run-program.ts';
import { subPathsAtOnce, subPathsOf } from '../../../../src/kubelet/agent/agent-sub-paths.ts';
import { MountTurns } from '../../../../src/kubelet/claims/mount-turns.ts';
import { FakeClock, FakeMounter } from '../../../../src/testing.ts';
import { barePod } from '../../../support/pods.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

/** Volumes of one pod; those that hang answer nobody. */
async function setUp(hanging: readonly string[]) {
  const rootDirectory = await tempDir();
  const podFolder = join(rootDirectory, 'pods', 'u1');
  const clock = new FakeClock();
  const mounter = new FakeMounter();
  const asked: string[] = [];
  const nameOf = (folder: string): string => folder.split('/').at(-1) ?? '';
  const ask = (folder: string) => {
    asked.push(nameOf(folder));
    return hanging.includes(nameOf(folder)) ? new Promise<never>(() => {}) : Promise.resolve();
  };
  const mountTurns = new MountTurns({ clock: safeClock(clock), ask, logger: silentLogger });
  const prepare = subPathsOf({ rootDirectory, mounter, mountTurns });
  const pod = barePod({ metadata: { name: 'web', namespace: 'shop', uid: 'u1' } });
  const shown = async (name: string, type: string, signal = new AbortController().signal): Promise<string> => {
    const hostPath = join(podFolder, 'volumes', name);
    await mkdir(hostPath, { recursive: true });
    const volume = { name, type, hostPath, readonly: false, selinuxRelabel: false };
    return prepare(pod, { volume, containerName: 'app', index: 0, subPath: 'part', readonly: false }, signal);
  };
  return { clock, mounter, asked, shown, podFolder, mountTurns };
}

it('a part of a volume that hangs is not opened, and says which volume it is; parts of others are shown', async () => {
  const { clock, mounter, asked, shown, podFolder } = await setUp(['one', 'two']);
  const failures = [shown('one', 'persistentVolumeClaim'), shown('two', 'csi')].map((showing) =>
    showing.catch((error: unknown) => error),
  );
  expect(await shown('three', 'csi')).toBe(join(podFolder, 'volume-subpaths/three/app/0'));
  expect(await shown('scratch', 'emptyDir')).toBe(join(podFolder, 'volume-subpaths/scratch/app/0'));
  await clock.advance(10_000);
  const why = "it does not answer: it took longer than 10 s; it is asked again 10 s later, at the pod's next sync";
  const [one, two] = await Promise.all(failures);
  expect(one).toMatchObject({
    name: 'ContainerConfigError',
    message:
      `failed to prepare subPath for volumeMount "one" of container "app": the volume "one" hangs: ${why}. ` +
      'Look at its storage driver, its server or its disk',
  });
  expect(two).toMatchObject({ message: expect.stringContaining('the volume "two" hangs') });
  expect(asked.sort()).toEqual(['one', 'three', 'two']);
  expect(mounter.mounts).toHaveLength(2);
});

it('where nobody could ask, the container says which volume that is about, and what helps', async () => {
  const { mountTurns: _, ...world } = await setUp([]);
  const words = { text: '', isCut: false };
  const ask = () => Promise.reject(new ProgramFailure('64 programs hang', words, 'EAGAIN'));
  const mountTurns = new MountTurns({ clock: safeClock(world.clock), ask, logger: silentLogger });
  const prepare = subPathsOf({ rootDirectory: '/root', mounter: world.mounter, mountTurns });
  const volume = { name: 'one', type: 'csi', hostPath: '/volumes/one', readonly: false, selinuxRelabel: false };
  const part = { volume, containerName: 'app', index: 0, subPath: 'part', readonly: false };
  await expect(prepare(barePod(), part, new AbortController().signal)).rejects.toMatchObject({
    name: 'ContainerConfigError',
    message:
      'failed to prepare subPath for volumeMount "one" of container "app": the volume "one": nobody could ask whether it answers: ' +
      "64 programs hang. It is asked again at the pod's next sync; the agent's log names the file systems that hang",
  });
});

it('a volume that begins to hang while its part is shown fails this container alone, and shows nothing later', async () => {
  const { clock, mounter, shown, podFolder, mountTurns } = await setUp([]);
  const answer = Promise.withResolvers<void>();
  const { mountsBelow } = mounter;
  const looked = Promise.withResolvers<void>();
  mounter.mountsBelow = async (path) => {
    if (path === join(podFolder, 'volume-subpaths')) {
      looked.resolve();
      await answer.promise;
    }
    return mountsBelow.call(mounter, path);
  };
  const failure = shown('one', 'csi').catch((error: unknown) => error);
  await looked.promise;
  await clock.advance(90_000);
  expect(await failure).toMatchObject({
    message: expect.stringContaining('has not ended for 90 s; what is mounted there hangs'),
  });
  answer.resolve();
  mounter.mountsBelow = mountsBelow;
  // in its turn: after all that the first call does
  await mountTurns.run(join(podFolder, 'volumes/one'), async () => {}, new AbortController().signal);
  expect([mounter.mounts, await readdir(podFolder)]).toEqual([[], ['volumes']]);
  expect(await shown('two', 'csi')).toBe(join(podFolder, 'volume-subpaths/two/app/0'));
});

it('a pod that is to end waits for no answer', async () => {
  const { shown } = await setUp(['one']);
  const ending = new AbortController();
  const showing = shown('one', 'csi', ending.signal);
  ending.abort(new Error('the pod ends'));
  await expect(showing).rejects.toThrow('the pod ends');
});

it.each([
  [undefined, 1],
  ['', 1],
  ['many', 1],
  ['4', 1],
  ['16', 13],
  ['100000', 1021],
])('with UV_THREADPOOL_SIZE=%s so many parts are opened at once that threads are left', (threads, most) => {
  expect(subPathsAtOnce(threads)).toBe(most);
});

it('a volume that hangs although it has answered holds one turn, however many pods have it, and parts of other volumes are shown', async () => {
  const rootDirectory = await tempDir();
  const clock = safeClock(new FakeClock());
  const mounter = new FakeMounter();
  const turns = new MountTurns({ clock, ask: async () => {}, mostOverall: 2, logger: silentLogger });
  const prepare = subPathsOf({ rootDirectory, mounter, mountTurns: turns });
  const { mountsBelow } = mounter;
  const opened: string[] = [];
  mounter.mountsBelow = (path) => {
    if (path.endsWith('volume-subpaths')) opened.push(path.split('/').at(-2) ?? '');
    return path.includes('/dead') ? new Promise<never>(() => {}) : mountsBelow.call(mounter, path);
  };
  const show = async (uid: string, name: string, type: string): Promise<string> => {
    const hostPath = join(rootDirectory, 'pods', uid, 'volumes/kubernetes.io~local-volume', name);
    await mkdir(hostPath, { recursive: true });
    const volume = { name, type, hostPath, readonly: false, selinuxRelabel: false };
    const part = { volume, containerName: 'app', index: 0, subPath: 'part', readonly: false };
    return prepare(barePod({ metadata: { name: 'web', namespace: 'shop', uid } }), part, new AbortController().signal);
  };
  for (const uid of ['dead-1', 'dead-2', 'dead-3']) void show(uid, 'disk', 'persistentVolumeClaim');
  await until(() => opened.length === 1);
  expect(await show('u4', 'other', 'persistentVolumeClaim')).toContain('u4/volume-subpaths/other/app/0');
  // what stands in the spec of a pod is that pod's alone
  expect(await show('u5', 'disk', 'csi')).toContain('u5/volume-subpaths/disk/app/0');
  expect(opened.filter((uid) => uid.startsWith('dead'))).toHaveLength(1);
});
