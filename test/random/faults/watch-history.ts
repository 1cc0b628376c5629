import type { KubeConfig } from '@kubernetes/client-node';
import type { WirePod } from '../../../src/api/json/types.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { podListOf } from '../../support/answers.ts';
import type { Checker } from '../chaos/check/checker.ts';
import type { History } from './history.ts';
import { ReadingLoop } from './reading-loop.ts';

/** Feeds a checker from a watch of its own, straight from the server. Lists again where the server has forgotten old versions. */
export class WatchHistory implements History {
  readonly checker: Checker;
  readonly #namespace: string;
  readonly #client: AdminClient;
  /** When the server is away, the next watch brings the versions that were missed. */
  readonly #loop = new ReadingLoop(() => this.#read(), 100);
  #resourceVersion: string | undefined;

  constructor(kubeConfig: KubeConfig, namespace: string, checker: Checker) {
    this.#client = new AdminClient(kubeConfig);
    this.#namespace = namespace;
    this.checker = checker;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop(() => this.#client.close());
  }

  async #read(): Promise<void> {
    this.#resourceVersion ??= await this.#list();
    await this.#watch(this.#resourceVersion);
  }

  async #list(): Promise<string> {
    const { items, metadata } = podListOf(await this.#client.listPods(this.#namespace));
    const versions = items.map((pod) => ({ pod, revision: revisionOf(pod) }));
    if (this.checker.versions === 0 && versions.length === 0) return metadata.resourceVersion;
    this.checker.relist(versions);
    return metadata.resourceVersion;
  }

  async #watch(resourceVersion: string): Promise<void> {
    for await (const event of this.#client.watchPods(this.#namespace, { resourceVersion, allowWatchBookmarks: 'true' })) {
      if (event.type === 'ERROR') {
        this.#resourceVersion = undefined;
        return;
      }
      const { type, object } = event;
      const revision = revisionOf(object);
      if (type === 'DELETED') this.checker.gone(object.metadata.uid, revision);
      else if (type !== 'BOOKMARK') this.checker.set({ pod: object, revision });
      this.#resourceVersion = object.metadata.resourceVersion;
    }
  }
}

function revisionOf({ metadata }: WirePod): number {
  return Number(metadata?.resourceVersion ?? 0);
}
