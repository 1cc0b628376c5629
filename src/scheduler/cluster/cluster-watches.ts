import type { WireNode, WirePod } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import type { ReflectorOptions } from '../../client/reflector/reflector-options.ts';
import { type ApiObject, type ApiResource, resources } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { EventResource } from '../framework/cluster-event.ts';
import { eventResources, type ListedKind, listedResources, type StoreListers } from './cluster-listers.ts';

/** Hears of every change, in the order in which the watch of each resource brings them. */
export interface ClusterSink {
  podAdded(pod: WirePod): void;
  podUpdated(before: WirePod, after: WirePod): void;
  podDeleted(pod: WirePod): void;
  /** A list of all pods that was begun at this time, in milliseconds since 1970, has been told. `find` reads what is known since. */
  podsListed(startedAt: number, find: (namespace: string | undefined, name: string) => WirePod | undefined): void;
  nodeAdded(node: WireNode): void;
  nodeUpdated(before: WireNode, after: WireNode): void;
  nodeDeleted(node: WireNode): void;
  objectChanged(resource: EventResource, before: JsonMembers | undefined, after: JsonMembers | undefined): void;
}

export interface ClusterWatchesOptions {
  readonly transport: ResourceTransport;
  readonly sink: ClusterSink;
  readonly listers: StoreListers;
  readonly kinds: readonly ListedKind[];
  /** What plugins have registered for. */
  readonly resourcesOfInterest: ReadonlySet<EventResource>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics?: MetricsSink | undefined;
}

/** Pods that have ended take nothing of a node. */
const livePods = 'status.phase!=Succeeded,status.phase!=Failed';

/** Follows the objects of a cluster that the scheduler needs. */
export class ClusterWatches {
  readonly #reflectors: readonly Reflector[];

  constructor(options: ClusterWatchesOptions) {
    const { sink, kinds, resourcesOfInterest } = options;
    const listed = new Set(kinds.map((kind) => listedResources[kind]));
    const others = Object.entries(eventResources).filter(
      ([name, resource]) => resourcesOfInterest.has(name as EventResource) && !listed.has(resource),
    );
    const pods: Reflector<WirePod> = reflector<WirePod>(options, resources.pods, {
      fieldSelector: livePods,
      handlers: {
        added: (pod) => sink.podAdded(pod),
        updated: (pod, previous) => sink.podUpdated(previous, pod),
        deleted: (pod) => sink.podDeleted(pod),
        synced: () => sink.podsListed(pods.lastListedAt() ?? 0, (namespace, name) => pods.store.get(namespace, name)),
      },
    });
    this.#reflectors = [
      reflector<WireNode>(options, resources.nodes, {
        handlers: {
          added: (node) => sink.nodeAdded(node),
          updated: (node, previous) => sink.nodeUpdated(previous, node),
          deleted: (node) => sink.nodeDeleted(node),
        },
      }),
      pods,
      ...kinds.map((kind) => told(options, listedResources[kind], { store: options.listers.stores[kind] })),
      ...others.map(([, resource]) => told(options, resource)),
    ] as Reflector[];
  }

  get hasSynced(): boolean {
    return this.#reflectors.every(({ hasSynced }) => hasSynced);
  }

  /** What the watches wait for, in words; undefined where each of them has had its first list. */
  waitsFor(): { readonly text: string; readonly cause?: unknown } {
    const failed = this.#reflectors.find(({ hasSynced }) => !hasSynced)?.lastFailure();
    if (failed === undefined) return { text: 'the objects of the cluster are not listed' };
    const { error } = failed;
    const text = `the objects of the cluster are not listed: ${error instanceof Error ? error.message : 'a list failed'}`;
    return { text, cause: error };
  }

  /** Resolves once each resource has been listed and the sink has been told of all that there is. */
  async start(): Promise<void> {
    await Promise.all(this.#reflectors.map((each) => each.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map((each) => each.stop()));
  }
}

/** Tells of the changes that plugins may have registered for. */
function told(
  options: ClusterWatchesOptions,
  resource: ApiResource,
  own: Pick<ReflectorOptions<ApiObject>, 'store'> = {},
): Reflector {
  const [name] = Object.entries(eventResources).find(([, one]) => one === resource) ?? [];
  const tell = (before: ApiObject | undefined, after: ApiObject | undefined): void => {
    if (name === undefined) return;
    options.sink.objectChanged(name as EventResource, before as JsonMembers | undefined, after as JsonMembers | undefined);
  };
  return reflector<ApiObject>(options, resource, {
    ...own,
    handlers: {
      added: (object) => tell(undefined, object),
      updated: (object, previous) => tell(previous, object),
      deleted: (object) => tell(object, undefined),
    },
  });
}

function reflector<T extends ApiObject>(
  { transport, clock, random, logger, metrics }: ClusterWatchesOptions,
  resource: ApiResource<T>,
  own: Partial<ReflectorOptions<T>>,
): Reflector<T> {
  const shared = { clock, random, logger, ...(metrics !== undefined && { metrics }) };
  // the scheduler keeps each object for as long as the cluster has it, and reads all of it
  return new Reflector<T>({ transport, resource, shareEqualParts: false, ...shared, ...own });
}
