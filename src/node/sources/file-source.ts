// Behaviour of pkg/kubelet/config/file.go and file_linux.go, v1.36.3.

import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { longestManifest } from '../../api/manifest/read-manifest.ts';
import { decodeStaticPods } from '../../api/manifest/static-pods.ts';
import { type Clock, type SteadyClock, safeClock, sleep, systemClock } from '../../base/clock.ts';
import { type LastFailure, RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { errorText, invalidOption } from '../../base/errors.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { nodeNameOption } from '../../base/names.ts';
import { integerOption, longestTimerMs, numberOption, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { problemFields } from '../../base/problem.ts';
import { failureInWords } from '../../client/resources/api-problem.ts';
import { type FilesToRead, ManifestFiles } from './manifest-files.ts';
import type { PodSource, SendPods } from './pod-source.ts';

/** Which path is read, and how often. `path` and `nodeName` are needed. */
export interface FileSourceOptions {
  /** A directory of manifests, or one manifest. It may appear later. */
  readonly path: string;
  /** The node that runs the pods. Its name, in lower case, is appended to theirs. */
  readonly nodeName: string;
  /** Every file is read this often, also where the system has told of no change. Default 20 000. */
  readonly checkPeriodMs?: number;
  /** A longer file is refused. Default 10 MiB. */
  readonly maxBytes?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

const knownOptions = ['path', 'nodeName', 'checkPeriodMs', 'maxBytes', 'clock', 'logger'];
/** A change seldom comes alone: what follows it this soon is read together with it. */
const gatherMs = 50;
/** How soon a path that is not there is looked for again. */
const missingPathMs = 1000;

/**
 * The static pods of a directory, one manifest in each file, or of one file, in YAML or JSON. In a directory, names that begin
 * with a dot count for nothing, and directories within it are not entered. Changes are told by the system; a file is then read
 * unless its times and its size say that it is as it was. Every file is read every `checkPeriodMs`. Sends the whole list after
 * each reading.
 *
 * One broken file hides no other. A file that was good keeps its pods while it cannot be read or breaks a rule; they go with the
 * file. A path that is not there has no pods. Where the path itself cannot be read, and where a single manifest was never good,
 * nothing is sent.
 *
 * @example
 * ```ts
 * import { mkdtemp, rm, writeFile } from 'node:fs/promises';
 * import { FileSource } from 'pod-status-manager/node';
 *
 * const path = await mkdtemp('/tmp/manifests-');
 * const spec = { containers: [{ name: 'app', image: 'app:1' }] };
 * await writeFile(`${path}/web.json`, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec }));
 * const source = new FileSource({ path, nodeName: 'node-1' });
 * const names = await new Promise((resolve) => source.start((pods) => resolve(pods.map(({ metadata }) => metadata?.name))));
 * console.log(names); // [ 'web-node-1' ]
 * await source.stop();
 * await rm(path, { recursive: true });
 * ```
 */
export class FileSource implements PodSource {
  readonly #path: string;
  readonly #checkPeriodMs: number;
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  readonly #files: ManifestFiles;
  readonly #watch: PathWatch;
  readonly #runState = new RunState('pod source');
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  /** Ends the wait for the next change; set anew before each reading, so that no change is missed. */
  #changed = new AbortController();
  #problem: string | undefined;
  readonly #failures: FailureRun;
  #lastFailure: LastFailure | undefined;
  /** When the reading of every file began last, by `Clock.elapsed`. */
  #lastCheckAt: number | undefined;
  #lastObservedAt: number | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: FileSourceOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { checkPeriodMs = 20_000, maxBytes = longestManifest, clock = systemClock, logger } = options;
    this.#path = pathOption(options.path);
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#checkPeriodMs = numberOption('checkPeriodMs', checkPeriodMs, 1, longestTimerMs);
    this.#clock = safeClock(clock);
    this.#logger = loggerOption(logger);
    this.#failures = new FailureRun(this.#clock, (ended) =>
      this.#logger.info({ path: this.#path, ...ended }, 'the manifests of the path can be read again'),
    );
    this.#files = new ManifestFiles({
      path: this.#path,
      nodeName: nodeNameOption(options.nodeName),
      maxBytes: integerOption('maxBytes', maxBytes, 1),
      decode: decodeStaticPods,
      now: () => this.#clock.now(),
      logger: this.#logger,
    });
    this.#watch = new PathWatch({ path: this.#path, onChange: () => this.#changed.abort(), logger: this.#logger });
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** Throws ERR_ALREADY_STARTED, ERR_STOPPED. */
  start(send: SendPods): void {
    this.#runState.start();
    this.#loop = this.#run(send).catch((error) =>
      this.#logger.error({ err: error }, 'the file source has ended: its clock failed'),
    );
  }

  /** When it resolves, there is no timer and no open file left, and nothing is sent any more. */
  stop(): Promise<void> {
    return this.#runState.stop(async () => {
      this.#stopping.abort();
      this.#changed.abort();
      await this.#loop;
      this.#watch.close();
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** When the path was last read, in milliseconds since the epoch. */
  lastObservedAt(): number | undefined {
    return this.#lastObservedAt;
  }

  /** Why the path, or the first manifest in it that cannot be used, could not be read last; undefined once all can be, and before any failure. */
  lastFailure(): LastFailure | undefined {
    return this.#lastFailure;
  }

  async #run(send: SendPods): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#changed = new AbortController();
      // first the watch, then the reading: what changes in between is told
      await this.#watch.renew();
      const isCheckDue = this.#untilCheckMs() <= 0;
      if (isCheckDue) this.#lastCheckAt = this.#clock.elapsed();
      const isThere = await this.#read(send, signal, isCheckDue ? 'all' : 'changed');
      if (signal.aborted) return;
      const untilCheckMs = Math.max(1, this.#untilCheckMs());
      const waitMs = isThere ? untilCheckMs : Math.min(untilCheckMs, missingPathMs);
      await sleep(this.#clock, waitMs, this.#changed.signal);
      if (this.#changed.signal.aborted) await sleep(this.#clock, gatherMs, signal);
    }
  }

  #failed(error: unknown): void {
    const at = this.#clock.now();
    const { since, attempt } = this.#failures.failed(error);
    this.#lastFailure = { error, at, retryAt: at + Math.max(1, this.#untilCheckMs()), since, attempt };
  }

  /** `filesToRead`: where not all files were read, what is known already of one was not tried again. */
  #noteManifests(failure: { readonly error: unknown } | undefined, filesToRead: FilesToRead): void {
    if (failure === undefined) {
      this.#failures.succeeded();
      this.#lastFailure = undefined;
    } else if (filesToRead === 'all' || errorText(failure.error) !== errorText(this.#lastFailure?.error)) {
      this.#failed(failure.error);
    }
  }

  /** How long until every file is to be read, whatever the system says of it. */
  #untilCheckMs(): number {
    return this.#lastCheckAt === undefined ? 0 : this.#lastCheckAt + this.#checkPeriodMs - this.#clock.elapsed();
  }

  /** False where there is nothing at the path. */
  async #read(send: SendPods, signal: AbortSignal, filesToRead: FilesToRead): Promise<boolean> {
    try {
      const { isThere, pods, failure } = await this.#files.read(signal, filesToRead);
      if (signal.aborted) return isThere;
      this.#problem = undefined;
      this.#noteManifests(failure, filesToRead);
      this.#lastObservedAt = this.#clock.now();
      this.#logger.debug({ path: this.#path, filesToRead, isThere, pods: pods.length }, 'the path of manifests was read');
      send(pods);
      return isThere;
    } catch (error) {
      const problem = errorText(error);
      this.#failed(error);
      if (problem !== this.#problem) {
        const fields = problemFields({ ...failureInWords(error), ...this.#lastFailure }, this.#clock.now());
        this.#logger.error({ path: this.#path, err: error, ...fields }, 'the path of manifests cannot be read');
      }
      this.#problem = problem;
      return true;
    }
  }
}

