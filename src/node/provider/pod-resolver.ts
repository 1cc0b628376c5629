import { goQuote } from '../../api/json/go-quote.ts';
import type { Pod } from '../../api/json/types.ts';
import { type Container, containersOfPod, type SpecVolume } from '../../api/pod/pod-containers.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { settledAtOnce, whileGoing } from '../../base/concurrency/aborts.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import { noEvents } from '../../client/events/event-recorder.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { ClusterServices, type ClusterServicesOptions, type KnownServices } from '../environment/cluster-services.ts';
import { containerEnvironment } from '../environment/environment.ts';
import { serviceEnvironment } from '../environment/service-environment.ts';
import { LargeStart, StartTurns } from '../environment/start-limits.ts';
import { startTexts } from '../environment/start-texts.ts';
import { objectBudget } from '../object-managers/object-budget.ts';
import { ReferencedObjects } from '../object-managers/referenced-objects.ts';
import { collected, FileBytes, type PodFileBytes } from '../pod-files/file-bytes.ts';
import { MountObjects, ObjectReads } from '../pod-files/pod-objects.ts';
import { ShownFields } from '../pod-files/shown-fields.ts';
import { TokenManager } from '../pod-files/token-manager.ts';
import { type FilesRequest, fileVolumeType, usedVolumes, volumeFiles } from '../pod-files/volume-files.ts';
import { type HeldPod, heldByContainers, heldByVolumes, optionalNotes, type ToldEvent } from './held-pod.ts';
import type { NodePod, ResolvedFile, ResolvedFiles } from './pod-provider.ts';
import { nodePod } from './provider-calls.ts';
import type { SharedWatches } from './shared-watches.ts';

/** Where what pods refer to comes from. `transport` is needed. */
export interface PodResolverOptions {
  /** Reaches the apiserver, such as a `KubeTransport`. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** What the node has for pods, by resource: what a container without a limit is told as its limit. Default: nothing is known. */
  readonly allocatable?: () => ResourceQuantities;
  /** The addresses of the node, the primary one first. Default: it has none. */
  readonly hostIPs?: () => readonly string[];
  /** What services are read by, together with others; `stop()` leaves it running. Default: the resolver watches them by itself. */
  readonly sharedWatches?: SharedWatches;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets numbers, never names. */
  readonly metrics?: MetricsSink;
}

const knownOptions = [
  'transport',
  'allocatable',
  'hostIPs',
  'sharedWatches',
  'random',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof PodResolverOptions)[];

/** A pod with plain values and files, or why it cannot have them yet. */
export type Resolution =
  | {
      /** The pod as a provider gets it. */
      readonly pod: NodePod;
      /** What is told of sources that are missing and may be. */
      readonly notes: readonly ToldEvent[];
      /** To be called once the pod is held no more: what it refers to counts until then. */
      readonly release: () => void;
    }
  | {
      /** What is missing. */
      readonly held: HeldPod;
    };

/** What of a pod is resolved. */
export interface ResolveOptions {
  /**
   * The names of the containers whose variables and commands get plain values; the others come as they are, and what they lack
   * holds nothing back. None: the files of the volumes alone. Default: all containers.
   */
  readonly containers?: readonly string[];
}

/** So long the first list of services may take before a pod counts as waiting for it, unless it fails sooner. */
const servicesWithinMs = 10_000;
/** So many volumes of a pod are read at once. */
const atOnce = 8;
/** What one pod, and all pods that are resolved at once, may have of values and files. */
const limits = { maxFileBytesPerPod: 16 * 1024 * 1024, maxFileBytes: 256 * 1024 * 1024 };
const words = {
  what: 'the values and files that',
  ofPod: 'a provider node hands over with one pod',
  ofAll: 'a provider node hands over at once',
  help: 'Let the pod refer to less',
};

