import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { resourcePath, resources } from '../../../src/client/resources/api-resource.ts';
import type { AdminClient } from '../../support/admin-client.ts';
import { type Answer, listOf, objectOf, type ServedList, type ServedObject } from '../../support/answers.ts';

type Resource = Parameters<typeof resourcePath>[0];

/** A resource that the suite tries, with an object of it and a change. */
export interface Subject {
  readonly resource: Resource;
  readonly contents: JsonObject;
  /** A merge patch that changes the contents. */
  readonly change: JsonObject;
}

export const secrets: Subject = {
  resource: resources.secrets,
  contents: { data: { key: 'dmFsdWU=' } },
  change: { data: { more: 'bW9yZQ==' } },
};
export const configMaps: Subject = {
  resource: resources.configMaps,
  contents: { data: { key: 'value' } },
  change: { data: { more: 'more' } },
};
export const nodes: Subject = {
  resource: resources.nodes,
  contents: { spec: { podCIDR: '10.1.0.0/24' } },
  change: { spec: { unschedulable: true } },
};
export const leases: Subject = {
  resource: resources.leases,
  contents: { spec: { holderIdentity: 'one', leaseDurationSeconds: 40 } },
  change: { spec: { holderIdentity: 'two' } },
};
export const services: Subject = {
  resource: resources.services,
  contents: { spec: { ports: [{ port: 80 }] } },
  change: { spec: { selector: { app: 'web' } } },
};
export const serviceAccounts: Subject = {
  resource: resources.serviceAccounts,
  contents: { automountServiceAccountToken: true },
  change: { automountServiceAccountToken: false },
};

/** A name that no other test has, on a server that tests share. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString('hex')}`;
}

/** The objects of one resource in one namespace; those of a cluster's resource have a label of their own. */
export class Collection {
  readonly #admin: AdminClient;
  readonly #label = uniqueName('suite');
  readonly subject: Subject;
  readonly namespace: string | undefined;

  constructor(admin: AdminClient, subject: Subject, namespace: string) {
    this.#admin = admin;
    this.subject = subject;
    this.namespace = subject.resource.namespaced ? namespace : undefined;
  }

  /** Selects the objects of this collection, also on a server that tests share. */
  get selector(): Readonly<Record<string, string>> {
    return { labelSelector: `suite=${this.#label}` };
  }

  path(name?: string, subresource?: string): string {
    return resourcePath(this.subject.resource, { namespace: this.namespace, name, subresource });
  }

  json(name: string, { metadata = {}, ...contents }: { metadata?: JsonObject } & JsonObject = {}): JsonObject {
    const { group, version, kind } = this.subject.resource;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const labels = { suite: this.#label, ...(metadata.labels as JsonObject) };
    return { apiVersion, kind, ...this.subject.contents, ...contents, metadata: { name, ...metadata, labels } };
  }

  post(object: JsonObject, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#admin.send('POST', this.path(), { body: object, query });
  }

  async create(name: string, more: { metadata?: JsonObject } & JsonObject = {}): Promise<ServedObject> {
    return objectOf(await this.post(this.json(name, more)));
  }

  get(name: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#admin.send('GET', this.path(name), { query });
  }

  async read(name: string): Promise<ServedObject> {
    return objectOf(await this.get(name));
  }

  put(name: string, object: JsonObject, subresource?: string): Promise<Answer> {
    return this.#admin.send('PUT', this.path(name, subresource), { body: object });
  }

  merge(name: string, body: JsonObject, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#admin.patch(this.path(name), body, 'merge', query);
  }

  delete(name: string, options: JsonObject = {}): Promise<Answer> {
    return this.#admin.send('DELETE', this.path(name), { body: options });
  }

  async list(query: Readonly<Record<string, string>> = {}): Promise<ServedList> {
    return listOf(await this.#admin.send('GET', this.path(), { query: { ...this.selector, ...query } }));
  }

  /** The next `count` events as `TYPE name`. */
  async take(query: Readonly<Record<string, string>>, count: number): Promise<string[]> {
    const seen: string[] = [];
    for await (const event of this.#admin.watch<ServedObject>(this.path(), { ...this.selector, ...query })) {
      if (event.type === 'ERROR') throw new Error(`The watch failed: ${JSON.stringify(event.object)}`);
      seen.push(event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata.name}`);
      if (seen.length === count) break;
    }
    return seen;
  }
}

export const namesOf = (list: ServedList): string[] => list.items.map(({ metadata }) => metadata.name);
