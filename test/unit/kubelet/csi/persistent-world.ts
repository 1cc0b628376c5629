import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import { safeClock } from '../../../../src/base/clock.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { CsiStorage } from '../../../../src/kubelet/csi/csi-storage.ts';
import type {
  CsiNode,
  CsiNodeCapability,
  ExpandVolumeRequest,
  PublishVolumeRequest,
  StageVolumeRequest,
} from '../../../../src/kubelet.ts';
import { FakeClock, FakeMounter } from '../../../../src/testing.ts';
import { settleWithFiles } from '../../../support/settle-with-files.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { podWith } from '../volumes/volumes-world.ts';

export const driver = 'disk.example.com';
export const unique = `kubernetes.io/csi/${driver}^h-1`;

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, in parts
type Loose = any;

/** The volumes of a storage driver that is an object of this process, on a node whose objects are those of a map. */
export async function setUp(driverSpec: object | undefined = {}) {
  const rootDirectory = join(await tempDir(), 'root');
  await mkdir(rootDirectory);
  const clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
  const mounter = new FakeMounter();
  const calls: string[] = [];
  const staged: StageVolumeRequest[] = [];
  const published: PublishVolumeRequest[] = [];
  const expanded: ExpandVolumeRequest[] = [];
  const node = { status: {} } as { status: Partial<NonNullable<WireNode['status']>> };
  const state = {
    capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'] as CsiNodeCapability[],
    isRegistered: true,
    /** False: what the node is to say is not written. */
    isWritten: true,
    /** By the name of the call: what comes before the driver's own answer. */
    before: {} as Record<string, () => Promise<unknown>>,
  };
  const objects = new Map<string, Loose>();
  if (driverSpec !== undefined) {
    const spec = { attachRequired: false, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent'], ...driverSpec };
    objects.set(`/apis/storage.k8s.io/v1/csidrivers/${driver}`, { spec });
  }
  const begin = async (name: string, path: string): Promise<void> => {
    calls.push(`${name} ${path.slice(rootDirectory.length + 1)}`);
    await state.before[name]?.();
  };
  const bind = async (path: string): Promise<void> => {
    await mkdir(path, { recursive: true });
    if (!(await mounter.mountsBelow(path)).length) await mounter.bind('/tmp', await realpath(path), {});
  };
  const unbind = async (path: string): Promise<void> => {
    for (const mount of await mounter.mountsBelow(path)) await mounter.unmount(mount);
  };
  const csiNode = {
    getCapabilities: async () => new Set(state.capabilities),
    async stageVolume(request: StageVolumeRequest) {
      staged.push(request);
      await begin('stage', request.stagingTargetPath);
      await bind(request.stagingTargetPath);
    },
    async unstageVolume(_: string, path: string) {
      await begin('unstage', path);
      await unbind(path);
    },
    async publishVolume(request: PublishVolumeRequest) {
      published.push(request);
      await begin('publish', request.targetPath);
      await bind(request.targetPath);
    },
    async unpublishVolume(_: string, path: string) {
      await begin('unpublish', path);
      await unbind(path);
      await rm(path, { recursive: true, force: true });
    },
    async expandVolume(request: ExpandVolumeRequest) {
      expanded.push(request);
      await begin('expand', request.volumePath);
      return request.requiredBytes;
    },
  } as Partial<CsiNode> as CsiNode;
  const requests: string[] = [];
  const transport = {
    async request({ method, path, body }: { readonly method: string; readonly path: string; readonly body?: Loose }) {
      requests.push(`${method} ${path}`);
      const key = path.replace(/\/status$/, '');
      const found = objects.get(key);
      if (found === undefined)
        throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found', isStatus: true } as never);
      if (found instanceof Error) throw found;
      if (method === 'PATCH') objects.set(key, merged(found, body));
      return { metadata: { name: 'x', resourceVersion: '1' }, ...objects.get(key) };
    },
    stream: async () => {},
  };
  const events: string[] = [];
  const warnings: string[] = [];
  const note = (fields: { err?: unknown }, message: string): void => void warnings.push(`${message} ${fields.err}`);
  const newStorage = (): CsiStorage => {
    const storage: CsiStorage = new CsiStorage({
      askFileSystem: async () => {},
      drivers: {
        driver: (name) => {
          if (!state.isRegistered) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
          return { node: csiNode, capabilities: () => csiNode.getCapabilities() };
        },
      },
      transport: transport as never,
      nodeName: 'node-1',
      ...{ rootDirectory, mounter },
      node: () => node as WireNode,
      inUseChanged: () => {
        const names = storage.volumesInUse();
        if (names !== undefined && state.isWritten) node.status.volumesInUse = [...names];
      },
      secrets: { getSecret: () => Promise.reject(new Error('not by a reference of a pod')) },
      tokens: { getToken: async () => ({ token: 't', expiresAt: 0 }) },
      eventRecorder: { event: (_, __, reason, message) => void events.push(`${reason} ${message}`) },
      clock: safeClock(clock),
      random: () => 0,
      logger: { debug: () => {}, info: () => {}, warn: note, error: note },
    });
    onTestFinished(() => storage.stop());
    return storage;
  };
  /** What a pod asks for. */
  const requestOf = (podUID: string, parts: Loose = {}) => {
    const { signal = new AbortController().signal, spec = {}, csi = {}, fsGroup, ...rest } = parts;
    const volume = { name: 'data', persistentVolumeClaim: { claimName: 'disk' } };
    const folder = join(rootDirectory, 'pods', podUID);
    return {
      ...{ pod: podWith([volume], {}, { uid: podUID }), volume, signal, fsGroup },
      ...{ volumesFolder: join(folder, 'volumes'), devicesFolder: join(folder, 'volumeDevices') },
      claim: { metadata: { name: 'disk', namespace: 'shop' }, status: { capacity: { storage: '1Gi' } } } as Loose,
      persistentVolume: {
        metadata: { name: 'pv-1' },
        spec: {
          ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
          csi: { driver, volumeHandle: 'h-1', ...csi },
          ...spec,
        },
      } as Loose,
      ...{ readOnly: false, isBlock: false, mountOptions: [] as string[] },
      ...rest,
    };
  };
  const foldersOf = (podUID: string) => {
    const folder = join(rootDirectory, 'pods', podUID);
    return { volumesFolder: join(folder, 'volumes'), devicesFolder: join(folder, 'volumeDevices') };
  };
  const storage = newStorage();
  const mount = (podUID: string, parts: Loose = {}, by = storage) => by.persistentVolumes.mount(requestOf(podUID, parts));
  /** As the agent takes a pod from the node. */
  const unmount = async (podUID: string, by = storage): Promise<void> => {
    await by.persistentVolumes.unmount(podUID, foldersOf(podUID));
    await by.inline.unmount(podUID, foldersOf(podUID).volumesFolder);
  };
  const settled = (): Promise<void> => settleWithFiles();
  const files = async (): Promise<readonly string[]> =>
    (await readdir(join(rootDirectory, 'plugins', 'kubernetes.io', 'csi', driver), { recursive: true }).catch(() => [])).sort();
  return {
    ...{ rootDirectory, clock, mounter, calls, staged, published, expanded, node, state, objects, requests, events, warnings },
    ...{ newStorage, storage, mount, unmount, requestOf, settled, files, csiNode, foldersOf },
  };
}

/** A merge patch. */
function merged(target: Loose, patch: Loose): Loose {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const out = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else if (value !== undefined) out[key] = merged(out[key] ?? {}, value);
  }
  return out;
}