/**
 * Puts plain values in the place of what a pod refers to, as a kubelet does when it starts a container: variables of config maps,
 * secrets, fields and services, references in commands, and the files of volumes. A `ProviderNode` has one; use it for pods that you
 * run yourself.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { PodResolver } from 'pod-status-manager/node';
 * import { resources } from 'pod-status-manager/reflector';
 *
 * server.objects(resources.secrets).create({ metadata: { name: 'db', namespace: 'default' }, data: { key: btoa('s3cret') } });
 * const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'db', key: 'key' } } }];
 * const pod = server.store.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1', env }] } });
 *
 * const transport = new KubeTransport(kubeConfig);
 * const resolver = new PodResolver({ transport });
 * resolver.register(pod);
 * const resolution = await resolver.resolve(pod, [], AbortSignal.timeout(5000));
 * console.log('pod' in resolution && resolution.pod.spec.containers[0]?.env?.[0]?.value); // s3cret
 * resolver.unregister(pod);
 * await resolver.stop();
 * await transport.close();
 * ```
 */
export class PodResolver {
  readonly #allocatable: () => ResourceQuantities;
  readonly #hostIPs: () => readonly string[];
  readonly #tools: ResolverTools;
  /** Undefined before the first pod: most nodes of a process may have none. */
  #parts: ResolverParts | undefined;
  readonly #turns = new StartTurns();
  readonly #bytes = new FileBytes(limits, words);
  /** Counts the resolutions: what each of one pod has counts by itself, until it is released. */
  #resolutions = 0;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: PodResolverOptions) {
    requireKnownOptions('options', options, knownOptions);
    const {
      transport,
      allocatable = () => ({}),
      hostIPs = () => [],
      random = Math.random,
      clock = systemClock,
      metrics,
      sharedWatches,
    } = options;
    requireMethods('transport', transport, ['request', 'stream']);
    requireMethods('clock', clock, ['now', 'setTimer']);
    if (sharedWatches !== undefined) requireMethods('sharedWatches', sharedWatches, ['podsOf', 'nodeOf']);
    this.#allocatable = optionOfType('allocatable', allocatable, 'function');
    this.#hostIPs = optionOfType('hostIPs', hostIPs, 'function');
    const drawn = safeRandom(optionOfType('random', random, 'function'));
    metricsOption(metrics);
    this.#tools = {
      ...{ transport, random: drawn, clock: safeClock(clock), logger: loggerOption(options.logger) },
      ...(metrics !== undefined && { metrics }),
      ...(sharedWatches !== undefined && { sharedWatches }),
    };
  }

  /** What the pod refers to is read, and watched, from now on. */
  register(pod: Pod): void {
    this.#made().objects.registerPod(pod);
  }

  /** Nothing of what the pod refers to is kept any more. */
  unregister(pod: Pod): void {
    this.#parts?.objects.unregisterPod(pod);
    this.#parts?.tokens.deletePod(podUIDOf(pod));
  }

  /** Resolves when no watch is left. */
  async stop(): Promise<void> {
    const { objects, ownServices, tokens } = this.#made();
    await Promise.all([objects.stop(), ownServices?.stop(), tokens.stop()]);
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Rejects with the signal's reason alone, and with ERR_INVALID_OPTION. `podIPs`: those of the pod, as far as they are known. A pod
   * that is held, or waits until there is room for its variables, keeps nothing of its values meanwhile.
   */
  async resolve(pod: Pod, podIPs: readonly string[], signal: AbortSignal, options: ResolveOptions = {}): Promise<Resolution> {
    const wanted = wantedContainers(options);
    const make = (isTurn: boolean): Promise<Resolution> => this.#resolve(pod, { podIPs, wanted, isTurn, signal });
    return whileGoing(() => this.#turns.make(make, signal), signal);
  }

  #made(): ResolverParts {
    this.#parts ??= newParts(this.#tools);
    return this.#parts;
  }

  /** Rejects with the signal's reason, and where it is not its turn with LargeStart, once nothing else holds the pod back. */
  async #resolve(pod: Pod, { podIPs, wanted, isTurn, signal }: Wanted): Promise<Resolution> {
    const { objects, services } = this.#made();
    const { uid, namespace, name } = nodePod(pod).metadata;
    this.#resolutions += 1;
    const key = `${uid} ${this.#resolutions}`;
    const bytes = this.#bytes.begin(key, `${namespace}/${name}`);
    const release = (): void => this.#bytes.forget(key);
    try {
      objects.requireWithinBudget(pod);
      const reads = new ObjectReads(objects.secretManager, objects.configMapManager, signal);
      const files = await this.#files(pod, { reads, bytes, signal });
      const asked = containersOfPod(pod).filter((container) => wanted?.has(container.name) ?? true);
      if (asked.length > 0 && services.known() === undefined) {
        services.start();
        await services.awaitFirstList(signal, servicesWithinMs);
      }
      const containers = await this.#containers(pod, asked, { reads, bytes, files, podIPs, isTurn, signal });
      const notes = wanted === undefined ? await optionalNotes(pod, reads) : [];
      signal.throwIfAborted();
      return { pod: withStart(pod, containers, files), notes, release };
    } catch (error) {
      release();
      signal.throwIfAborted();
      if (error instanceof LargeStart) throw error;
      return { held: error instanceof Held ? error.held : heldByContainers(pod, new Map([['', error]])) };
    }
  }

  async #files(pod: Pod, { reads, bytes, signal }: Resolving): Promise<ResolvedFiles> {
    const { tokens } = this.#made();
    const used = usedVolumes(pod);
    const volumes = (pod.spec?.volumes ?? []).filter((volume) => used.has(volume.name) && fileVolumeType(volume) !== undefined);
    const fields = new ShownFields(pod, this.#allocatable);
    const objects = new MountObjects(pod, { secrets: reads, configMaps: reads }, signal);
    const request = { pod, objects, fields, tokens, fsGroup: undefined, fsUser: undefined, signal };
    const read = (volume: SpecVolume) => filesOf({ ...request, volume }, bytes);
    const results = await settledAtOnce(volumes, atOnce, read);
    signal.throwIfAborted();
    const failures = new Map<string, unknown>();
    const files: [string, Readonly<Record<string, ResolvedFile>>][] = [];
    for (const [index, result] of results.entries()) {
      const volume = volumes[index]?.name ?? '';
      if (result.status === 'fulfilled') files.push([volume, result.value]);
      else failures.set(volume, result.reason);
    }
    if (failures.size > 0) throw new Held(heldByVolumes(pod, failures));
    return Object.fromEntries(files);
  }

  /** The containers by name, with plain values. */
  async #containers(pod: Pod, asked: readonly Container[], resolving: Environments): Promise<ReadonlyMap<string, Container>> {
    const { reads, bytes, files, podIPs, isTurn, signal } = resolving;
    const containers = new Map<string, Container>();
    if (asked.length === 0) return containers;
    const { services: read } = this.#made();
    const known = read.known();
    if (known === undefined) throw new Error(read.unreadText());
    const sources = {
      objects: reads,
      services: serviceEnvironment(known, pod.metadata?.namespace ?? '', pod.spec?.enableServiceLinks !== false),
      addresses: { podIPs, hostIPs: this.#hostIPs() },
      allocatable: this.#allocatable(),
      readVolumeFile: async (volume: string, path: string) => textOfFile(files, volume, path),
      isTurn,
    };
    const failures = new Map<string, unknown>();
    let large: LargeStart | undefined;
    for (const container of asked) {
      try {
        const environment = await whileGoing(() => containerEnvironment(pod, container, sources), signal);
        const started = startOf(container, startTexts(container, environment, isTurn), bytes);
        // what is made again once it is the pod's turn is not kept until then
        if (large === undefined) containers.set(container.name, started);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof LargeStart)) failures.set(container.name, error);
        else large ??= error;
      }
    }
    if (failures.size > 0) throw new Held(heldByContainers(pod, failures));
    if (large !== undefined) throw large;
    return containers;
  }
}

