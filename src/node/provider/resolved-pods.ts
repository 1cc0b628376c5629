import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { LinkedAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { problemFields } from '../../base/problem.ts';
import { fileVolumeType, usedVolumes } from '../pod-files/volume-files.ts';
import { type HeldPod, heldByVolumes } from './held-pod.ts';
import { KeptFiles, staleAgainMs } from './kept-files.ts';
import type { PodFolders } from './pod-folders.ts';
import { PodHeldError } from './pod-held-error.ts';
import type { NodePod } from './pod-provider.ts';
import type { PodResolver, Resolution, ResolveOptions } from './pod-resolver.ts';
import type { HeldFailure, ProvidedPod, ProviderChange } from './provided-pod.ts';
import { heldStatus } from './provided-status.ts';
import { nodePod, type ProviderCalls } from './provider-calls.ts';
import { heldProblem } from './provider-problems.ts';
import type { ToldStatuses } from './told-statuses.ts';

export interface ResolvedPodsOptions {
  /** Undefined where the provider wants pods as they are. */
  readonly resolver: PodResolver | undefined;
  /** Undefined where files are handed over as values. */
  readonly folders: PodFolders | undefined;
  readonly calls: Pick<ProviderCalls, 'event'>;
  readonly statuses: ToldStatuses;
  readonly recoveries: RecoveryLines;
  /** How often a pod that waits is looked at, in milliseconds. */
  readonly lookMs: number;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** A pod for the provider. */
export interface HandedPod {
  readonly pod: NodePod;
  /** To be called once the provider's call has settled. */
  readonly release: () => void;
}

/** What is for whom in a resolver's registrations: the pod's own hand-over, the upkeep of its files, or one call of the provider. */
type Holder = 'change' | 'files' | symbol;

/** Hands a pod over only once what it refers to is there, and tells what is missing until then. */
export class ResolvedPods {
  readonly #options: ResolvedPodsOptions;
  /** What is made of one pod is made one after another: older files never replace newer ones. */
  readonly #lanes = new OneAtATime();
  /** Who needs what each pod refers to. */
  readonly #holders = new LateMap<string, Set<Holder>>();
  readonly #kept: KeptFiles | undefined;
  readonly #stopping = new AbortController();

  constructor(options: ResolvedPodsOptions) {
    this.#options = options;
    const { folders } = options;
    const refresh = (record: ProvidedPod, signal: AbortSignal) => this.#refresh(record, signal);
    this.#kept = folders && new KeptFiles({ ...options, folders, refresh });
  }

  /** Undefined while the pod waits. Rejects with the signal's reason alone. */
  async take(record: ProvidedPod, method: ProviderChange['method'], signal: AbortSignal): Promise<HandedPod | undefined> {
    const { resolver, calls } = this.#options;
    if (resolver === undefined) return { pod: nodePod(record.pod), release: () => {} };
    this.#hold(record, 'change');
    const resolution = await this.#make(record, {}, signal);
    if ('held' in resolution) {
      this.#noteHeld(record, method, resolution.held);
      return undefined;
    }
    for (const { reason, message } of resolution.notes) calls.event(record, reason, message);
    this.#noteReady(record);
    this.#noteUpToDate(record);
    if (hasFiles(record.pod)) this.#kept?.keep(record, true);
    const release = (): void => {
      resolution.release();
      this.#letGo(record, 'change');
    };
    return { pod: resolution.pod, release };
  }

  /** The pod as it would be handed over now. Rejects with ERR_POD_HELD, ERR_STOPPED, and the signal's reason. */
  async resolveNow(record: ProvidedPod, options: ResolveOptions, given: AbortSignal | undefined): Promise<NodePod> {
    const { resolver } = this.#options;
    const stopping = this.#stopping.signal;
    const linked = new LinkedAbort(given, stopping);
    const { signal } = linked;
    const holder = Symbol('resolvePod');
    try {
      signal.throwIfAborted();
      if (resolver === undefined) return nodePod(record.pod);
      this.#hold(record, holder);
      const resolution = await this.#make(record, options, signal);
      if ('held' in resolution) throw new PodHeldError(resolution.held);
      // the values are the provider's now
      resolution.release();
      return resolution.pod;
    } finally {
      linked.release();
      this.#letGo(record, holder);
    }
  }

  /** The provider has the pod: where an earlier run of the agent has written its files, they are kept up to date from now on. */
  keep(record: ProvidedPod): void {
    if (this.#kept !== undefined && record.change === undefined && hasFiles(record.pod)) this.#kept.keep(record, false);
  }

  /** Nothing of the pod runs any more: nothing that it refers to is read for it, and its files are removed. Never rejects. */
  async forget(record: ProvidedPod): Promise<void> {
    this.#kept?.leave(record.uid);
    // whatever is still made of the pod comes before
    await this.#remove(record.uid, record.pod);
    this.#holders.delete(record.uid);
    this.#options.resolver?.unregister(record.pod);
  }

  /** Removes the folders of pods that are gone. To be called again and again. */
  sweep(mayRun: (podUID: string) => boolean): void {
    this.#kept?.sweep(mayRun, (podUID) => this.#remove(podUID, { metadata: { uid: podUID } }, mayRun));
  }

  stop(): void {
    this.#stopping.abort(new StatusManagerError('ERR_STOPPED', 'The provider node is stopping or stopped'));
    this.#kept?.stop();
  }

  #hold(record: ProvidedPod, holder: Holder): void {
    const holders = this.#holders.get(record.uid) ?? new Set();
    this.#holders.set(record.uid, holders.add(holder));
    this.#options.resolver?.register(record.pod);
  }

  /** What was registered last counts, whichever version of the pod that was. */
  #letGo(record: ProvidedPod, holder: Holder): void {
    const holders = this.#holders.get(record.uid);
    if (!holders?.delete(holder) || holders.size > 0) return;
    this.#holders.delete(record.uid);
    this.#options.resolver?.unregister(record.pod);
  }

  /** What is made after the signal has aborted is let go of. */
  async #make(record: ProvidedPod, options: ResolveOptions, signal: AbortSignal): Promise<Resolution> {
    const made = this.#lanes.run(record.uid, () => this.#makeInTurn(record, options, signal));
    try {
      return await untilAborted(made, signal);
    } catch (error) {
      made.then((resolution) => 'held' in resolution || resolution.release(), ignoreFailure);
      throw error;
    }
  }

  async #makeInTurn(record: ProvidedPod, options: ResolveOptions, signal: AbortSignal): Promise<Resolution> {
    signal.throwIfAborted();
    const { resolver, folders } = this.#options;
    if (resolver === undefined) throw new Error('the provider gets pods as they are');
    const { pod } = record;
    const podIPs = record.answer?.podIPs ?? pod.status?.podIPs ?? [];
    const addresses = podIPs.flatMap(({ ip }) => (ip ? [ip] : []));
    const resolution = await resolver.resolve(pod, addresses, signal, options);
    if (folders === undefined || 'held' in resolution) return resolution;
    const { files = {}, ...rest } = resolution.pod;
    try {
      const written = Object.keys(files).length === 0 ? nothingWritten : await folders.write(resolution.pod, files);
      if (written.failures.size > 0) throw new Unwritten(written.failures);
      if (written !== nothingWritten) this.#hold(record, 'files');
      return { ...resolution, pod: { ...rest, volumeFolders: written.folders } };
    } catch (error) {
      resolution.release();
      const failures = error instanceof Unwritten ? error.failures : new Map(Object.keys(files).map((name) => [name, error]));
      return { held: heldByVolumes(pod, failures) };
    }
  }

  /** A pod that runs goes on with the files that it has. */
  async #refresh(record: ProvidedPod, signal: AbortSignal): Promise<boolean> {
    const { calls, clock, logger } = this.#options;
    this.#hold(record, 'files');
    const resolution = await this.#make(record, { containers: [] }, signal);
    if (!('held' in resolution)) {
      resolution.release();
      this.#noteUpToDate(record);
      return true;
    }
    const { held } = resolution;
    const before = record.staleFiles;
    record.staleFiles = this.#failureOf(held, before, staleAgainMs);
    if (before?.message === held.message) return false;
    for (const { reason, message } of held.events) calls.event(record, reason, message);
    const problem = problemFields(heldProblem(record.staleFiles), clock.now());
    const fields = { ...podFields(record.pod.metadata), ...problem, reason: held.message };
    logger.warn(fields, 'the files of a pod could not be brought up to date');
    return false;
  }

  /** One that fails is tried again by the sweep. */
  async #remove(podUID: string, pod: Pod, mayRun: (podUID: string) => boolean = () => false): Promise<void> {
    const { folders, logger } = this.#options;
    if (folders === undefined) return;
    const remove = async (): Promise<void> => (mayRun(podUID) ? undefined : folders.remove(podUID));
    await this.#lanes.run(podUID, remove).catch((err: unknown) => {
      logger.warn({ err, ...podFields(pod.metadata) }, 'the files of a pod that is gone could not be removed');
    });
  }

  #noteHeld(record: ProvidedPod, method: ProviderChange['method'], held: HeldPod): void {
    const { calls, statuses, lookMs, clock, logger } = this.#options;
    const before = record.held;
    record.held = this.#failureOf(held, before, lookMs);
    // a pod that runs goes on as it is
    if (method === 'createPod') statuses.tell(record, heldStatus(statuses.facts(record), held));
    if (before?.message === held.message) return;
    for (const { reason, message: text } of held.events) calls.event(record, reason, text);
    const fields = { ...podFields(record.pod.metadata), method, ...problemFields(heldProblem(record.held), clock.now()) };
    logger.warn({ ...fields, reason: held.message }, 'a pod waits for what it refers to');
  }

  #failureOf({ kind, message, help }: HeldPod, before: HeldFailure | undefined, againMs: number): HeldFailure {
    const now = this.#options.clock.now();
    const [attempt, since] = [(before?.attempt ?? 0) + 1, before?.since ?? now];
    return { kind, message, help, attempt, since, retryAt: now + againMs };
  }

  #noteReady(record: ProvidedPod): void {
    const { recoveries, clock, logger } = this.#options;
    const { held } = record;
    record.held = undefined;
    if (held === undefined || !recoveries.take()) return;
    logger.info({ ...podFields(record.pod.metadata), ...endedFailures(held, clock.now()) }, 'a pod has what it waited for');
  }

  #noteUpToDate(record: ProvidedPod): void {
    const { recoveries, clock, logger } = this.#options;
    const { staleFiles } = record;
    record.staleFiles = undefined;
    if (staleFiles === undefined || !recoveries.take()) return;
    const fields = { ...podFields(record.pod.metadata), ...endedFailures(staleFiles, clock.now()) };
    logger.info(fields, 'the files of a pod are up to date again');
  }
}

const nothingWritten = { folders: {}, failures: new Map<string, unknown>() };

/** Carries what could not be written to where that is answered. */
class Unwritten extends Error {
  readonly failures: ReadonlyMap<string, unknown>;

  constructor(failures: ReadonlyMap<string, unknown>) {
    super('files of volumes could not be written');
    this.name = 'Unwritten';
    this.failures = failures;
  }
}

/** True for a pod that uses a volume whose files a node makes. */
function hasFiles(pod: Pod): boolean {
  const used = usedVolumes(pod);
  return (pod.spec?.volumes ?? []).some((volume) => used.has(volume.name) && fileVolumeType(volume) !== undefined);
}
