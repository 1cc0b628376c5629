import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiObject } from '../../../src/client/resources/api-resource.ts';
import { handleHash } from '../../../src/kubelet/csi/volume-ids.ts';
import { type AgentRow, type StuckAgent, silentPlugins } from './stuck-agent.ts';

const driver = 'disk.example.com';

/** Resolves with the uid of what is created. */
function create(world: StuckAgent, path: string, object: object): string {
  const created = world.node.objects.target(path).store.create(object) as ApiObject;
  return created.metadata?.uid ?? '';
}

/** A pod that claims a volume of the driver. */
async function startWithClaim(world: StuckAgent): Promise<void> {
  await world.start({ plugins: silentPlugins });
  const uid = create(world, '/api/v1/persistentvolumeclaims', {
    metadata: { name: 'disk', namespace: 'default' },
    spec: { volumeName: 'pv-1' },
    status: { phase: 'Bound' },
  });
  create(world, '/api/v1/persistentvolumes', {
    metadata: { name: 'pv-1' },
    spec: { volumeMode: 'Filesystem', claimRef: { uid }, csi: { driver, volumeHandle: 'h-1' } },
  });
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }];
  world.create({ containers: [{ name: 'app', image: 'app:1', volumeMounts }], volumes });
}

/** What keeps a pod of a node agent from a volume of a storage driver. */
export const podStorageRows: readonly AgentRow[] = [
  {
    id: 'volume-attach-failed',
    title: 'a volume that could not be attached in time',
    about: 'pod',
    kind: 'volume-attach',
    words: 'Volume not attached according to node status for volume "pv-1"',
    log: { message: 'a pod was not synced and will be synced again' },
    event: { reason: 'FailedMount' },
    help: "See what the controller and the driver's attacher say of it (kubectl describe volumeattachment, the log of the external-attacher): they attach volumes to nodes.",
    arrange: async (world) => {
      await startWithClaim(world);
      await world.pass(130_000);
    },
  },
];

/** What is wrong with the volumes of storage drivers on a node agent's node. */
export const agentStorageRows: readonly AgentRow[] = [
  {
    id: 'volume-unattached',
    title: 'a volume that is not attached to the node',
    about: 'node',
    kind: 'volume-attach',
    words: `waits for the volume kubernetes.io/csi/${driver}^h-1: Volume not attached according to node status`,
    retried: false,
    help: "See what the controller and the driver's attacher say of it (kubectl describe volumeattachment, the log of the external-attacher): they attach volumes to nodes.",
    arrange: async (world) => {
      await startWithClaim(world);
      await world.pass(40_000);
    },
  },
  {
    id: 'volume-not-given-back',
    title: 'a volume that no pod uses, and that its driver does not take back',
    about: 'node',
    kind: 'csi-unstage',
    words: `driver name ${driver} not found in the list of registered CSI drivers`,
    log: { message: 'a volume that no pod uses could not be given back; it is tried again' },
    endTold: false,
    help: 'See whether the storage driver runs on this node and what its log says: the node keeps the volume, and nobody detaches it, until the driver takes it back.',
    arrange: async (world) => {
      const rootDirectory = await world.folder();
      const folder = join(rootDirectory, 'plugins', 'kubernetes.io', 'csi', driver, handleHash('h-1'));
      await mkdir(join(folder, 'globalmount'), { recursive: true });
      await writeFile(join(folder, 'vol_data.json'), JSON.stringify({ driverName: driver, volumeHandle: 'h-1' }));
      await world.start({ rootDirectory, plugins: silentPlugins });
      await world.pass(5000);
    },
  },
  {
    id: 'volume-unknown',
    title: "a folder of a driver's volume of which nobody can say what it is",
    about: 'node',
    kind: 'csi-unsure',
    words: 'nobody can say which volumes these folders have',
    log: { message: 'it is not sure which volumes of storage drivers are in use; none is given back until it is' },
    help: 'Mend or remove the folders that the message names: no volume of a driver is given back, and none is said to be unused, until then.',
    arrange: async (world) => {
      const rootDirectory = await world.folder();
      const folder = join(rootDirectory, 'plugins', 'kubernetes.io', 'csi', driver, handleHash('h-1'));
      await mkdir(join(folder, 'globalmount'), { recursive: true });
      await writeFile(join(folder, 'vol_data.json'), '{"driverName":"disk.exam');
      await world.start({ rootDirectory, plugins: silentPlugins });
      await world.pass(5000);
    },
  },
];
