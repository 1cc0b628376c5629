import { mkdir, realpath, rmdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { safeClock } from '../../../../src/base/clock.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { CsiStorage } from '../../../../src/kubelet/csi/csi-storage.ts';
import { type CsiNode, type CsiNodeCapability, type PublishVolumeRequest, VolumeManager } from '../../../../src/kubelet.ts';
import { FakeClock, FakeMounter } from '../../../../src/testing.ts';
import { podWith, setUp as setUpVolumes } from '../volumes/volumes-world.ts';

export const driver = 'disk.example.com';

/** A pod with one volume of the driver. */
export const podOf = (csi: object = {}, spec: object = {}) => podWith([{ name: 'data', csi: { driver, ...csi } }], spec);

/** A volume manager whose storage driver is an object of this process. Its folder may be known by a path with a symbolic link. */
export async function setUp(driverSpec: object = {}, isLinked = false) {
  const clock = new FakeClock();
  const mounter = new FakeMounter();
  const world = await setUpVolumes({ mounter });
  const toldRoot = isLinked ? join(world.rootDirectory, '..', 'link') : world.rootDirectory;
  if (isLinked) await symlink(world.rootDirectory, toldRoot);
  const published: PublishVolumeRequest[] = [];
  const unpublished: string[] = [];
  const told: string[] = [];
  const state = {
    spec: { volumeLifecycleModes: ['Ephemeral'], fsGroupPolicy: 'File', ...driverSpec } as object | undefined,
    capabilities: [] as CsiNodeCapability[],
    isRegistered: true,
    /** True: what is mounted answers nobody. */
    hangs: false,
    onPublish: async (_: PublishVolumeRequest): Promise<void> => {},
    onUnpublish: async (_: string): Promise<void> => {},
  };
  const node = {
    getCapabilities: async () => new Set(state.capabilities),
    async publishVolume(request: PublishVolumeRequest) {
      published.push(request);
      await state.onPublish(request);
      await mkdir(request.targetPath, { recursive: true });
      const target = await realpath(request.targetPath);
      if (!(await mounter.mountsBelow(target)).length) await mounter.bind('/tmp', target, {});
    },
    async unpublishVolume(volumeID: string, targetPath: string) {
      unpublished.push(`${volumeID} ${targetPath}`);
      await state.onUnpublish(targetPath);
      await mounter.unmount(await realpath(targetPath));
      await rmdir(targetPath);
    },
  } as Partial<CsiNode> as CsiNode;
  const transport = {
    request: async ({ path }: { readonly path: string }) => {
      told.push(path);
      if (state.spec === undefined)
        throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found', isStatus: true } as never);
      return {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIDriver',
        metadata: { name: driver, resourceVersion: '1' },
        spec: state.spec,
      };
    },
    stream: async () => {},
  };
  const events: string[] = [];
  const warnings: string[] = [];
  const note = (fields: { err?: unknown }, message: string): void => void warnings.push(`${message} ${fields.err}`);
  const secrets = new Map<string, Record<string, string>>();
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const tokens = { asked: [] as object[] };
  const newVolumes = () =>
    new CsiStorage({
      askFileSystem: () => (state.hangs ? new Promise<never>(() => {}) : Promise.resolve()),
      drivers: {
        driver: (name) => {
          if (!state.isRegistered) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
          return { node, capabilities: () => node.getCapabilities() };
        },
      },
      transport: transport as never,
      nodeName: 'node-1',
      rootDirectory: `${toldRoot}/`,
      mounter,
      secrets: {
        async getSecret(namespace, name) {
          const data = secrets.get(`${namespace}/${name}`);
          if (data === undefined) throw new Error(`secret "${name}" not found`);
          return { data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])) };
        },
      },
      tokens: {
        async getToken(_, request) {
          tokens.asked.push(request);
          return { token: `token-of-${request.audience}`, expiresAt: Date.UTC(2030, 0, 1) };
        },
      },
      eventRecorder: { event: (_, __, reason, message) => void events.push(`${reason} ${message}`) },
      clock: safeClock(clock),
      logger: { debug: () => {}, info: () => {}, warn: note, error: note },
      ...{ random: () => 0.5, node: () => undefined, inUseChanged: () => {} },
    }).inline;
  const options = { ...world.options, rootDirectory: `${toldRoot}/`, drivers: newVolumes() };
  const manager = new VolumeManager(options);
  return {
    ...world,
    options,
    manager,
    toldRoot,
    mounter,
    clock,
    state,
    published,
    unpublished,
    events,
    warnings,
    secrets,
    tokens,
    newVolumes,
    node,
  };
}
