import type { PodClient, WirePodStatus } from '../../src/index.ts';
import { withWrites } from './clients.ts';

/**
 * Tells the writes that were needed from the others. A write is needed when it carries its pod's newest change and no write
 * has carried that change before. A change is known by the message of its status.
 */
export class WriteLedger {
  readonly #newest = new Map<string, string>();
  readonly #carried = new Map<string, string>();
  #needed = 0;

  /** How many needed writes the observed client has been asked for. */
  get needed(): number {
    return this.#needed;
  }

  /** The status as the pod's newest change, with a message of its own. */
  change(podName: string, number: number, status: WirePodStatus): WirePodStatus & { readonly message: string } {
    const message = `change ${number}`;
    this.#newest.set(podName, message);
    return { ...status, message };
  }

  /** The message of the pod's newest change. */
  newest(podName: string): string | undefined {
    return this.#newest.get(podName);
  }

  /** A client that does what the given one does, while the ledger looks at each of its writes. */
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
