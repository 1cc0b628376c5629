// Behaviour of HandlePodCleanups in pkg/kubelet/kubelet_pods.go, v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import { isStaticPod, isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { callGuarded } from '../../base/guard.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { PodDispatch } from './pod-dispatch.ts';
import type { KnownPod } from './pod-records.ts';
import type { ResolvedLoopOptions } from './sync-loop-options.ts';

/** How long what runs of an unknown pod has to end, in seconds. */
const orphanGracePeriodSeconds = 1;

/** What there was at a look: when it began, and what the parts had counted until then. */
interface Seen {
  readonly since: number;
  readonly updates: number;
  readonly ofWorkers: number;
  readonly ofRuntime?: number | undefined;
}

/**
 * The look at all pods. It comes in two halves, because the runtime's list is waited for in between: pods of the agent first,
 * then what the runtime has beside them. No method waits.
 */
export class Housekeeping {
  readonly #options: ResolvedLoopOptions;
  readonly #dispatch: PodDispatch;
  /** The pods that the workers have known at any time since the runtime was last asked for its list. */
  #known: ReadonlySet<string> = new Set();
  /** What there was at the last look, where that had nothing to do and nothing to wait for, and no list of the runtime was waited for. */
  #looked: Seen | undefined;
  /** The same, once a list that was asked for afterwards had nothing to do either. */
  #quiet: Seen | undefined;
  #hasFailed = false;

  constructor(options: ResolvedLoopOptions, dispatch: PodDispatch) {
    this.#options = options;
    this.#dispatch = dispatch;
  }

  /** True where another look would find what the last one has found, and the next one still comes in time. */
  get mayBeLeftOut(): boolean {
    const { clock, podWorkers, runtime, housekeepingIntervalMs, quietHousekeepingIntervalMs } = this.#options;
    const quiet = this.#quiet;
    if (quiet === undefined || clock.elapsed() - quiet.since + housekeepingIntervalMs > quietHousekeepingIntervalMs) return false;
    const isSame = quiet.ofWorkers === podWorkers.changes && quiet.updates === this.#dispatch.updates;
    return isSame && quiet.ofRuntime === runtime?.changes;
  }

  /** Something has happened that nothing counts: the next look is not left out. */
  lookAgain(): void {
    this.#quiet = undefined;
    this.#looked = undefined;
  }

  /**
   * Tells the workers which pods there are, begins those that they do not know, and drops the statuses of pods that are gone.
   * Call it once every source has been heard from, and {@link endOrphans} with a list of the runtime that was asked for
   * afterwards. `isListing`: a list that was asked for earlier is still waited for.
   */
  lookAtPods(isListing: boolean): void {
    const { podManager, podWorkers, metrics, clock, housekeepingIntervalMs, quietHousekeepingIntervalMs } = this.#options;
    const since = clock.elapsed();
    this.lookAgain();
    this.#hasFailed = false;
    const { allPods, allMirrorPods } = podManager.getPodsAndMirrorPods();
    const working = podWorkers.syncKnownPods(allPods);
    const dispatched = this.#dispatch.takeDispatched();
    // the workers may have forgotten a pod just now that the list, which is older, still shows
    this.#known = new Set(isListing ? [...this.#known, ...dispatched, ...working.keys()] : working.keys());
    this.#guard('onHousekeeping', () =>
      this.#options.onHousekeeping?.({ pods: allPods, possiblyRunning: possiblyRunning(working) }),
    );
    // created again under the same uid while the earlier one ended, or not admitted yet
    const activePods = this.#dispatch.activePods();
    const toBegin = activePods.filter((pod) => !working.has(podUIDOf(pod)));
    this.#guard('removeOrphanedStatuses', () => {
      const uids = new Set([...allPods, ...allMirrorPods].map(podUIDOf));
      // a static pod that begins anew has nothing of its earlier life: what has ended would keep its containers from being told
      for (const pod of toBegin) if (isStaticPod(pod)) uids.delete(podUIDOf(pod));
      this.#options.statusManager.removeOrphanedStatuses(uids);
    });
    for (const pod of toBegin) {
      const hasWaited = this.#dispatch.awaitsAdmission(podUIDOf(pod));
      const begins = this.#guard('begin', () => this.#dispatch.begin(pod));
      if (begins && !hasWaited) metrics.increment('kubelet_restarted_pods_total', { static: isStaticPod(pod) ? 'true' : '' });
    }
    if (metrics.isUsed) setPodGauges(metrics, { allPods, allMirrorPods, activePods, working });
    // where no look may be left out, nobody asks whether one could be
    if (quietHousekeepingIntervalMs <= housekeepingIntervalMs) return;
    const ofWorkers = podWorkers.changes;
    if (ofWorkers === undefined || isListing || toBegin.length > 0 || allPods.some(isDeleted)) return;
    for (const pod of working.values()) if (pod.orphan || pod.state === 'terminating') return;
    this.#looked = { since, updates: this.#dispatch.updates, ofWorkers };
  }

  /** Ends what the runtime has and nobody wants, and finishes deleted pods that were over before the agent started. */
  endOrphans(running: readonly RunningPod[]): void {
    const { podManager, logger, metrics } = this.#options;
    const dispatched = this.#dispatch.takeDispatched();
    const isKnown = (uid: string): boolean => this.#known.has(uid) || dispatched.has(uid);
    const runningUIDs = new Set(running.map(({ uid }) => uid));
    const looked = this.#looked;
    for (const pod of podManager.getPods()) {
      const uid = podUIDOf(pod);
      if (!isOverAndDeleted(pod) || isKnown(uid) || runningUIDs.has(uid)) continue;
      this.#guard('kill', () => this.#dispatch.kill(pod));
    }
    for (const runningPod of running) {
      if (isKnown(runningPod.uid)) continue;
      logger.info(podFields(runningPod), 'the runtime has a pod that no source names; it is ended');
      metrics.increment('kubelet_orphaned_runtime_pods_total');
      this.#guard('killRunning', () => this.#dispatch.killRunning(runningPod, { gracePeriodSeconds: orphanGracePeriodSeconds }));
    }
    if (looked !== undefined && !this.#hasFailed) this.#quiet = { ...looked, ofRuntime: this.#options.runtime?.changes };
  }

  /** Nobody looks at the pods any more: the gauges that a look sets show none. */
  end(): void {
    const { metrics } = this.#options;
    if (metrics.isUsed) setPodGauges(metrics, { allPods: [], allMirrorPods: [], activePods: [], working: new Map() });
  }

  #guard<T>(step: string, call: () => T): T | undefined {
    return callGuarded(call, (err) => {
      this.#hasFailed = true;
      this.#options.logger.error({ err, step }, 'a step of housekeeping failed');
    });
  }
}

