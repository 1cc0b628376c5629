import type { AdminClient } from '../../test/support/admin-client.ts';
import type { ServedPod } from '../../test/support/answers.ts';

/** What one watch told of a pod, by `performance.now()`. */
export interface PodLife {
  readonly createdAt: number;
  readonly boundAt: number;
  readonly nodeName: string;
}

/** Watches the pods of one namespace from its beginning. */
export class BoundTimes {
  readonly #created = new Map<string, number>();
  readonly #lives = new Map<string, PodLife>();
  readonly #count: number;
  readonly #allBound = Promise.withResolvers<void>();

  private constructor(count: number) {
    this.#count = count;
    // whoever waits gets the error; a caller that has failed before waits no more
    this.#allBound.promise.catch(() => {});
  }

  /** The client is closed by the caller, which ends the watch. */
  static async start(admin: AdminClient, namespace: string, count: number): Promise<BoundTimes> {
    const times = new BoundTimes(count);
    const list = await admin.listPods(namespace, { limit: '1' });
    const { resourceVersion } = (list.body as { metadata: { resourceVersion: string } }).metadata;
    times.#read(admin, namespace, resourceVersion).catch((error) => times.#allBound.reject(error));
    return times;
  }

  /** Rejects when it takes longer, and when the watch is refused. */
  async allBound(withinMs = 300_000): Promise<readonly PodLife[]> {
    const missing = () => `${this.#count - this.#lives.size} of ${this.#count} pods are not bound after ${withinMs} ms`;
    const timer = setTimeout(() => this.#allBound.reject(new Error(missing())), withinMs);
    await this.#allBound.promise.finally(() => clearTimeout(timer));
    return [...this.#lives.values()];
  }

  /** A server that has much to do may end a watch: the next one goes on where it ended. */
  async #read(admin: AdminClient, namespace: string, resourceVersion: string): Promise<void> {
    let last = resourceVersion;
    while (this.#lives.size < this.#count) {
      for await (const event of admin.watchPods(namespace, { resourceVersion: last })) {
        if (event.type === 'ERROR') throw new Error(`The watch ended: ${event.object.message}`);
        last = event.object.metadata.resourceVersion ?? last;
        this.#tell(event.object);
      }
    }
  }

  #tell({ metadata: { name }, spec }: ServedPod): void {
    const now = performance.now();
    const createdAt = this.#created.get(name);
    if (createdAt === undefined) this.#created.set(name, now);
    const nodeName = (spec as { nodeName?: string } | undefined)?.nodeName;
    if (nodeName === undefined || this.#lives.has(name)) return;
    this.#lives.set(name, { createdAt: createdAt ?? now, boundAt: now, nodeName });
    if (this.#lives.size === this.#count) this.#allBound.resolve();
  }
}
