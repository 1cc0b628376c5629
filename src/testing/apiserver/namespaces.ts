import { formatTime } from '../../api/json/time.ts';
import type { JsonObject } from '../../api/json/types.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { notFound } from '../objects/api-status.ts';
import { checkPreconditions } from '../objects/deletion.ts';
import { objectAt } from '../objects/selectors.ts';
import { type Answer, renderOne } from './answer.ts';
import { deleteOptions, isDryRun, type ObjectRequest } from './object-handlers.ts';
import type { ServedResources } from './served-resources.ts';

const initialNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** The namespaces of a server. A delete takes all objects with it. */
export class Namespaces {
  readonly #served: ServedResources;

  constructor(served: ServedResources) {
    this.#served = served;
    for (const name of initialNamespaces) {
      if (!this.#store.has({ name })) this.#store.createUnseen({ metadata: { name } });
    }
  }

  /** Throws 404 for a namespace that does not exist. */
  require(name: string): void {
    if (!this.#store.has({ name })) throw notFound(name, resources.namespaces);
  }

  /**
   * Answers a DELETE. The namespace and its objects go at once, where a real server leaves that to a controller. Pods get
   * no grace period, and finalizers hold nothing.
   */
  delete(request: ObjectRequest, nowMs: number): Answer {
    const { name = '' } = request.route;
    const namespace = this.#store.get({ name }) as JsonObject;
    checkPreconditions(namespace, deleteOptions(request), resources.namespaces);
    const metadata = { ...objectAt(namespace, 'metadata'), deletionTimestamp: formatTime(nowMs) };
    const shown = { ...namespace, metadata, status: { phase: 'Terminating' } };
    if (!isDryRun(request)) {
      this.#removeContents(name);
      this.#store.remove({ name });
    }
    return { code: 200, body: renderOne(shown, resources.namespaces, request.rendering) };
  }

  get #store() {
    return this.#served.open(resources.namespaces);
  }

  #removeContents(namespace: string): void {
    for (const store of this.#served.all) {
      if (!store.resource.namespaced) continue;
      for (const { metadata } of store.list({ namespace })) store.remove({ namespace, name: metadata?.name ?? '' });
    }
  }
}