function isDeleted({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp != null;
}

/** A pod that reached its end, and whose deletion was asked for, before the agent started. */
function isOverAndDeleted(pod: Pod): boolean {
  return isDeleted(pod) && isTerminalPhase(pod.status?.phase);
}

function possiblyRunning(working: ReadonlyMap<string, KnownPod>): Set<string> {
  const uids = new Set<string>();
  for (const [uid, { state }] of working) if (state !== 'terminated') uids.add(uid);
  return uids;
}

// Behaviour of the end of HandlePodCleanups in pkg/kubelet/kubelet_pods.go, v1.36.3.

type Working = MetricLabels['kubelet_working_pods'];

const lifecycles: readonly Working['lifecycle'][] = ['sync', 'terminating', 'terminated'];
const kinds: readonly Omit<Working, 'lifecycle'>[] = [
  { config: 'desired', static: '' },
  { config: 'desired', static: 'true' },
  { config: 'orphan', static: '' },
  { config: 'orphan', static: 'true' },
  { config: 'runtime_only', static: 'unknown' },
];

export interface PodsOfAgent {
  readonly allPods: readonly Pod[];
  readonly allMirrorPods: readonly Pod[];
  readonly activePods: readonly Pod[];
  /** The pods that the workers know. */
  readonly working: ReadonlyMap<string, KnownPod>;
}

/** Sets the gauges that a look at all pods gives. */
function setPodGauges(metrics: Metrics, { allPods, allMirrorPods, activePods, working }: PodsOfAgent): void {
  for (const value of ['', 'true'] as const) {
    const isOfKind = (pod: Pod): boolean => isStaticPod(pod) === (value === 'true');
    metrics.set('kubelet_desired_pods', allPods.filter(isOfKind).length, { static: value });
    metrics.set('kubelet_active_pods', activePods.filter(isOfKind).length, { static: value });
  }
  metrics.set('kubelet_mirror_pods', allMirrorPods.length);
  const ephemeral = allPods.reduce((sum, { spec }) => sum + (spec?.ephemeralContainers?.length ?? 0), 0);
  metrics.set('kubelet_managed_ephemeral_containers', ephemeral);
  const known = [...working.values()];
  for (const kind of kinds) {
    const ofKind = known.filter((pod) => isWorking(pod, kind));
    for (const lifecycle of lifecycles) {
      const count = ofKind.filter(({ state }) => state === lifecycle).length;
      metrics.set('kubelet_working_pods', count, { ...kind, lifecycle });
    }
  }
}

function isWorking(pod: KnownPod, kind: Omit<Working, 'lifecycle'>): boolean {
  if (!pod.hasConfig) return kind.config === 'runtime_only';
  return kind.config === (pod.orphan ? 'orphan' : 'desired') && kind.static === (pod.static ? 'true' : '');
}
