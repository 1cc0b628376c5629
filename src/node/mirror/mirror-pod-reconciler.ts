import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pod } from '../../api/json/types.ts';
import { isStaticPod, parsePodFullName, podFullName } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { invalidArgument } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import { beginAtZero } from '../../base/metrics/metrics.ts';
import { mirrorPairs } from './mirror-pods.ts';
import { MirrorWorker } from './mirror-worker.ts';
import {
  type MirrorPodReconcilerOptions,
  type ResolvedReconcilerOptions,
  resolveReconcilerOptions,
} from './reconciler-options.ts';

/** How soon the reconciler looks again, in milliseconds: while the agent permits nothing yet, and when all is well. */
const lookAgainMs = { waiting: 500, idle: 10_000 };
/**
 * Each look is at all pods. After one that took longer than a moment the reconciler rests nine times as long before a change leads to
 * the next one.
 */
const rest = { afterMs: 2, timesAsLong: 9, longestMs: 1000 };

/**
 * Keeps the mirror pods on the apiserver in step with the static pods of a pod manager: creates those that are missing,
 * replaces those whose static pod has changed or that are being deleted, and deletes those whose static pod is gone.
 *
 * A change that the pod manager tells of is followed at once; with thousands of static pods, where a look takes long, within a
 * second. Every DELETE names the uid of a mirror pod of this node, so
 * that no other pod is ever deleted. A pod that fails is tried again after a backoff of its own.
 *
 * @example
 * ```ts with-server
 * import { ApiServerPodSource, BasicPodManager, KubeTransport } from 'pod-status-manager';
 * import { MirrorPodClient, MirrorPodReconciler } from 'pod-status-manager/mirror';
 * import { buildStaticPod } from 'pod-status-manager/testing';
 *
 * const nodeName = 'node-1';
 * const podManager = new BasicPodManager();
 * podManager.addPod(buildStaticPod({ metadata: { name: 'web-node-1' } }));
 * const podSource = new ApiServerPodSource({ kubeConfig, nodeName, podManager });
 * const transport = new KubeTransport(kubeConfig);
 * const getNode = () => ({ metadata: { name: nodeName, uid: 'n1' } });
 * const created = Promise.withResolvers<string>();
 *
 * const reconciler = new MirrorPodReconciler({
 *   podManager,
 *   podSource,
 *   nodeName,
 *   mirrorPodClient: new MirrorPodClient({ transport, nodeName, getNode }),
 *   handlers: { mirrorPodCreated: ({ podFullName }) => created.resolve(podFullName) },
 * });
 * await podSource.start();
 * reconciler.start();
 * console.log(await created.promise); // web-node-1_default
 *
 * await reconciler.stop();
 * await podSource.stop();
 * await transport.close();
 * ```
 */
