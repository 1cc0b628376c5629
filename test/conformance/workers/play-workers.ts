import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../src/api/json/types.ts';
import type { RuntimePodStatus } from '../../../src/api/pod/runtime-pod.ts';
import { isStatusManagerError } from '../../../src/base/errors.ts';
import { PodWorkers } from '../../../src/node/workers/pod-workers.ts';
import type { RetryQueue } from '../../../src/node/workers/work-queue.ts';
import type { KillPodOptions } from '../../../src/node/workers/workers-options.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import { PlannedSyncer } from './planned-syncer.ts';
import type { RecordedKill, RecordedKillOptions, WorkersCase, WorkersOutcome, WorkersStep } from './workers-case.ts';

const questions = {
  IsPodKnownTerminated: (workers: PodWorkers<RetryQueue>, uid: string) => workers.isPodKnownTerminated(uid),
  CouldHaveRunningContainers: (workers: PodWorkers<RetryQueue>, uid: string) => workers.couldHaveRunningContainers(uid),
  ShouldPodBeFinished: (workers: PodWorkers<RetryQueue>, uid: string) => workers.shouldPodBeFinished(uid),
  IsPodTerminationRequested: (workers: PodWorkers<RetryQueue>, uid: string) => workers.isPodTerminationRequested(uid),
  ShouldPodContainersBeTerminating: (workers: PodWorkers<RetryQueue>, uid: string) =>
    workers.shouldPodContainersBeTerminating(uid),
  ShouldPodRuntimeBeRemoved: (workers: PodWorkers<RetryQueue>, uid: string) => workers.shouldPodRuntimeBeRemoved(uid),
  ShouldPodContentBeRemoved: (workers: PodWorkers<RetryQueue>, uid: string) => workers.shouldPodContentBeRemoved(uid),
};

/**
 * Plays the case with our workers, which are told to do exactly as the kubelet's, unless in their `own` ways. Resolves to what
 * each step led to, in the form of the recording.
 */
export async function playWorkers({ steps }: WorkersCase, ways: 'kubelet' | 'own' = 'kubelet'): Promise<WorkersOutcome[]> {
  const player = new WorkersPlayer(ways === 'kubelet');
  const outcomes: WorkersOutcome[] = [];
  for (const step of steps) outcomes.push(await player.play(step));
  await player.stop();
  return outcomes;
}

class WorkersPlayer {
  readonly #clock = new FakeClock();
  readonly #syncer = new PlannedSyncer(this.#clock);
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #uids = new Set(['never-seen']);
  readonly #fullNames = new Set<string>();
  readonly #answers = new Map<string, readonly string[]>();
  #mirrorTerminating: readonly string[] = [];
  #requeue: { podUID: string; after: string; at: number }[] = [];
  #completed: string[] = [];
  #killed: RecordedKill[] = [];
  #events: string[] = [];
  readonly #workers: PodWorkers<RetryQueue>;

