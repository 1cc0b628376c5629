import type { JsonObject } from '../../../src/api/json/types.ts';
import { objectOf } from '../../support/answers.ts';
import type { StorageServers } from '../../support/storage/storage-servers.ts';
import { claimJson, makerName, zonalVolume } from '../../support/storage/volume-maker.ts';

const namespace = 'claimed';
const collections = `/api/v1/namespaces/${namespace}`;
/** Of so many pods one has two claims, of which one is for a volume that is there, and one for a new volume. */
const podsPerPair = 10;
/** So many requests are under way at once. */
const atOnce = 16;

/** Pods with claims, and volumes for half of the claims: as many as there are such claims, in three zones. Nothing is spare. */
export class ClaimedPods implements AsyncDisposable {
  pods = 0;
  claims = 0;
  /** The names of the pods that have a node, as the watch tells it. */
  readonly bound = new Set<string>();
  readonly #running = new Set<string>();
  readonly #servers: StorageServers;
  readonly #schedulerName: string;
  readonly #zones: readonly string[];
  #volumes = 0;
  #isOver = false;
  #failure: unknown;

  private constructor(servers: StorageServers, schedulerName: string, zones: readonly string[]) {
    this.#servers = servers;
    this.#schedulerName = schedulerName;
    this.#zones = zones;
    this.#follow().catch((error: unknown) => {
      if (!this.#isOver) this.#failure = error;
    });
  }

  static async begin(servers: StorageServers, schedulerName: string, zones: readonly string[]): Promise<ClaimedPods> {
    objectOf(await servers.admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } }));
    const provisioners = { there: 'kubernetes.io/no-provisioner', made: makerName };
    for (const [name, provisioner] of Object.entries(provisioners)) {
      await servers.create('StorageClass', { metadata: { name }, provisioner, volumeBindingMode: 'WaitForFirstConsumer' });
    }
    return new ClaimedPods(servers, schedulerName, zones);
  }

  /** Resolves once the server has them all. */
  async create(count: number): Promise<void> {
    const numbers = Array.from({ length: count }, (_, index) => this.pods + index);
    this.pods += count;
    const turns = numbers.values();
    // each takes the next one until none is left
    const worker = async (): Promise<void> => {
      for (const number of turns) await this.#createOne(number);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }

  /** True once every pod runs. Throws where the watch of pods has failed. */
  get allRun(): boolean {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#running.size === this.pods;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    return Promise.resolve();
  }

  async #createOne(number: number): Promise<void> {
    const classes = number % podsPerPair === 0 ? ['there', 'made'] : [number % 2 === 0 ? 'there' : 'made'];
    const names = classes.map((className) => `${className}-${number}`);
    this.claims += names.length;
    for (const [index, className] of classes.entries()) {
      if (className === 'there') await this.#createVolume();
      await this.#post('persistentvolumeclaims', claimJson(names[index] ?? '', className));
    }
    await this.#post('pods', {
      metadata: { name: `pod-${number}` },
      spec: {
        schedulerName: this.#schedulerName,
        automountServiceAccountToken: false,
        // no controller takes this taint from a node that is ready
        tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
        containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1' } } }],
        volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      },
    });
  }

  async #createVolume(): Promise<void> {
    this.#volumes += 1;
    const zone = this.#zones[this.#volumes % this.#zones.length] ?? '';
    await this.#servers.create('PersistentVolume', zonalVolume(`there-${this.#volumes}`, { zone, storageClassName: 'there' }));
  }

  async #post(resource: string, body: JsonObject): Promise<void> {
    objectOf(await this.#servers.admin.send('POST', `${collections}/${resource}`, { body }));
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      for await (const event of this.#servers.admin.watchPods(namespace)) {
        if (event.type === 'ERROR') throw new Error(`the watch of pods said ${JSON.stringify(event.object)}`);
        const { metadata, spec, status } = event.object;
        if (spec.nodeName) this.bound.add(metadata.name);
        if (status.phase === 'Running') this.#running.add(metadata.name);
      }
    }
  }
}
