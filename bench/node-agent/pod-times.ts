import type { AdminClient } from '../../test/support/admin-client.ts';
import type { ServedPod } from '../../test/support/answers.ts';

type Moment = 'ready' | 'gone';

/** Watches one namespace and says when a pod became Ready and when it was gone, by the time at which the watch told. */
export class PodTimes {
  readonly #seen = new Map<string, number>();
  readonly #waiting = new Map<string, (at: number) => void>();
  readonly #admin: AdminClient;
  readonly #namespace: string;

  constructor(admin: AdminClient, namespace: string) {
    this.#admin = admin;
    this.#namespace = namespace;
  }

  /** Reads until the client is closed. A server that has much to do may end a watch: the next one begins where a list ends. */
  async read(): Promise<void> {
    for (;;) {
      const resourceVersion = await this.#list();
      for await (const event of this.#admin.watchPods(this.#namespace, { resourceVersion })) {
        if (event.type === 'ERROR') break;
        const { metadata } = event.object;
        if (event.type === 'DELETED') this.#tell('gone', metadata.name);
        else if (isReady(event.object)) this.#tell('ready', metadata.name);
      }
    }
  }

  /** Tells what a watch that has ended may not have told. Resolves with the version that the next one begins at. */
  async #list(): Promise<string> {
    const answer = await this.#admin.send('GET', `/api/v1/namespaces/${this.#namespace}/pods`);
    const { items = [], metadata } = answer.body as { items?: ServedPod[]; metadata: { resourceVersion: string } };
    for (const pod of items) if (isReady(pod)) this.#tell('ready', pod.metadata.name);
    const there = new Set(items.map((pod) => pod.metadata.name));
    for (const key of this.#seen.keys()) {
      const [moment, name = ''] = key.split(' ');
      if (moment === 'ready' && !there.has(name)) this.#tell('gone', name);
    }
    return metadata.resourceVersion;
  }

  /** Resolves with `performance.now()` of the first time that it was so. */
  when(moment: Moment, name: string, withinMs = 180_000): Promise<number> {
    const key = `${moment} ${name}`;
    const at = this.#seen.get(key);
    if (at !== undefined) return Promise.resolve(at);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${name} is not ${moment} after ${withinMs} ms`)), withinMs);
      this.#waiting.set(key, (time) => {
        clearTimeout(timer);
        resolve(time);
      });
    });
  }

  #tell(moment: Moment, name: string): void {
    const key = `${moment} ${name}`;
    if (this.#seen.has(key)) return;
    const at = performance.now();
    this.#seen.set(key, at);
    this.#waiting.get(key)?.(at);
    this.#waiting.delete(key);
  }
}

function isReady({ status }: ServedPod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}
