import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { AdminClient } from '../admin-client.ts';
import { objectOf, type ServedObject } from '../answers.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { SupervisedProcess } from '../control-plane/supervised-process.ts';
import { readEtcdVersions } from '../fleet/etcd-versions.ts';
import { goTool } from '../go-tools.ts';
import { type StorageVersion, storageVersion, storedKeys } from './storage-record.ts';

/** With these etcd keeps every version, in words that can be read. */
const storageFlags = ['--storage-media-type=application/json', '--etcd-compaction-interval=0'];

const storageControllers: readonly string[] = ['persistentvolume-binder-controller', 'ephemeral-volume-controller'];

const collections = {
  Node: '/api/v1/nodes',
  PersistentVolume: '/api/v1/persistentvolumes',
  StorageClass: '/apis/storage.k8s.io/v1/storageclasses',
  CSINode: '/apis/storage.k8s.io/v1/csinodes',
  CSIDriver: '/apis/storage.k8s.io/v1/csidrivers',
} as const;

/** A control plane with real controllers: those that bind volumes to claims, and make claims for ephemeral volumes. It has no scheduler. */
export class StorageServers implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly admin: AdminClient;
  readonly #controllers: SupervisedProcess;
  readonly #dir: string;

  private constructor(controlPlane: ControlPlane, controllers: SupervisedProcess, dir: string) {
    this.controlPlane = controlPlane;
    this.admin = new AdminClient(controlPlane.kubeConfig());
    this.#controllers = controllers;
    this.#dir = dir;
  }

  /** `controllerNames`: of kube-controller-manager, by their names. */
  static async start(controllerNames = storageControllers): Promise<StorageServers> {
    const command = await goTool('kube-controller-manager');
    const controlPlane = await ControlPlane.start({ apiServerArgs: storageFlags, quiet: true });
    const dir = await mkdtemp(join(tmpdir(), 'storage-servers-'));
    const kubeconfig = join(dir, 'admin.kubeconfig');
    await controlPlane.writeKubeconfig(kubeconfig);
    const controllers = await SupervisedProcess.start({
      command,
      args: [
        ...[`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--bind-address=127.0.0.1', '--secure-port=0'],
        `--controllers=${controllerNames.join()}`,
        ...['--pvclaimbinder-sync-period=5s', '--kube-api-qps=1000', '--kube-api-burst=1000'],
      ],
      logFile: join(dir, 'kube-controller-manager.log'),
    });
    return new StorageServers(controlPlane, controllers, dir);
  }

  kubeConfig(): KubeConfig {
    return this.controlPlane.kubeConfig();
  }

  /** Creates an object of the cluster. Throws where the server refuses it. */
  async create(kind: keyof typeof collections, body: JsonObject): Promise<ServedObject> {
    return objectOf(await this.admin.send('POST', collections[kind], { body }));
  }

  /** Every version that there was of the pods, the claims and the volumes, in the order in which etcd took them. */
  async history(): Promise<StorageVersion[]> {
    const versions: StorageVersion[] = [];
    await readEtcdVersions(this.controlPlane.etcdUrl, storedKeys, (found) => versions.push(storageVersion(found)));
    return versions;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.close();
    await this.#controllers.stop();
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