  constructor(exactlyAsKubelet: boolean) {
    this.#workers = new PodWorkers({
      logger: null,
      podSyncer: this.#syncer.podSyncer,
      runtimeStatusCache: {
        get: (podUID) => this.#readRuntime(podUID),
        getNewerThan: async (podUID) => this.#readRuntime(podUID),
      },
      workQueue: {
        enqueue: (podUID, delayMs) => {
          this.#requeue.push({ podUID, after: String(delayMs / 1000), at: this.#syncer.at() });
        },
      },
      eventRecorder: { event: (_pod, type, reason, message) => this.#events.push(`${type} ${reason} ${message}`) },
      exactlyAsKubelet,
      random: () => 0,
      clock: this.#clock,
    });
  }

  async play(step: WorkersStep): Promise<WorkersOutcome> {
    const known = this.#perform(step);
    if (step.op === 'advance') await this.#clock.advance(step.seconds * 1000);
    await settle();
    const parts: Record<string, unknown> = {
      calls: this.#syncer.takeCalls(),
      requeue: this.#requeue.splice(0).sort((a, b) => compare(a.podUID, b.podUID)),
      completed: this.#completed.splice(0).sort(),
      killed: this.#killed.splice(0).sort((a, b) => compare(a.name, b.name)),
      events: this.#events.splice(0).sort(),
      answers: this.#changedAnswers(),
    };
    const told = Object.entries(parts).filter(([, part]) => Object.keys(part as object).length > 0);
    const mirrorTerminating = this.#changedMirrors();
    return { ...Object.fromEntries(told), ...(known && { known }), ...(mirrorTerminating && { mirrorTerminating }) };
  }

  async stop(): Promise<void> {
    const stopped = this.#workers.stop({ timeoutMs: 0 });
    await this.#clock.advance(0);
    await stopped;
  }

  #perform(step: WorkersStep): Readonly<Record<string, object>> | undefined {
    switch (step.op) {
      case 'update':
        this.#update(step);
        break;
      case 'killPodNow':
        this.#killPodNow(step);
        break;
      case 'syncKnownPods':
        return this.#syncKnownPods(step.podUIDs ?? []);
      case 'syncer.plan':
        this.#syncer.plan(step.podUID, step.fn, step.plan);
        break;
      case 'syncer.release':
        this.#syncer.release(step.podUID);
        break;
      case 'runtime.running':
        if (step.value) this.#running.add(step.podUID);
        else this.#running.delete(step.podUID);
        break;
      case 'runtime.fail':
        this.#failures.set(step.podUID, (this.#failures.get(step.podUID) ?? 0) + step.times);
    }
    return undefined;
  }

  #update({ updateType, pod, mirrorUID, runningPod, kill }: WorkersStep & { op: 'update' }): void {
    if (pod !== undefined) this.#see(pod);
    if (runningPod !== undefined) this.#uids.add(runningPod.uid);
    try {
      this.#workers.updatePod({
        updateType,
        ...(pod && { pod }),
        ...(mirrorUID && { mirrorPod: { metadata: { uid: mirrorUID } } }),
        ...(runningPod && { runningPod }),
        ...(kill && { killPodOptions: this.#killOptions(kill) }),
      });
    } catch (error) {
      // upstream logs that a pod of the runtime can only be killed, and does nothing
      if (!isStatusManagerError(error, 'ERR_INVALID_ARGUMENT') || pod !== undefined || updateType === 'kill') throw error;
    }
  }

  #killPodNow({ pod, kill }: WorkersStep & { op: 'killPodNow' }): void {
    this.#see(pod);
    const { completed: name, ...options } = kill;
    const killed = this.#workers.killPodNow(pod, this.#killOptions(options));
    const note = (more: object): unknown => this.#killed.push({ name, at: this.#syncer.at(), ...more });
    killed.then(
      () => note({}),
      (error: unknown) => {
        if (isStatusManagerError(error, 'ERR_KILL_TIMEOUT')) note({ error: 'timeout waiting to kill pod' });
        else if (!isStatusManagerError(error, 'ERR_STOPPED')) throw error;
      },
    );
  }

  #syncKnownPods(podUIDs: readonly string[]): Readonly<Record<string, object>> {
    const known = this.#workers.syncKnownPods(podUIDs.map((uid) => ({ metadata: { uid } })));
    const entries = Array.from(known, ([uid, { state, ...marks }]) => {
      const set = Object.entries(marks).filter(([, isSet]) => isSet);
      return [uid, { state, ...Object.fromEntries(set) }] as const;
    });
    return Object.fromEntries(entries);
  }

  #see({ metadata }: Pod): void {
    this.#uids.add(metadata?.uid ?? '');
    this.#fullNames.add(`${metadata?.name}_${metadata?.namespace}`);
  }

  #killOptions({ evict, gracePeriod, statusFn, completed }: RecordedKillOptions): KillPodOptions {
    return {
      ...(evict && { evict }),
      ...(gracePeriod !== undefined && { gracePeriodSeconds: gracePeriod }),
      ...(statusFn !== undefined && {
        podStatusFn: (status) => {
          status.reason = statusFn;
        },
      }),
      ...(completed !== undefined && { completed: () => this.#completed.push(completed) }),
    };
  }

  #readRuntime(podUID: string): RuntimePodStatus {
    const failures = this.#failures.get(podUID) ?? 0;
    if (failures > 0) {
      this.#failures.set(podUID, failures - 1);
      throw new Error('no status');
    }
    const containers = this.#running.has(podUID) ? [{ id: 'c', name: 'c', state: 'running' as const }] : [];
    return { podUID, ips: [], containers, sandboxes: [] };
  }

  #changedAnswers(): Readonly<Record<string, readonly string[]>> {
    const changed: Record<string, readonly string[]> = {};
    for (const uid of this.#uids) {
      const told = Object.entries(questions).filter(([, ask]) => ask(this.#workers, uid));
      const answers = told.map(([name]) => name);
      if (isDeepStrictEqual(answers, this.#answers.get(uid))) continue;
      this.#answers.set(uid, answers);
      changed[uid] = answers;
    }
    return changed;
  }

  #changedMirrors(): readonly string[] | undefined {
    const terminating = [...this.#fullNames].filter((name) => this.#workers.isPodForMirrorPodTerminatingByFullName(name)).sort();
    if (isDeepStrictEqual(terminating, this.#mirrorTerminating)) return undefined;
    this.#mirrorTerminating = terminating;
    return terminating;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