function pathOption(path: unknown): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) throw invalidOption('path', 'a path', path);
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** What `fs.watch` gives, as far as it is used here. */
export interface Watcher {
  on(event: 'change', listener: (type: string, name: string | Buffer | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): void;
}

export type OpenWatcher = (path: string) => Watcher;

export interface PathWatchOptions {
  readonly path: string;
  /** Called with each change, but for those of files whose name begins with a dot. */
  readonly onChange: () => void;
  readonly logger: Logger;
  /** Default `fs.watch`. */
  readonly open?: OpenWatcher | undefined;
}

/**
 * A watch of a file or a directory by the system. It follows what stands at the path: another file there is watched afresh, also
 * where the system has given it the inode of the one before.
 */
export class PathWatch {
  readonly #options: PathWatchOptions;
  readonly #open: OpenWatcher;
  #watched: { readonly id: string; readonly watcher: Watcher; isDue: boolean } | undefined;
  #problem: string | undefined;

  constructor(options: PathWatchOptions) {
    this.#options = options;
    this.#open = options.open ?? ((path) => watch(path));
  }

  /** Sees to it that what stands at the path now is watched. Where that cannot be, it is logged once. Never rejects. */
  async renew(): Promise<void> {
    const id = await this.#idOfPath();
    if (id !== undefined && id === this.#watched?.id && !this.#watched.isDue) return;
    this.close();
    if (id === undefined) return;
    try {
      this.#watch(id);
      this.#problem = undefined;
    } catch (error) {
      this.#failed(error);
    }
  }

  close(): void {
    const { watcher } = this.#watched ?? {};
    this.#watched = undefined;
    watcher?.close();
  }

  #watch(id: string): void {
    const { path, onChange } = this.#options;
    const watcher = this.#open(path);
    const watched = { id, watcher, isDue: false };
    this.#watched = watched;
    watcher.on('change', (type, given) => {
      const name = given?.toString() ?? basename(path);
      // what stood at the path may have moved or gone, and its watch with it
      if (type === 'rename' && name === basename(path)) watched.isDue = true;
      // a watched file gives its own name, which may begin with a dot
      const isHidden = name.startsWith('.') && name !== basename(path);
      if (this.#watched === watched && !isHidden) onChange();
    });
    watcher.on('error', (error) => {
      if (this.#watched !== watched) return;
      this.close();
      this.#failed(error);
      onChange();
    });
  }

  async #idOfPath(): Promise<string | undefined> {
    try {
      const { dev, ino, birthtimeNs } = await stat(this.#options.path, { bigint: true });
      return `${dev}:${ino}:${birthtimeNs}`;
    } catch {
      return undefined;
    }
  }

  #failed(error: unknown): void {
    const problem = errorText(error);
    if (problem !== this.#problem) {
      this.#options.logger.warn(
        { path: this.#options.path, err: error },
        'the path cannot be watched; it is only read now and then',
      );
    }
    this.#problem = problem;
  }
}