type ResolverTools = ClusterServicesOptions & Pick<PodResolverOptions, 'sharedWatches'>;

/** What reads for pods. */
interface ResolverParts {
  readonly objects: ReferencedObjects;
  readonly services: KnownServices;
  /** Undefined where they are shared. */
  readonly ownServices: ClusterServices | undefined;
  readonly tokens: TokenManager;
}

function newParts({ metrics, sharedWatches, ...tools }: ResolverTools): ResolverParts {
  const measured = { ...tools, ...(metrics !== undefined && { metrics }) };
  const ownServices = sharedWatches === undefined ? new ClusterServices(measured) : undefined;
  return {
    objects: new ReferencedObjects(noEvents, { ...measured, budget: objectBudget() }),
    services: sharedWatches?.services ?? (ownServices as ClusterServices),
    ownServices,
    tokens: new TokenManager(tools),
  };
}

/** Undefined: all. */
function wantedContainers(options: ResolveOptions): ReadonlySet<string> | undefined {
  requireKnownOptions('options', options, ['containers']);
  const { containers } = options;
  if (containers === undefined) return undefined;
  if (!Array.isArray(containers)) throw invalidOption('containers', 'a list of names', containers);
  return new Set(containers);
}

interface Wanted {
  readonly podIPs: readonly string[];
  /** Undefined: all containers. */
  readonly wanted: ReadonlySet<string> | undefined;
  /** True: a start with long texts may be made now. */
  readonly isTurn: boolean;
  readonly signal: AbortSignal;
}

