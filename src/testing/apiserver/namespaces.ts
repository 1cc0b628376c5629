import { randomUUID } from 'node:crypto';
import type { Clock } from '../../seams/clock.ts';
import { isJsonObject } from '../../wire/json.ts';
import { formatTime } from '../../wire/time.ts';
import type { JsonObject } from '../../wire/types.ts';
import { alreadyExists, badRequest, notFound } from '../pods-api/api-status.ts';
import { objectAt, textAt } from '../pods-api/json-fields.ts';
import type { PodStore } from '../pods-api/pod-store.ts';
import type { Answer } from './answer.ts';
import { parseBody } from './request-body.ts';
import type { Route } from './route.ts';

const initialNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** The namespaces of a server: enough for a test to create its own, and to delete it with all its pods. */
export class Namespaces {
  readonly #store: PodStore;
  readonly #clock: Clock;
  readonly #namespaces = new Map<string, JsonObject>();

  constructor(store: PodStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    for (const name of initialNamespaces) this.#add({ name });
  }

  has(name: string): boolean {
    return this.#namespaces.has(name);
  }

  handle({ verb, name = '', query }: Route, body: Buffer): Answer {
    if (query.has('dryRun')) throw badRequest('this server knows no dryRun of namespaces');
    if (verb === 'create') return { code: 201, body: this.#create(parseBody(body)) };
    if (verb === 'list') {
      const items = [...this.#namespaces.values()];
      return {
        code: 200,
        body: { kind: 'NamespaceList', apiVersion: 'v1', metadata: { resourceVersion: this.#store.resourceVersion }, items },
      };
    }
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined) throw notFound(name, 'namespaces');
    return { code: 200, body: verb === 'delete' ? this.#delete(name, namespace) : namespace };
  }

  #create(given: unknown): JsonObject {
    const metadata = isJsonObject(given) ? objectAt(given, 'metadata') : {};
    const prefix = textAt(metadata, 'generateName');
    const name = textAt(metadata, 'name') || (prefix && `${prefix}${randomUUID().slice(0, 5)}`);
    if (name === '') throw badRequest('name or generateName is required');
    if (this.has(name)) throw alreadyExists(name, 'namespaces');
    return this.#add({ ...metadata, name });
  }

  #add(metadata: JsonObject): JsonObject {
    const name = textAt(metadata, 'name');
    const namespace: JsonObject = {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        ...metadata,
        uid: randomUUID(),
        resourceVersion: this.#store.resourceVersion,
        creationTimestamp: formatTime(this.#clock.now()),
        labels: { ...objectAt(metadata, 'labels'), 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
    this.#namespaces.set(name, namespace);
    return namespace;
  }

  /** Deletes at once, where a real server leaves it to a controller. Pods get no grace period; finalizers do not hold them. */
  #delete(name: string, namespace: JsonObject): JsonObject {
    for (const { metadata } of this.#store.list({ namespace: name })) this.#store.remove(name, metadata?.name ?? '');
    this.#namespaces.delete(name);
    return { ...namespace, status: { phase: 'Terminating' } };
  }
}