export class MirrorPodReconciler {
  readonly #options: ResolvedReconcilerOptions;
  readonly #worker: MirrorWorker;
  readonly #runState = new RunState('mirror pod reconciler');
  /** The static and mirror pods that the last look has seen, by uid. */
  readonly #known = new LateMap<string, Pod>();
  /** The static pods without a node that the log names already. */
  readonly #unbound = new WeakSet<Pod>();
  readonly #timers: KeyedTimers<'look' | 'rest'>;
  #looksSoon = false;
  #isResting = false;
  /** No change leads to a look before, by the clock's elapsed time. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #unsubscribe: unknown;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: MirrorPodReconcilerOptions) {
    this.#options = resolveReconcilerOptions(options);
    this.#worker = new MirrorWorker(this.#options);
    this.#timers = new KeyedTimers(this.#options.clock);
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Begins to look, at the next turn of the event loop. Throws ERR_ALREADY_STARTED on a second call, ERR_STOPPED after
   * `stop`, and what the pod manager throws when it takes no subscription.
   */
  start(): void {
    const { podManager } = this.#options;
    this.#runState.assertNotStopped('start');
    if (this.state === 'idle') this.#unsubscribe = podManager.subscribe((podUID) => this.#noteChange(podUID));
    this.#runState.start();
    beginAtZero(this.#options.metrics, ['pod_status_manager_mirror_pod_requests_total']);
    this.#lookSoon();
  }

  /**
   * Looks at the pod of this full name (`name_namespace`), or at every pod, at the next turn of the event loop, whatever it
   * waits for. Before `start` it does nothing. Throws ERR_STOPPED after `stop`, ERR_INVALID_ARGUMENT for a full name that
   * cannot be read.
   */
  reconcile(podFullName?: string): void {
    this.#runState.assertNotStopped('reconcile');
    if (podFullName !== undefined) {
      if (typeof podFullName !== 'string') throw invalidArgument('podFullName', 'of the form "name_namespace"', podFullName);
      parsePodFullName(podFullName);
    }
    if (this.state !== 'running') return;
    this.#worker.lookNow(podFullName);
    this.#lookNext();
  }

  /**
   * Gives up the requests under way. Resolves when nothing is in flight and no timer is left, at the latest after a second
   * where the client does not heed its signal. Every call after the first returns the first one's promise.
   */
  stop(): Promise<void> {
    return this.#runState.stop(() => this.#stop());
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    const unsubscribe = this.#unsubscribe;
    this.#timers.cancelAll();
    if (typeof unsubscribe === 'function') {
      callGuarded(
        () => unsubscribe(),
        (err) => this.#options.logger.warn({ err }, 'the subscription to the pod manager could not be ended'),
      );
    }
    await this.#worker.stop();
  }

  /** The pod manager tells of a change, and is in the middle of its own work. */
  #noteChange(podUID: string): void {
    if (this.state !== 'running') return;
    const failed = (err: unknown): void => {
      const fields = { err, ...podFields(this.#known.get(podUID)?.metadata ?? { uid: podUID }) };
      this.#options.logger.error(fields, 'the pod manager failed to name a changed pod');
    };
    if (callGuarded(() => this.#concernsMirrorPods(podUID), failed) ?? true) this.#lookSoon();
  }

  #concernsMirrorPods(podUID: string): boolean {
    const { podManager } = this.#options;
    const found = podManager.getPodByUID(podUID);
    const known = this.#known.get(podUID) ?? (found && isStaticPod(found) ? found : undefined);
    // an ordinary pod is none of ours; one that the pod manager does not find may be a mirror pod
    if (known === undefined) return found === undefined;
    // a mirror pod that comes and goes before the next look is known to have been shown
    const uid = podManager.getMirrorPodByPod(known)?.metadata?.uid;
    if (uid !== undefined) this.#worker.noteShown(podFullName(known), uid);
    return true;
  }

  /** A mirror pod without a node would be bound to any node, as any pod is. */
  #noteUnbound(pod: Pod): void {
    if (this.#unbound.has(pod)) return;
    this.#unbound.add(pod);
    this.#options.logger.warn(podFields(pod.metadata), 'a static pod without spec.nodeName gets no mirror pod');
  }

  #lookSoon(): void {
    if (this.#looksSoon || this.#isResting) return;
    const restMs = this.#restsUntil - this.#options.clock.elapsed();
    if (restMs <= 0) this.#lookNext();
    else {
      this.#isResting = true;
      callGuarded(
        () => this.#timers.set('rest', restMs, () => this.#lookNext()),
        () => this.#lookNext(),
      );
    }
  }

  /** At the next turn of the event loop. */
  #lookNext(): void {
    this.#isResting = false;
    this.#timers.cancel('rest');
    if (this.#looksSoon) return;
    this.#looksSoon = true;
    void nextTurn().then(() => {
      this.#looksSoon = false;
      if (this.state === 'running') this.#look();
    });
  }

  #look(): void {
    const { podManager, nodeName, logger, clock } = this.#options;
    const began = clock.elapsed();
    const pairs = callGuarded(
      () => mirrorPairs(podManager, nodeName, (pod) => this.#noteUnbound(pod)),
      (err) => logger.error({ err }, 'the pod manager failed; mirror pods stay as they are'),
    );
    if (pairs !== undefined) {
      this.#known.clear();
      for (const { staticPod, mirrorPods } of pairs.values()) {
        for (const pod of [staticPod, ...mirrorPods]) if (pod?.metadata?.uid) this.#known.set(pod.metadata.uid, pod);
      }
      this.#worker.update(pairs);
    }
    const tookMs = clock.elapsed() - began;
    if (tookMs > rest.afterMs) this.#restsUntil = clock.elapsed() + Math.min(tookMs * rest.timesAsLong, rest.longestMs);
    const delayMs = pairs === undefined || this.#worker.isWaiting ? lookAgainMs.waiting : lookAgainMs.idle;
    callGuarded(
      () => this.#timers.set('look', delayMs, () => this.#lookSoon()),
      (err) => logger.error({ err }, 'the clock set no timer; mirror pods are looked at when the next change comes'),
    );
  }
}
