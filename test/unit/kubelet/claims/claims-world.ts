import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { ProgramFailure } from '../../../../src/base/run-program.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { ClaimVolumes } from '../../../../src/kubelet/claims/claim-volumes.ts';
import { hostPathClaims } from '../../../../src/kubelet/claims/host-path-claims.ts';
import { LocalClaims } from '../../../../src/kubelet/claims/local-claims.ts';
import { MountTurns } from '../../../../src/kubelet/claims/mount-turns.ts';
import type { PersistentVolumeKind } from '../../../../src/kubelet/claims/persistent-volume-kind.ts';
import { type Mounter, VolumeManager } from '../../../../src/kubelet.ts';
import { FakeClock, FakeMounter } from '../../../../src/testing.ts';
import { failureOf, podWith, setUp as setUpVolumes } from '../volumes/volumes-world.ts';

/** A pod with one claimed volume, which its container mounts or has as a device. */
export function podOf(
  spec: object = {},
  metadata: object = {},
  volume: object = { persistentVolumeClaim: { claimName: 'disk' } },
) {
  return podWith([{ name: 'data', ...volume }], spec, metadata);
}

/** What a container's spec says for a pod that has the volume as a device. */
export const asDevice = {
  containers: [{ name: 'app', image: 'app:1', volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }],
};

/** The event that tells of the one volume that is not ready. */
export async function wordsOf(mounting: Promise<unknown>): Promise<string> {
  const [, reason, ...words] = (await failureOf(mounting)).split(' ');
  expect(reason).toMatch(words[0]?.startsWith('MapVolume.') ? 'FailedMapVolume' : 'FailedMount');
  return words.join(' ');
}

const core = '/api/v1';

/** A volume manager whose claims are bound: those of `shop` by their names. */
export async function setUp<M extends Mounter = FakeMounter>(mounter: M = new FakeMounter() as Mounter as M) {
  const clock = new FakeClock();
  const world = await setUpVolumes({ mounter });
  const disk = join(world.rootDirectory, '..', 'disk');
  await mkdir(disk);
  // biome-ignore lint/suspicious/noExplicitAny: the tests change what they like
  const objects = new Map<string, any>();
  const asked: string[] = [];
  const events: string[] = [];
  const warnings: string[] = [];
  const state = { isAway: false, forbidden: 0, labels: { zone: 'a' } as Record<string, string> };
  const transport = {
    async request({ path }: { readonly path: string }) {
      asked.push(path);
      if (state.forbidden > 0) {
        state.forbidden -= 1;
        throw new ApiError({ status: 403, reason: 'Forbidden', message: 'no relationship found', isStatus: true } as never);
      }
      if (state.isAway) throw new Error('connection refused');
      const found = objects.get(path);
      if (found === undefined)
        throw new ApiError({
          status: 404,
          reason: 'NotFound',
          message: `${path.split('/').at(-1)} not found`,
          isStatus: true,
        } as never);
      return structuredClone(found);
    },
    stream: async () => {},
  };
  const note = (fields: { err?: unknown }, message: string): void => void warnings.push(`${message} ${fields.err}`);
  const eventRecorder = {
    event: (_: unknown, type: string, reason: string, text: string) => void events.push(`${type} ${reason} ${text}`),
  };
  const { rootDirectory } = world;
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  /** What is mounted at these folders answers nobody. */
  const hanging = new Set<string>();
  /** No program can be started that asks what is mounted at these folders. */
  const unasked = new Set<string>();
  const mountsAsked: string[] = [];
  const ask = (folder: string): Promise<unknown> => {
    mountsAsked.push(folder);
    if (unasked.has(folder))
      return Promise.reject(new ProgramFailure('stat could not be started', { text: '', isCut: false }, 'EAGAIN'));
    return hanging.has(folder) ? new Promise<never>(() => {}) : Promise.resolve();
  };
  const mountTurns = new MountTurns({ clock: safeClock(clock), ask, logger });
  const newVolumes = (more: Iterable<[string, PersistentVolumeKind]> = []): ClaimVolumes =>
    new ClaimVolumes({
      transport: transport as never,
      kinds: new Map<string, PersistentVolumeKind>([
        ['hostPath', hostPathClaims],
        ['local', new LocalClaims({ rootDirectory, mounter, mountTurns, clock: safeClock(clock), eventRecorder, logger })],
        ...more,
      ]),
      node: () => ({ metadata: { name: 'node-1', labels: state.labels } }),
      rootDirectory,
      clock: safeClock(clock),
    });
  /** As after a restart of the agent. */
  const newManager = (more?: Iterable<[string, PersistentVolumeKind]>): VolumeManager =>
    new VolumeManager({ ...world.options, drivers: newVolumes(more) });
  const bind = (name: string, volumeName: string, source: object, more: object = {}): void => {
    const uid = `uid-of-${name}`;
    objects.set(`${core}/namespaces/shop/persistentvolumeclaims/${name}`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'shop', uid, resourceVersion: '1' },
      spec: { volumeName },
      status: { phase: 'Bound' },
    });
    objects.set(`${core}/persistentvolumes/${volumeName}`, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName, resourceVersion: '1' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        claimRef: { uid, name, namespace: 'shop' },
        volumeMode: 'Filesystem',
        ...source,
        ...more,
      },
    });
  };
  bind('disk', 'pv-1', { local: { path: disk } });
  const claim = () => objects.get(`${core}/namespaces/shop/persistentvolumeclaims/disk`);
  const persistentVolume = () => objects.get(`${core}/persistentvolumes/pv-1`);
  const folder = world.folderOf('local-volume', 'pv-1');
  const all = {
    ...world,
    clock,
    mounter,
    disk,
    objects,
    asked,
    events,
    warnings,
    state,
    hanging,
    mountsAsked,
    unasked,
    newManager,
    bind,
    claim,
    persistentVolume,
    folder,
  };
  return { ...all, manager: newManager() };
}
