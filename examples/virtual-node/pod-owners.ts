import type { WirePod } from 'pod-status-manager';
import { type AdminClient, statusOf } from './admin-client.ts';
import { pause } from './pause.ts';
import { Random } from './random.ts';

export interface PodOwnersOptions {
  readonly admin: AdminClient;
  readonly namespace: string;
  /** Makes the pod of one life. `suffix` makes its name its own. */
  readonly makePod: (suffix: string, random: Random) => WirePod;
  readonly pods: number;
  readonly seconds: number;
  readonly seed: number;
}

/** The owners of the pods, one for each: an owner creates its pod, lets it live, deletes it, and creates the next one. */
export class PodOwners {
  created = 0;
  deleted = 0;
  /** What the server refused, and should not have. */
  readonly failures: string[] = [];
  readonly #options: PodOwnersOptions;

  constructor(options: PodOwnersOptions) {
    this.#options = options;
  }

  /** Resolves when the signal has aborted and no request is under way. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.pods }, (_, slot) => this.#own(slot, signal)));
  }

  async #own(slot: number, signal: AbortSignal): Promise<void> {
    const { pods, seconds, seed, makePod } = this.#options;
    const random = new Random(seed, slot);
    if (!(await pause((slot / pods) * Math.min(5000, seconds * 250), signal))) return;
    for (let life = 0; !signal.aborted; life++) {
      const pod = await this.#create(makePod(`${slot}-${life}`, random));
      if (pod === undefined) return;
      if (!(await pause(random.between(0.3, 0.9) * seconds * 1000, signal))) return;
      await this.#delete(pod, random.chance(0.1));
    }
  }

  async #create(pod: WirePod): Promise<WirePod | undefined> {
    try {
      const made = await this.#options.admin.createPod(this.#options.namespace, pod);
      this.created++;
      return made;
    } catch (error) {
      this.failures.push(`a pod could not be created: ${String(error)}`);
      return undefined;
    }
  }

  async #delete({ metadata }: WirePod, force: boolean): Promise<void> {
    const { admin, namespace } = this.#options;
    const { name = '', uid = '' } = metadata ?? {};
    try {
      await admin.deletePod(namespace, name, uid, force ? 0 : undefined);
      this.deleted++;
    } catch (error) {
      if (statusOf(error) !== 404) this.failures.push(`${name} could not be deleted: ${String(error)}`);
    }
  }
}
