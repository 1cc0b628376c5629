import { isDeepStrictEqual } from 'node:util';
import type { RecordedKill, WorkersCase, WorkersOutcome, WorkersStep } from './workers-case.ts';

/** Where our workers do better than the kubelet's unless they are told to be exactly as those. */
export type OwnWay =
  /** A kill of a pod of which nothing runs completes at once; the kubelet's never does, and killPodNow times out. */
  | 'kill of a pod that is over'
  /** A grace period stays short that the kubelet makes longer again. What follows in the case is not compared. */
  | 'grace period'
  /**
   * A pod that never started here, and that the runtime runs, is stopped; the kubelet's is over without any call. What follows in
   * the case is not compared.
   */
  | 'stop of what runs unstarted';

export interface OwnWaysResult {
  readonly differences: readonly string[];
  readonly ways: ReadonlySet<OwnWay>;
}

const timeoutEvent = 'Warning ExceededGracePeriod Container runtime did not kill the pod within specified grace period.';

/** What differs between the recording and our workers’ own ways, but for what {@link OwnWay} explains exactly. */
export function judgeOwnWays({ steps }: WorkersCase, outcomes: readonly WorkersOutcome[]): OwnWaysResult {
  const ways = new Set<OwnWay>();
  const kills = new Map<string, string>();
  const runs = new Set<string>();
  const graces = new Map<string, number>();
  const unstarted = new UnstartedPods();
  /** Kills that completed here and are to time out in the recording. */
  const early = new Set<string>();
  const differences: string[] = [];
  for (const [index, step] of steps.entries()) {
    const [expected, got] = [step.expect, outcomes[index] ?? {}];
    noteKill(step, kills);
    noteShortest(step, graces);
    noteAnswers(expected, runs);
    if (grows(expected, graces)) {
      ways.add('grace period');
      break;
    }
    if (unstarted.isStopped(step, got)) {
      ways.add('stop of what runs unstarted');
      break;
    }
    const isOver = (name: string): boolean => !runs.has(kills.get(name) ?? '');
    const completed = (got.completed ?? []).filter((name) => expected.completed?.includes(name) || !isOver(name));
    const killed = (got.killed ?? []).filter((kill) => {
      const isEarly = kill.error === undefined && !includesKill(expected.killed, kill) && isOver(kill.name);
      if (isEarly) early.add(kill.name);
      return !isEarly;
    });
    const timeouts = (expected.killed ?? []).filter(({ name, error }) => error !== undefined && early.delete(name));
    const theirKilled = expected.killed?.filter((kill) => !timeouts.includes(kill)) ?? [];
    const theirEvents = [...(expected.events ?? [])];
    for (const _timeout of timeouts) theirEvents.splice(theirEvents.indexOf(timeoutEvent), 1);
    if (completed.length < (got.completed ?? []).length || killed.length < (got.killed ?? []).length) {
      ways.add('kill of a pod that is over');
    }
    const theirs = { ...expected, completed: expected.completed ?? [], killed: theirKilled, events: theirEvents };
    const ours = { ...got, completed, killed, events: got.events ?? [] };
    if (!isDeepStrictEqual(theirs, ours)) {
      differences.push(`step ${index} (${step.op}): expected ${JSON.stringify(theirs)}, got ${JSON.stringify(ours)}`);
    }
  }
  return { differences, ways };
}

/** Which pods the runtime runs, and of which of them the recording has shown no call since the workers have known them. */
class UnstartedPods {
  readonly #running = new Set<string>();
  readonly #called = new Set<string>();

  /** True when ours stops one of them, for which the recording has no call. */
  isStopped(step: WorkersStep, got: WorkersOutcome): boolean {
    if (step.op === 'runtime.running') this.#running[step.value ? 'add' : 'delete'](step.podUID);
    const { calls = [], known } = step.expect;
    for (const { podUID } of calls) this.#called.add(podUID);
    const stops = (got.calls ?? []).filter(({ event, fn }) => event === 'start' && fn === 'SyncTerminatingPod');
    const isStopped = stops.some(({ podUID }) => this.#running.has(podUID) && !this.#called.has(podUID));
    if (known !== undefined) for (const uid of this.#called) if (known[uid] === undefined) this.#called.delete(uid);
    return isStopped;
  }
}

/** Notes which pod a kill is of. */
function noteKill(step: WorkersStep, kills: Map<string, string>): void {
  if (step.op !== 'update' && step.op !== 'killPodNow') return;
  const uid = step.pod?.metadata?.uid ?? (step.op === 'update' ? step.runningPod?.uid : undefined);
  if (step.kill?.completed !== undefined && uid !== undefined) kills.set(step.kill.completed, uid);
}

/** Notes the shortest grace period, which the kubelet's workers take from a deletion without any. */
function noteShortest(step: WorkersStep, graces: Map<string, number>): void {
  if ((step.op !== 'update' && step.op !== 'killPodNow') || step.kill?.gracePeriod !== undefined) return;
  const { uid, deletionGracePeriodSeconds } = step.pod?.metadata ?? {};
  const isDropped = step.op === 'update' && step.updateType === 'create';
  if (uid !== undefined && deletionGracePeriodSeconds === 0 && !isDropped) graces.set(uid, 1);
}

/** Notes of which pods the recording says that containers could run. */
function noteAnswers({ answers = {} }: WorkersOutcome, runs: Set<string>): void {
  for (const [uid, told] of Object.entries(answers)) {
    if (told.includes('CouldHaveRunningContainers')) runs.add(uid);
    else runs.delete(uid);
  }
}

/** True when the recording shows a call with a longer grace period than was due before. */
function grows({ calls = [], known }: WorkersOutcome, graces: Map<string, number>): boolean {
  for (const uid of known === undefined ? [] : [...graces.keys()]) if (known?.[uid] === undefined) graces.delete(uid);
  let isLonger = false;
  for (const { event, fn, podUID, gracePeriod } of calls) {
    if (event !== 'start' || fn !== 'SyncTerminatingPod' || gracePeriod === undefined) continue;
    isLonger ||= gracePeriod > (graces.get(podUID) ?? Number.POSITIVE_INFINITY);
    graces.set(podUID, gracePeriod);
  }
  return isLonger;
}

function includesKill(kills: readonly RecordedKill[] | undefined, { name }: RecordedKill): boolean {
  return kills?.some((kill) => kill.name === name) ?? false;
}
