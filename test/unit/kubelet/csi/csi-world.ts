import { mkdir, rmdir } from 'node:fs/promises';
import { safeClock } from '../../../../src/base/clock.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { CsiVolumes } from '../../../../src/kubelet/csi/csi-volumes.ts';
import type { CsiNode, CsiNodeCapability, PublishVolumeRequest } from '../../../../src/kubelet.ts';
import { FakeClock, FakeMounter } from '../../../../src/testing.ts';
import { podWith, setUp as setUpVolumes } from '../volumes/volumes-world.ts';

export const driver = 'disk.example.com';

/** A pod with one volume of the driver. */
export const podOf = (csi: object = {}, spec: object = {}) => podWith([{ name: 'data', csi: { driver, ...csi } }], spec);

/** A volume manager whose storage driver is an object of this process. */
export async function setUp(driverSpec: object = {}) {
  const clock = new FakeClock();
  const mounter = new FakeMounter();
  const published: PublishVolumeRequest[] = [];
  const unpublished: string[] = [];
  const told: string[] = [];
  const state = {
    spec: { volumeLifecycleModes: ['Ephemeral'], fsGroupPolicy: 'File', ...driverSpec } as object | undefined,
    capabilities: [] as CsiNodeCapability[],
    isRegistered: true,
    onPublish: async (_: PublishVolumeRequest): Promise<void> => {},
    onUnpublish: async (_: string): Promise<void> => {},
  };
  const node = {
    getCapabilities: async () => new Set(state.capabilities),
    async publishVolume(request: PublishVolumeRequest) {
      published.push(request);
      await state.onPublish(request);
      await mkdir(request.targetPath, { recursive: true });
      if (!(await mounter.mountsBelow(request.targetPath)).length) await mounter.bind('/tmp', request.targetPath, {});
    },
    async unpublishVolume(volumeID: string, targetPath: string) {
      unpublished.push(`${volumeID} ${targetPath}`);
      await state.onUnpublish(targetPath);
      await mounter.unmount(targetPath);
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
  const newVolumes = (): CsiVolumes =>
    new CsiVolumes({
      drivers: {
        driver: (name) => {
          if (!state.isRegistered) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
          return { node, capabilities: () => node.getCapabilities() };
        },
      },
      transport: transport as never,
      nodeName: 'node-1',
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
    });
  const world = await setUpVolumes({ mounter, drivers: newVolumes() });
  return { ...world, mounter, clock, state, published, unpublished, events, warnings, secrets, tokens, newVolumes, node };
}
