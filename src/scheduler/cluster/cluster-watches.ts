import type { WireNode, WirePod } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import type { Problem } from '../../base/problem.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import type { ReflectorOptions } from '../../client/reflector/reflector-options.ts';
import { failureInWords } from '../../client/resources/api-problem.ts';
import { type ApiObject, type ApiResource, resources } from '../../client/resources/api-resource.ts';
import { readApiFailure } from '../../client/resources/error-class.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { failureOfRequest, requestProblem } from '../reports/request-words.ts';

/** Hears of every change, in the order in which the watch of each resource brings them. */
interface ClusterSink {
  podAdded(pod: WirePod): void;
  podUpdated(before: WirePod, after: WirePod): void;
  podDeleted(pod: WirePod): void;
  /** A list of all pods that was begun at this time, in milliseconds since 1970, has been told. `find` reads what is known since. */
  podsListed(startedAt: number, find: (namespace: string | undefined, name: string) => WirePod | undefined): void;
  nodeAdded(node: WireNode): void;
  nodeUpdated(before: WireNode, after: WireNode): void;
  nodeDeleted(node: WireNode): void;
  objectSet(resource: ApiResource, object: ApiObject): void;
  objectDeleted(resource: ApiResource, object: ApiObject): void;
}

export interface ClusterWatchesOptions {
  readonly transport: ResourceTransport;
  readonly sink: ClusterSink;
  /** What plugins ask for beside pods and nodes. */
  readonly resourcesOfInterest: readonly ApiResource[];
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics?: MetricsSink | undefined;
}

/** Pods that have ended take nothing of a node. */
const livePods = 'status.phase!=Succeeded,status.phase!=Failed';

/** Follows the objects of a cluster that the scheduler needs. */
export class ClusterWatches {
  readonly #watched: readonly Watched[];

  constructor(options: ClusterWatchesOptions) {
    const { sink, resourcesOfInterest } = options;
    const pods: Watched<WirePod> = watched<WirePod>(options, resources.pods, {
      fieldSelector: livePods,
      handlers: {
        added: (pod) => sink.podAdded(pod),
        updated: (pod, previous) => sink.podUpdated(previous, pod),
        deleted: (pod) => sink.podDeleted(pod),
        synced: () =>
          sink.podsListed(pods.reflector.lastListedAt() ?? 0, (namespace, name) => pods.reflector.store.get(namespace, name)),
      },
    });
    this.#watched = [
      watched<WireNode>(options, resources.nodes, {
        handlers: {
          added: (node) => sink.nodeAdded(node),
          updated: (node, previous) => sink.nodeUpdated(previous, node),
          deleted: (node) => sink.nodeDeleted(node),
        },
      }),
      pods,
      ...resourcesOfInterest.map((resource) => watched(options, resource, told(options, resource))),
    ] as Watched[];
  }

  get hasSynced(): boolean {
    return this.#watched.every(isKnown);
  }

  /** What the watches wait for, in words; undefined where each of them has had its first list. */
  waitsFor(): { readonly text: string; readonly cause?: unknown } {
    const failed = this.#watched.find((watched) => !isKnown(watched))?.reflector.lastFailure();
    if (failed === undefined) return { text: 'the objects of the cluster are not listed' };
    const { error } = failed;
    const text = `the objects of the cluster are not listed: ${error instanceof Error ? error.message : 'a list failed'}`;
    return { text, cause: error };
  }

  /** The resources that can be neither listed nor watched now: one problem for each that was refused, and one for all that got no answer. */
  problems(): Problem[] {
    const failing = this.#watched.map(({ failing: read }) => read()).filter((one) => one !== undefined);
    const missing = failing.filter(({ isMissing: is }) => is);
    const others = failing.filter(({ isMissing: is }) => !is);
    const groups = Map.groupBy(others, ({ resource, error }) => (hasAnswer(error) ? resource : failureInWords(error).kind));
    return [
      ...Array.from(groups.values(), (all) => problemOfAll(all)),
      ...(missing.length > 0 ? [problemOfAll(missing, lacksDevices)] : []),
    ];
  }

  /** Resolves once each resource has been listed, or is none that the server has, and the sink has been told of all that there is. */
  async start(): Promise<void> {
    await Promise.all(this.#watched.map(started));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#watched.map(({ reflector }) => reflector.stop()));
  }
}

/** Tells of the changes of one resource. */
function told({ sink }: ClusterWatchesOptions, resource: ApiResource): Partial<ReflectorOptions<ApiObject>> {
  const set = (object: ApiObject): void => sink.objectSet(resource, object);
  return { handlers: { added: set, updated: set, deleted: (object) => sink.objectDeleted(resource, object) } };
}

interface Watched<T extends ApiObject = ApiObject> {
  readonly resource: ApiResource<T>;
  readonly reflector: Reflector<T>;
  /** Resolves once the server has said that it has no such resource, if nobody need wait for it. */
  readonly missing: Promise<void>;
  readonly failing: () => FailingWatch | undefined;
}

/** A resource that can be neither listed nor watched now. */
interface FailingWatch {
  readonly resource: string;
  /** The server says that it has no such resource, and need not have it. */
  readonly isMissing: boolean;
  readonly error: unknown;
  /** In milliseconds since the epoch. */
  readonly since: number;
  readonly retryAt: number;
  readonly attempt: number;
}

