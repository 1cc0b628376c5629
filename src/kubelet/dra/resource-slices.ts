// Behaviour of wipeResourceSlices in pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go, v1.36.3.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import { backoffMs } from '../../base/concurrency/backoff.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { helped } from '../../node/problem-help.ts';

export interface ResourceSlicesOptions {
  readonly transport: ResourceTransport;
  readonly nodeName: string;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** The slices of a driver that could not be deleted. */
export interface SliceTrouble extends Failing {
  /** Empty: the slices of all drivers. */
  readonly driver: string;
  /** When it is tried again, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** A driver has so long to come back. */
const patienceMs = 30_000;
const retry = { baseMs: 1000, capMs: 300_000 };
const callTimeoutMs = 60_000;
/** So many drivers are waited for at once. The slices of a further one go at the next start. */
const mostDrivers = 1000;
const allDrivers = '';

interface Deletion {
  readonly ending: AbortController;
  readonly failures: FailureRun;
  retryAt: number;
}

/** Deletes what drivers have said that the node has, once nobody could give it to a pod: the scheduler would place pods here that wait. */
export class ResourceSlices {
  readonly #options: ResourceSlicesOptions;
  readonly #slices: ResourceClient;
  readonly #deletions = new Map<string, Deletion>();
  readonly #tasks = new Set<Promise<void>>();
  #isStopped = false;

  constructor(options: ResourceSlicesOptions) {
    this.#options = options;
    this.#slices = new ResourceClient(options.transport, resources.resourceSlices);
  }

  /** No driver is registered yet. Whoever comes back makes its slices again. */
  start(): void {
    this.#begin(allDrivers, 0);
  }

  /** The driver can be used. */
  keep(driver: string): void {
    this.#deletions.get(driver)?.ending.abort();
    this.#deletions.delete(driver);
  }

  /** The driver cannot be used. Where that was said before, the time goes on. */
  deleteLater(driver: string): void {
    if (!this.#deletions.has(driver) && this.#deletions.size < mostDrivers) this.#begin(driver, patienceMs);
  }

  troubles(): readonly SliceTrouble[] {
    return [...this.#deletions].flatMap(
      ([
        driver,
        {
          failures: { failing },
          retryAt,
        },
      ]) => (failing === undefined ? [] : [{ driver, ...failing, retryAt }]),
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { ending } of this.#deletions.values()) ending.abort();
    await Promise.all(this.#tasks);
  }

  #begin(driver: string, delayMs: number): void {
    if (this.#isStopped) return;
    const { clock, logger } = this.#options;
    const failures = new FailureRun(clock, (ended) => logger.info({ ...ended, driver }, 'resource slices can be deleted again'));
    const deletion = { ending: new AbortController(), failures, retryAt: 0 };
    this.#deletions.set(driver, deletion);
    const task = this.#delete(driver, delayMs, deletion).finally(() => {
      this.#tasks.delete(task);
      if (this.#deletions.get(driver) === deletion) this.#deletions.delete(driver);
    });
    this.#tasks.add(task);
  }

  async #delete(driver: string, delayMs: number, deletion: Deletion): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { signal } = deletion.ending;
    await sleep(clock, delayMs, signal);
    while (!signal.aborted) {
      const isDone = await this.#tryToDelete(driver, signal).catch((err: unknown) => {
        if (signal.aborted) return;
        const failing = deletion.failures.failed(err);
        const waitMs = backoffMs(failing.attempt, { ...retry, random });
        deletion.retryAt = clock.now() + waitMs;
        const problem = problemFields({ ...failing, retryAt: deletion.retryAt, ...helped('resource-slices') }, clock.now());
        logger.warn({ err, driver, ...problem }, 'the resource slices of drivers that are not here could not be deleted');
        return sleep(clock, waitMs, signal);
      });
      if (isDone === true) break;
    }
    if (!signal.aborted) deletion.failures.succeeded();
  }

  async #tryToDelete(driver: string, signal: AbortSignal): Promise<true> {
    const { nodeName } = this.#options;
    const ofDriver = driver === allDrivers ? '' : `spec.driver=${driver},`;
    const selection = { fieldSelector: `${ofDriver}spec.nodeName=${nodeName}` };
    try {
      await this.#slices.deleteCollection({ ...selection, signal, timeoutMs: callTimeoutMs });
    } catch (error) {
      // the cluster has none
      if (classifyApiError(error) !== 'gone') throw error;
    }
    return true;
  }
}
