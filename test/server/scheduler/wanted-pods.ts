import type { JsonObject } from '../../../src/api/json/types.ts';
import type { ServedPod } from '../../support/answers.ts';
import type { TestServer } from '../../support/servers.ts';
import { podJson } from '../pods-contract/pods-contract-fixture.ts';
import type { Sighting } from './placement-record.ts';

/**
 * Keeps so many pods in a namespace, as a controller does: a pod that is gone gets a successor with another name. Writes down
 * what the watch tells of them, and deletes those on drained nodes.
 */
export class WantedPods {
  readonly sightings: Sighting[] = [];
  readonly drained = new Set<string>();
  readonly #server: TestServer;
  readonly #namespace: string;
  readonly #spec: JsonObject;
  readonly #last = new Map<string, Sighting>();
  readonly #deleted = new Set<string>();
  readonly #waiting = new Set<{ readonly check: () => void; readonly reject: (error: unknown) => void }>();
  #names = 0;

  private constructor(server: TestServer, namespace: string, spec: JsonObject) {
    this.#server = server;
    this.#namespace = namespace;
    this.#spec = spec;
  }

  /** The namespace must have no pods yet. */
  static async follow(server: TestServer, namespace: string, spec: JsonObject): Promise<WantedPods> {
    const wanted = new WantedPods(server, namespace, spec);
    const { body } = await server.admin.listPods(namespace);
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata;
    wanted.#fireAndForget(wanted.#follow(resourceVersion));
    return wanted;
  }

  async create(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#createOne()));
  }

  /** Cordons the nodes; their pods are deleted from now on, those included that are still bound to them. */
  async drain(nodes: readonly string[]): Promise<void> {
    await Promise.all(
      nodes.map((node) => this.#server.admin.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable: true } }, 'merge')),
    );
    for (const node of nodes) this.drained.add(node);
    for (const [pod, sighting] of this.#last) this.#leaveDrained(pod, sighting);
  }

  /** The pods that are not gone. */
  live(): Sighting[] {
    return [...this.#last.values()].filter(({ type, hasEnded }) => type !== 'DELETED' && !hasEnded);
  }

  /** Resolves once it is so after something the watch has told. */
  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        reject,
        check: () => {
          if (!isSo()) return;
          this.#waiting.delete(waiter);
          resolve();
        },
      };
      this.#waiting.add(waiter);
      waiter.check();
    });
  }

  /** A watch that the server ends goes on where it was. */
  async #follow(from: string): Promise<never> {
    let resourceVersion = from;
    for (;;) {
      for await (const event of this.#server.admin.watchPods(this.#namespace, { resourceVersion })) {
        if (event.type === 'ERROR' || event.type === 'BOOKMARK') throw new Error(`the watch said ${JSON.stringify(event)}`);
        resourceVersion = event.object.metadata.resourceVersion;
        this.#see(sightingOf(event.type, event.object));
      }
    }
  }

  #see(sighting: Sighting): void {
    this.sightings.push(sighting);
    this.#last.set(sighting.pod, sighting);
    if (sighting.type === 'DELETED') this.#fireAndForget(this.#createOne());
    else this.#leaveDrained(sighting.pod, sighting);
    for (const { check } of this.#waiting) check();
  }

  #leaveDrained(pod: string, { node, type }: Sighting): void {
    if (type === 'DELETED' || node === undefined || !this.drained.has(node) || this.#deleted.has(pod)) return;
    this.#deleted.add(pod);
    this.#fireAndForget(this.#server.admin.deletePod(this.#namespace, pod, { gracePeriodSeconds: 1 }));
  }

  async #createOne(): Promise<void> {
    this.#names += 1;
    const json = podJson(`p-${this.#names}`, { spec: { nodeName: null, ...this.#spec } });
    const { status, body } = await this.#server.admin.createPod(this.#namespace, json);
    if (status !== 201) throw new Error(`a pod was not created: ${status} ${JSON.stringify(body)}`);
  }

  #fireAndForget(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      for (const { reject } of this.#waiting) reject(error);
    });
  }
}

function sightingOf(type: Sighting['type'], { metadata, spec, status }: ServedPod): Sighting {
  const node = (spec as { nodeName?: string }).nodeName;
  return {
    ...{ pod: metadata.name, type },
    ...(node && { node }),
    isReady: status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false,
    hasEnded: status.phase === 'Succeeded' || status.phase === 'Failed',
  };
}