interface Environments extends Resolving, Pick<Wanted, 'podIPs' | 'isTurn'> {
  readonly files: ResolvedFiles;
}

interface Resolving {
  readonly reads: ObjectReads;
  readonly bytes: PodFileBytes;
  readonly signal: AbortSignal;
}

/** Carries why a pod is held back to where that is answered. */
class Held extends Error {
  readonly held: HeldPod;

  constructor(held: HeldPod) {
    super(held.message);
    this.name = 'Held';
    this.held = held;
  }
}

async function filesOf(request: FilesRequest, bytes: PodFileBytes): Promise<Readonly<Record<string, ResolvedFile>>> {
  const { volume } = request;
  const type = fileVolumeType(volume);
  if (type === undefined) return {};
  const { files, bytes: size, besideBytes } = collected(await volumeFiles(type, request));
  bytes.add(size + besideBytes);
  return Object.fromEntries(Array.from(files, ([path, { data, mode }]) => [path, { data, mode }]));
}

/** The text of a file of a volume, for a variable that is read of it. */
function textOfFile(files: ResolvedFiles, volume: string, path: string): string {
  const ofVolume = Object.hasOwn(files, volume) ? files[volume] : undefined;
  if (ofVolume === undefined) throw new Error(`cannot find the volume ${goQuote(volume)} referenced by FileKeyRef`);
  const file = Object.hasOwn(ofVolume, path) ? ofVolume[path] : undefined;
  if (file === undefined) throw new Error("couldn't parse env file");
  return Buffer.from(file.data).toString('utf8');
}

/** The container with what it is started with in place of what it refers to. */
function startOf(container: Container, { command, args, envs }: ReturnType<typeof startTexts>, bytes: PodFileBytes): Container {
  const { envFrom: _resolved, ...rest } = container;
  const env = envs.map(({ key, value }) => ({
    name: key,
    value: typeof value === 'string' ? value : Buffer.from(value).toString('utf8'),
  }));
  const texts = [...command, ...args, ...env.flatMap(({ name, value }) => [name, value])];
  bytes.add(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  return {
    ...rest,
    env,
    ...(container.command && { command: [...command] }),
    ...(container.args && { args: [...args] }),
  };
}

function withStart(pod: Pod, containers: ReadonlyMap<string, Container>, files: ResolvedFiles): NodePod {
  const started = <C extends { readonly name: string }>(list: readonly C[]): C[] =>
    list.map((container) => (containers.get(container.name) ?? container) as C);
  const { spec } = nodePod(pod);
  const { initContainers, ephemeralContainers } = spec;
  return {
    ...nodePod(pod),
    files,
    spec: {
      ...spec,
      containers: started(spec.containers),
      ...(initContainers && { initContainers: started(initContainers) }),
      ...(ephemeralContainers && { ephemeralContainers: started(ephemeralContainers) }),
    },
  };
}
