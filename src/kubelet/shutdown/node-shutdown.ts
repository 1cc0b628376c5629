// Behaviour of managerImpl in pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { sleep } from '../../base/clock.ts';
import { settlesWithin, TimeLeft } from '../../base/concurrency/aborts.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import { helped } from '../../node/problem-help.ts';
import { PodShutdown, type PodShutdownOptions, type ShutdownProgress } from './pod-shutdown.ts';
import { type ShutdownGracePeriod, shortened, shutdownGroups, wholePeriodMs } from './shutdown-groups.ts';
import { ShutdownRecord, type ShutdownTimes } from './shutdown-record.ts';
import type { ShutdownSignals } from './shutdown-signals.ts';
import { ShutdownWatch, statusMarginMs } from './shutdown-watch.ts';

export interface NodeShutdownOptions extends PodShutdownOptions {
  readonly nodeName: string;
  readonly rootDirectory: string;
  /** The lowest priority first; at least one. */
  readonly periods: readonly ShutdownGracePeriod[];
  readonly signals: ShutdownSignals;
  /** The pods that are not over. */
  readonly activePods: () => readonly Pod[];
  /** Told when the node is not ready any more, or ready again. */
  readonly nodeChanged: () => void;
  /** True once the apiserver has been told that the node is not ready. */
  readonly isNotReadyTold: () => boolean;
  /** Resolves once the apiserver has the statuses of all pods, or refuses them, or the time is over. */
  readonly flushStatuses: (timeoutMs: number) => Promise<unknown>;
  readonly nodeEvent: (reason: string, message: string) => void;
  readonly metrics: Metrics;
}

/** What is to be known of the shutdown of the node's machine. It can be turned into JSON. */
export interface NodeShutdownReport {
  /** True while a shutdown of the machine would wait for the agent. */
  readonly isDelayed: boolean;
  /** How long the machine waits at most, in milliseconds; undefined until it has said so. */
  readonly longestDelayMs: number | undefined;
  /** True once the machine is about to shut down, and until that is called off. */
  readonly isShuttingDown: boolean;
  /** When the pods began to end for the last shutdown, in milliseconds since the epoch; undefined where there was none. */
  readonly startedAt: number | undefined;
  /** When they had ended, or had had their time; undefined before. */
  readonly endedAt: number | undefined;
  /** The groups in which pods end, the first one first. Before a shutdown they have no pods. */
  readonly groups: readonly ShutdownProgress[];
}

/** What the kubelet says of a node that shuts down. */
const notReadyMessage = 'node is shutting down';
const pollMs = 50;
const recordPatienceMs = 1000;