/** A server older than v1.34 has no claims of devices of this version: pods without such claims are placed there all the same. */
const groupsThatMayLack: readonly string[] = ['resource.k8s.io'];

function isMissing(resource: ApiResource, error: unknown): boolean {
  return groupsThatMayLack.includes(resource.group) && readApiFailure(error).status === 404;
}

function started({ reflector, missing }: Watched): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  reflector.start().then(resolve, reject);
  missing.then(resolve, reject);
  return promise;
}

/** True once it is known which objects there are, or that the server has none of this kind. */
function isKnown({ reflector, resource }: Watched): boolean {
  if (reflector.hasSynced) return true;
  const failed = reflector.lastFailure();
  return failed !== undefined && isMissing(resource, failed.error);
}

function hasAnswer(error: unknown): boolean {
  // one that has begun well and breaks off says nothing of its resource
  return (readApiFailure(error).status ?? 0) >= 300;
}

/** So many resources are named. */
const mostNames = 3;

/** What is said of resources that the server need not have. */
const lacksDevices = {
  text: 'the server does not have',
  help: 'Use a server of Kubernetes v1.34 or newer, or turn the plugin DynamicResources off: pods with claims of devices are not placed.',
};

function problemOfAll(all: readonly FailingWatch[], words?: typeof lacksDevices): Problem {
  const names = all.map(({ resource }) => resource);
  const others = names.length - mostNames;
  const shown = others > 0 ? `${names.slice(0, mostNames).join(', ')} and ${others} more` : names.join(', ');
  const [{ error } = { error: undefined }] = all;
  const text = words === undefined ? `${shown} can be neither listed nor watched` : `${words.text} ${shown} of this version`;
  const problem = requestProblem(text, error, {
    since: Math.min(...all.map(({ since }) => since)),
    attempt: Math.max(...all.map(({ attempt }) => attempt)),
    retryAt: Math.min(...all.map(({ retryAt }) => retryAt)),
  });
  return words === undefined ? problem : Object.freeze({ ...problem, help: words.help });
}

function watched<T extends ApiObject>(
  { transport, clock, random, logger, metrics }: ClusterWatchesOptions,
  resource: ApiResource<T>,
  own: Partial<ReflectorOptions<T>>,
): Watched<T> {
  const shared = { clock, random, logger, ...(metrics !== undefined && { metrics }) };
  // the scheduler keeps each object for as long as the cluster has it, and reads all of it
  const missing = Promise.withResolvers<void>();
  const explainFailure = (error: unknown) => {
    if (isMissing(resource, error)) missing.resolve();
    return failureOfRequest(error);
  };
  const options = { transport, resource, shareEqualParts: false, explainFailure, ...shared, ...own };
  const reflector = new Reflector<T>(options);
  return { resource, reflector, missing: missing.promise, failing: () => failingWatch(resource, reflector) };
}

/** Undefined once the server was heard from again. */
function failingWatch(kind: ApiResource, reflector: Pick<Reflector, 'lastFailure'>): FailingWatch | undefined {
  const failed = reflector.lastFailure();
  if (failed === undefined) return undefined;
  const { error, at, retryAt, since = at, attempt = 1 } = failed;
  return {
    resource: kind.resource,
    isMissing: isMissing(kind, error),
    error,
    since: Math.round(since),
    attempt,
    retryAt: Math.round(retryAt),
  };
}

/** The part of a scheduler that is told of the cluster. */
export interface ToldScheduler {
  setPod(pod: WirePod): void;
  deletePod(uid: string): void;
  setNode(node: WireNode): void;
  deleteNode(name: string): void;
  unconfirmedPods(boundBefore: number): readonly WirePod[];
  setObject(resource: ApiResource, object: ApiObject): void;
  deleteObject(resource: ApiResource, namespace: string | undefined, name: string): void;
}

/** Brings what the watches of a cluster tell to the scheduler. */
export function sinkOf(scheduler: ToldScheduler): ClusterSink {
  // no pod loses its node, unless etcd was set back to a time before its binding
  const unbound = (pod: WirePod): void => {
    scheduler.deletePod(pod.metadata?.uid ?? '');
    scheduler.setPod(pod);
  };
  return {
    podAdded: (pod) => scheduler.setPod(pod),
    podUpdated: (before, pod) => {
      if (hasNode(before) && !hasNode(pod)) unbound(pod);
      else scheduler.setPod(pod);
    },
    podsListed: (startedAt, find) => {
      for (const { metadata } of scheduler.unconfirmedPods(startedAt)) {
        const pod = find(metadata?.namespace, metadata?.name ?? '');
        if (pod !== undefined && pod.metadata?.uid === metadata?.uid && !hasNode(pod)) unbound(pod);
      }
    },
    podDeleted: ({ metadata }) => scheduler.deletePod(metadata?.uid ?? ''),
    nodeAdded: (node) => scheduler.setNode(node),
    nodeUpdated: (_, node) => scheduler.setNode(node),
    nodeDeleted: ({ metadata }) => scheduler.deleteNode(metadata?.name ?? ''),
    objectSet: (resource, object) => scheduler.setObject(resource, object),
    objectDeleted: (resource, { metadata }) => scheduler.deleteObject(resource, metadata?.namespace, metadata?.name ?? ''),
  };
}

function hasNode({ spec }: WirePod): boolean {
  return (spec?.nodeName ?? '') !== '';
}
