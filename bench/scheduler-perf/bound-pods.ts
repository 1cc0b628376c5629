import type { AdminClient } from '../../test/support/admin-client.ts';
import { listOf, type ServedPod } from '../../test/support/answers.ts';

interface Wanted {
  readonly namespace: string;
  readonly count: number;
  readonly reached: PromiseWithResolvers<void>;
}

/** Counts the pods of each namespace that have got a node, by one watch that tells of nothing else. */
export class BoundPods {
  readonly #counts = new Map<string, number>();
  #wanted: Wanted | undefined;

  private constructor() {}

  /** The client is closed by the caller, which ends the watch. */
  static async start(admin: AdminClient): Promise<BoundPods> {
    const bound = new BoundPods();
    const { resourceVersion } = listOf(await admin.listPods(undefined, { limit: '1' })).metadata;
    bound.#read(admin, resourceVersion).catch((error) => bound.#wanted?.reached.reject(error));
    return bound;
  }

  count(namespace: string): number {
    return this.#counts.get(namespace) ?? 0;
  }

  /** One at a time. Rejects when it takes longer, and when the watch ends. */
  async reached(namespace: string, count: number, withinMs: number): Promise<void> {
    if (this.count(namespace) >= count) return;
    const reached = Promise.withResolvers<void>();
    this.#wanted = { namespace, count, reached };
    const missing = (): string => `${count - this.count(namespace)} of ${count} pods have no node after ${withinMs} ms`;
    const timer = setTimeout(() => reached.reject(new Error(missing())), withinMs);
    await reached.promise.finally(() => clearTimeout(timer));
  }

  /** A server that has much to do may end a watch: the next one goes on where it ended. A pod is added once, when it gets its node. */
  async #read(admin: AdminClient, resourceVersion: string): Promise<void> {
    for (let last = resourceVersion; ; ) {
      for await (const event of admin.watch<ServedPod>('/api/v1/pods', {
        resourceVersion: last,
        fieldSelector: 'spec.nodeName!=',
      })) {
        if (event.type === 'ERROR') throw new Error(`The watch ended: ${event.object.message}`);
        last = event.object.metadata.resourceVersion;
        if (event.type === 'ADDED') this.#add(event.object.metadata.namespace);
      }
    }
  }

  #add(namespace: string): void {
    const count = this.count(namespace) + 1;
    this.#counts.set(namespace, count);
    if (this.#wanted?.namespace === namespace && count >= this.#wanted.count) this.#wanted.reached.resolve();
  }
}