/** Ends the pods of the node before its machine shuts down, by their priorities, and lets the machine wait for that. */
export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  readonly #watch: ShutdownWatch;
  readonly #record: ShutdownRecord;
  #times: ShutdownTimes = {};
  #isShuttingDown = false;
  #pods: PodShutdown;
  #ending = new AbortController();
  #run: Promise<void> = Promise.resolve();

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
    const { signals, periods, clock, logger, rootDirectory } = options;
    const told = (isShuttingDown: boolean): void => this.#told(isShuttingDown);
    this.#watch = new ShutdownWatch({ signals, wantedMs: wholePeriodMs(periods), told, clock, logger });
    this.#record = new ShutdownRecord(rootDirectory);
    this.#pods = new PodShutdown(shutdownGroups(periods, []), options);
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /** Why the node is not ready, in words; undefined where it does not shut down. */
  notReady(): string | undefined {
    return this.#isShuttingDown ? notReadyMessage : undefined;
  }

  /** What is wrong, the most telling first. */
  problems(): Problem[] {
    const { failing, shortage, longestDelayMs = 0 } = this.#watch;
    const { periods } = this.#options;
    const found: Problem[] = [];
    if (this.#isShuttingDown) {
      const { pods, ended } = this.#count();
      const message = `the machine shuts down: ${ended} of ${pods} pods have ended`;
      found.push({ ...helped('shutting-down'), message, since: this.#times.startedAt, attempt: 0 });
    } else if (failing !== undefined) {
      const message = `a shutdown of the machine would end the pods without notice: ${failing.message}`;
      found.push({ ...failing, ...helped('shutdown-unseen'), message });
    }
    if (shortage !== undefined) {
      const [has, wants] = [longestDelayMs / 1000, wholePeriodMs(periods) / 1000];
      const message = `at a shutdown the machine waits ${has} s for its pods, and not ${wants} s: ${shortage.message}`;
      found.push({ ...shortage, ...helped('shutdown-delay'), message });
    }
    return found;
  }

  report(): NodeShutdownReport {
    const { isDelaying, longestDelayMs } = this.#watch;
    const { startedAt, endedAt } = this.#times;
    const groups = this.#pods.progress();
    return { isDelayed: isDelaying, longestDelayMs, isShuttingDown: this.#isShuttingDown, startedAt, endedAt, groups };
  }

  /** Does not wait: a machine that says nothing of its shutdown runs pods all the same. */
  start(): void {
    this.#watch.start();
    this.#run = this.#readRecord();
  }

  /** Lets the machine shut down. What has begun to end goes on. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#watch.stop();
    await this.#run;
  }

  #told(isShuttingDown: boolean): void {
    const { nodeChanged, nodeEvent, nodeName, logger } = this.#options;
    this.#isShuttingDown = isShuttingDown;
    const what = isShuttingDown ? 'event' : 'cancellation';
    nodeEvent('Shutdown', `Shutdown manager detected shutdown ${what}`);
    nodeChanged();
    this.#ending.abort();
    if (!isShuttingDown) {
      logger.info({ node: nodeName }, 'the shutdown of the machine was called off: pods may run again');
      return;
    }
    const ending = new AbortController();
    this.#ending = ending;
    const before = this.#run;
    this.#run = before.then(() => this.#endPods(ending.signal));
  }

  /** Never rejects. */
  async #endPods(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { periods, activePods, nodeName, clock, logger } = this.#options;
    // a machine that has not said yet how long it waits is believed to wait long enough
    const { longestDelayMs = wholePeriodMs(periods) + statusMarginMs } = this.#watch;
    const timeLeft = new TimeLeft(clock, longestDelayMs);
    const fitting = shortened(periods, longestDelayMs);
    this.#pods = new PodShutdown(shutdownGroups(fitting, activePods()), this.#options);
    const problem = problemFields({ ...helped('shutting-down') });
    logger.warn({ node: nodeName, ...problem }, 'the machine shuts down: new pods are refused, and those that run end in order');
    await this.#noteTimes({ startedAt: clock.now() });
    await this.#pods.run(signal);
    await this.#tellAll(Math.max(timeLeft.ms(statusMarginMs), pollMs), signal);
    await this.#noteTimes({ ...this.#times, endedAt: clock.now() });
    // a shutdown that was called off has another delay by now
    if (signal.aborted) return;
    this.#watch.release();
    const { pods, ended } = this.#count();
    logger.info({ node: nodeName, pods, ended }, 'the pods have ended, or had their time: the machine may shut down');
  }

  /** What the apiserver does not hear now it would hear only after the machine's next start. */
  async #tellAll(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { flushStatuses, isNotReadyTold, clock, logger } = this.#options;
    const over = new AbortController();
    const untilNotReady = async (): Promise<void> => {
      while (!over.signal.aborted && !isNotReadyTold()) await sleep(clock, pollMs, over.signal);
    };
    const told = Promise.all([flushStatuses(timeoutMs), untilNotReady()]);
    told.catch((err: unknown) => {
      if (!signal.aborted) logger.warn({ err }, 'not every status could be written before the shutdown of the machine');
    });
    await settlesWithin(told, { clock, timeoutMs, signal });
    over.abort();
  }

  #count(): { readonly pods: number; readonly ended: number } {
    const groups = this.#pods.progress();
    const sum = (of: (group: ShutdownProgress) => number): number => groups.reduce((all, group) => all + of(group), 0);
    return { pods: sum(({ pods }) => pods), ended: sum(({ ended }) => ended) };
  }

  async #readRecord(): Promise<void> {
    try {
      this.#setTimes(await this.#record.read());
    } catch (err) {
      this.#options.logger.warn({ err }, 'the record of the last shutdown cannot be read');
      this.#setTimes({});
    }
  }

  /** Never rejects. */
  async #noteTimes(times: ShutdownTimes): Promise<void> {
    const { clock, logger } = this.#options;
    this.#setTimes(times);
    const written = this.#record.write(times).catch((err: unknown) => {
      logger.warn({ err }, 'the record of the shutdown cannot be written');
    });
    // a disk that hangs keeps no pod from its end
    await settlesWithin(written, { clock, timeoutMs: recordPatienceMs });
  }

  #setTimes(times: ShutdownTimes): void {
    const { metrics } = this.#options;
    this.#times = times;
    metrics.set('kubelet_graceful_shutdown_start_time_seconds', seconds(times.startedAt));
    metrics.set('kubelet_graceful_shutdown_end_time_seconds', seconds(times.endedAt));
  }
}

function seconds(time: number | undefined): number {
  return Math.floor((time ?? 0) / 1000);
}
