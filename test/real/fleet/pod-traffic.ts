import type { Prng } from '../../random/chaos/prng.ts';
import { pause } from '../../random/faults/pause.ts';
import { type FleetWorld, podNamespace } from '../../support/fleet/fleet-world.ts';

const mostOfNode = 4;

/** Creates and deletes pods on all nodes, all the time. What a server that is away does not do is tried with the next pod. */
export class PodTraffic {
  created = 0;
  deleted = 0;
  readonly #world: FleetWorld;
  readonly #prng: Prng;
  /** The pods of each node that were created and not deleted. */
  readonly #pods = new Map<string, string[]>();
  #isOver = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(world: FleetWorld, prng: Prng) {
    this.#world = world;
    this.#prng = prng;
  }

  /** Two pods for each node, and then so many changes a second. */
  async start(perSecond: number): Promise<void> {
    for (const nodeName of this.#world.nodes) {
      await this.#create(nodeName);
      await this.#create(nodeName);
    }
    this.#loop = this.#run(1000 / perSecond);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loop;
  }

  async #run(everyMs: number): Promise<void> {
    while (!this.#isOver) {
      const nodeName = this.#prng.pick(this.#world.nodes) ?? '';
      const pods = this.#pods.get(nodeName) ?? [];
      const isToCreate = pods.length === 0 || (pods.length < mostOfNode && this.#prng.chance(0.5));
      const change = isToCreate ? this.#create(nodeName) : this.#delete(pods);
      await Promise.all([change.catch(() => {}), pause(everyMs)]);
    }
  }

  async #create(nodeName: string): Promise<void> {
    const name = `${nodeName}-${this.created + 1}`;
    const status = await this.#world.createPod(name, nodeName, this.#prng.pick(['Always', 'Always', 'Never']));
    // a server that died before it had answered may have created it
    if (status !== 201 && status !== 409) return;
    this.created += 1;
    this.#pods.set(nodeName, [...(this.#pods.get(nodeName) ?? []), name]);
  }

  async #delete(pods: string[]): Promise<void> {
    const name = this.#prng.pick(pods) ?? '';
    const gracePeriodSeconds = this.#prng.int(1, 3);
    const { status } = await this.#world.servers.admin.deletePod(podNamespace, name, { gracePeriodSeconds });
    if (status !== 200 && status !== 202 && status !== 404) return;
    this.deleted += 1;
    pods.splice(pods.indexOf(name), 1);
  }
}
