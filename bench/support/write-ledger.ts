import type { PodClient, WirePodStatus } from '../../src/index.ts';
import { withWrites } from './clients.ts';

/**
 * Counts the needed writes. A write is needed when it carries its pod's newest change and no write has carried that change
 * before. The message of a status identifies its change.
 */
export class WriteLedger {
  readonly #newest = new Map<string, string>();
  readonly #carried = new Map<string, string>();
  #needed = 0;

  /** The number of needed writes so far. */
  get needed(): number {
    return this.#needed;
  }

  /** Records a change of the pod. Returns its status, with a message that identifies the change. */
  change(podName: string, number: number, status: WirePodStatus): WirePodStatus & { readonly message: string } {
    const message = `change ${number}`;
    this.#newest.set(podName, message);
    return { ...status, message };
  }

  /** The message of the pod's newest change. */
  newest(podName: string): string | undefined {
    return this.#newest.get(podName);
  }

  /** The given client, with each of its writes recorded in this ledger. */
  observe(client: PodClient): PodClient {
    return withWrites(client, (namespace, name, patch, options) => {
      this.#sent(name, (patch.body as { readonly status?: WirePodStatus }).status?.message);
      return client.patchPodStatus(namespace, name, patch, options);
    });
  }

  #sent(podName: string, message: string | undefined): void {
    if (message === undefined || message !== this.#newest.get(podName) || message === this.#carried.get(podName)) return;
    this.#carried.set(podName, message);
    this.#needed++;
  }
}
