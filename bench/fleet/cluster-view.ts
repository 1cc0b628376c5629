import { setTimeout as delay } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { AdminClient } from '../../test/support/admin-client.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
}

interface Seen {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: { readonly holderIdentity?: string; readonly renewTime?: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A node that another process keeps than before, by the writes of its Lease that the watch told of. */
export interface Move {
  readonly node: string;
  readonly from: string;
  readonly to: string;
  /** The last write of the one before: a renewal, or the word that it has ended. By `performance.now()`, as all times here. */
  readonly lastAt: number;
  /** The first renewal of the next one. */
  readonly firstAt: number;
}

interface LeaseState {
  readonly owner: string;
  readonly at: number;
}

const paths = {
  pods: '/api/v1/pods',
  nodes: '/api/v1/nodes',
  leases: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
} as const;

/** What the cluster shows of pods, nodes and their Leases, and when: one watch of each. */
export class ClusterView implements AsyncDisposable {
  /** When each pod was first Ready, by its name. */
  readonly podReadyAt = new Map<string, number>();
  readonly readyNodes = new Set<string>();
  /** Nodes that were Ready and then were not. */
  readonly notReady: string[] = [];
  readonly moves: Move[] = [];
  readonly #leases = new Map<string, LeaseState>();
  readonly #admin: AdminClient;
  readonly #reading: Promise<unknown>;
  #closed = false;

  constructor(kubeConfig: KubeConfig) {
    this.#admin = new AdminClient(kubeConfig);
    const handlers = {
      pods: (pod: Seen) => this.#seePod(pod),
      nodes: (node: Seen) => this.#seeNode(node),
      leases: (lease: Seen) => this.#seeLease(lease),
    };
    this.#reading = Promise.all(
      Object.entries(handlers).map(([kind, see]) => this.#read(paths[kind as keyof typeof paths], see)),
    );
  }

  /** The process that renewed the node's Lease last: the words of a fleet's member, or the identity of kwok's process. */
  ownerOf(node: string): string | undefined {
    return this.#leases.get(node)?.owner;
  }

  nodesOf(owner: (name: string) => boolean): string[] {
    return [...this.#leases].filter(([, lease]) => owner(lease.owner)).map(([node]) => node);
  }

  /** The longest time since a Lease was renewed, in seconds. */
  oldestLeaseSeconds(): number {
    const oldest = Math.min(...[...this.#leases.values()].map(({ at }) => at));
    return (performance.now() - oldest) / 1000;
  }

  /** Polls, since what it waits for depends on what three watches tell. */
  async until(what: string, condition: () => boolean, withinMs: number): Promise<number> {
    const limit = performance.now() + withinMs;
    while (!condition()) {
      if (performance.now() > limit) throw new Error(`not within ${withinMs} ms: ${what}`);
      await delay(10);
    }
    return performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#admin.close();
    await this.#reading;
  }

  /** A server that has much to do may end a watch: the next one begins where a list ends. */
  async #read(path: string, see: (object: Seen) => void): Promise<void> {
    while (!this.#closed) {
      try {
        const { body } = await this.#admin.send('GET', path);
        const { items, metadata } = body as { items: Seen[]; metadata: { resourceVersion: string } };
        for (const item of items) see(item);
        for await (const event of this.#admin.watch<Seen>(path, { resourceVersion: metadata.resourceVersion })) {
          if (event.type === 'ERROR') break;
          if (event.type !== 'DELETED') see(event.object);
        }
      } catch (error) {
        if (!this.#closed) console.error(`a watch of ${path} ended: ${error}`);
        await delay(100);
      }
    }
  }

  #seePod(pod: Seen): void {
    const { name } = pod.metadata;
    if (!this.podReadyAt.has(name) && isReady(pod)) this.podReadyAt.set(name, performance.now());
  }

  #seeNode(node: Seen): void {
    const { name } = node.metadata;
    if (isReady(node)) this.readyNodes.add(name);
    else if (this.readyNodes.delete(name)) this.notReady.push(name);
  }

  #seeLease({ metadata: { name, annotations }, spec = {} }: Seen): void {
    const owner = agentIn(annotations?.['pod-status-manager/renewed-by']) ?? spec.holderIdentity ?? '';
    const at = performance.now();
    const before = this.#leases.get(name);
    if (before !== undefined && before.owner !== owner)
      this.moves.push({ node: name, from: before.owner, to: owner, lastAt: before.at, firstAt: at });
    this.#leases.set(name, { owner, at });
  }
}

function agentIn(mark: string | undefined): string | undefined {
  return mark === undefined ? undefined : (JSON.parse(mark) as { readonly agent: string }).agent;
}

function isReady({ status }: Seen): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}
