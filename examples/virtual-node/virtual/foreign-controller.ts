import type { WirePodCondition } from 'pod-status-manager';
import { type AdminClient, statusOf } from '../admin-client.ts';
import { pause } from '../pause.ts';
import type { PodRef } from '../pod-owners.ts';
import { Random } from '../random.ts';
import { inspectedCondition } from './pod-template.ts';

const writesASecond = 30;

/** Another controller that writes into the same statuses: one condition of its own, on one pod after another. */
export class ForeignController {
  /** Conditions that the server accepted, by pod uid. They must be there at the end. */
  readonly written = new Map<string, WirePodCondition>();
  writes = 0;
  #inspections = 0;
  readonly #admin: AdminClient;
  readonly #namespace: string;
  readonly #pods: ReadonlyMap<string, PodRef>;
  readonly #random: Random;

  constructor(admin: AdminClient, namespace: string, pods: ReadonlyMap<string, PodRef>, seed: number) {
    this.#admin = admin;
    this.#namespace = namespace;
    this.#pods = pods;
    this.#random = new Random(seed, -1);
  }

  /** Resolves when the signal has aborted and no request is in flight. */
  async run(signal: AbortSignal): Promise<void> {
    while (await pause(1000 / writesASecond, signal)) {
      const pod = this.#random.pick([...this.#pods.values()]);
      if (pod !== undefined) await this.#inspect(pod);
    }
  }

  async #inspect({ name, uid }: PodRef): Promise<void> {
    const condition: WirePodCondition = {
      type: inspectedCondition,
      status: this.#random.chance(0.85) ? 'True' : 'False',
      reason: 'Inspected',
      message: `inspection ${++this.#inspections}`,
      lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    };
    try {
      await this.#admin.patchCondition(this.#namespace, name, uid, condition);
      this.writes++;
      this.written.set(uid, condition);
    } catch (error) {
      // a pod deleted meanwhile needs no condition; after a lost answer it is unknown which condition is stored
      if (statusOf(error) === undefined) this.written.delete(uid);
    }
  }
}
