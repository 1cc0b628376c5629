import { toWireJson } from '../../api/json/json.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Problem } from '../../base/problem.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import { rowWithoutStatus } from './all-pods.ts';
import type { DebugCall, DebugPod, DebugPodRow } from './debug-api.ts';
import type { DebugNodeSource, DebugSchedulerSource } from './debug-part.ts';
import type { PodHistory, PodTimeline } from './pod-history.ts';
import { rowOf } from './pod-table.ts';
import { linesOf } from './told-lines.ts';
import { bareProblem, callOf, nameOf, problemOf, problemsOf } from './told-problems.ts';

/** What the handler shows of a manager. */
export type DebugManager = Pick<StatusManager, 'snapshot' | 'explain' | 'getPodStatus' | 'on' | 'off'>;

/** Who is asked about one pod. */
export interface AskedAboutPod {
  readonly manager: DebugManager | undefined;
  readonly node: DebugNodeSource | undefined;
  readonly scheduler: DebugSchedulerSource | undefined;
  readonly history: PodHistory;
  readonly clock: SteadyClock;
}

/** What the manager says of one pod. */
interface ToldByManager {
  /** A mirror pod's uid answers for its static pod. */
  readonly podUID: string;
  /** Undefined where the manager has no status. */
  readonly row: DebugPodRow | undefined;
  readonly problem: Problem | undefined;
  readonly namespace: string;
  readonly name: string;
  readonly about: Pick<DebugPod, 'reason' | 'differs' | 'retryAt' | 'status'>;
}

/** `rowOfParts` reads the row that a node or a scheduler has of the pod. Undefined where nobody knows the pod, the timeline neither. */
export function describePod(
  { manager, node, scheduler, history, clock }: AskedAboutPod,
  uid: string,
  rowOfParts: (podUID: string) => DebugPodRow | undefined,
): DebugPod | undefined {
  const told = askManager(manager, uid);
  const { podUID } = told;
  const ofNode = askedOfNode(node, podUID, clock.now());
  const ofScheduler = askedOfScheduler(scheduler, podUID);
  const timeline = history.of(podUID);
  const names = [told, ofNode].find(({ name }) => name !== '');
  // all parts are asked for their rows only where nothing nearer is known
  const row = told.row ?? (node === undefined && scheduler === undefined ? undefined : rowOfParts(podUID));
  const isKnown = names !== undefined || ofNode.problems.length > 0 || ofScheduler.text !== undefined || timeline !== undefined;
  if (row === undefined && !isKnown) return undefined;
  const shown = row ?? forgottenRow(podUID, names, timeline);
  const [problem, ...otherProblems] = distinct([...ofNode.problems, shown.problem, told.problem, ofScheduler.problem]);
  return {
    at: clock.now(),
    row: {
      ...shown,
      ...(problem !== undefined && { problem }),
      ...(ofNode.underWay !== undefined && { underWay: ofNode.underWay }),
    },
    otherProblems,
    ...told.about,
    node: ofNode.lines,
    scheduler: ofScheduler.text,
    timeline: timeline?.entries ?? [],
    droppedEntries: timeline?.dropped ?? 0,
  };
}

const noManager = { reason: 'the page shows no status manager', differs: [], retryAt: undefined, status: undefined };

function askManager(manager: DebugManager | undefined, uid: string): ToldByManager {
  if (manager === undefined) {
    return { podUID: uid, row: undefined, problem: undefined, namespace: '', name: '', about: noManager };
  }
  const { podUID, podNamespace, podName, problem, reason, differs, retryAt, version } = manager.explain(uid);
  const pod = manager.snapshot({ podUIDs: [podUID] }).pods[0];
  const status = version === undefined ? undefined : toWireJson(manager.getPodStatus(podUID));
  return {
    podUID,
    row: pod && rowOf(pod),
    problem: problemOf(problem),
    namespace: nameOf(podNamespace),
    name: nameOf(podName),
    about: { reason, differs, retryAt, status },
  };
}

interface ToldByNode {
  readonly lines: DebugPod['node'];
  /** The one to begin with first. */
  readonly problems: readonly Problem[];
  readonly underWay: DebugCall | undefined;
  readonly namespace: string;
  readonly name: string;
}

function askedOfNode(node: DebugNodeSource | undefined, podUID: string, now: number): ToldByNode {
  const nothing = { lines: [], problems: [], underWay: undefined, namespace: '', name: '' };
  const told: unknown = callGuarded(() => node?.explain(podUID), ignoreFailure);
  if (typeof told !== 'object' || told === null) return nothing;
  const read = (): ToldByNode => {
    const { problem, problems, underWay, namespace, name } = told as Record<string, unknown>;
    const lines = linesOf(told, ['status', 'problem', 'problems']);
    const all = [problemOf(problem), ...problemsOf(problems)].filter((one) => one !== undefined);
    return { lines, problems: all, underWay: longCallOf(underWay, now), namespace: nameOf(namespace), name: nameOf(name) };
  };
  return callGuarded(read, ignoreFailure) ?? nothing;
}

/** A call that has been under way for so long is worth a word. */
const longMs = 1_000;

function longCallOf(told: unknown, now: number): DebugCall | undefined {
  const call = callOf(told);
  return call !== undefined && now - call.since >= longMs ? call : undefined;
}

const longestText = 4_000;
/** So many problems of one pod are shown. */
const shownProblems = 10;

interface ToldByScheduler {
  /** Undefined where the scheduler does not know the pod. */
  readonly text: string | undefined;
  readonly problem: Problem | undefined;
}

function askedOfScheduler(scheduler: DebugSchedulerSource | undefined, podUID: string): ToldByScheduler {
  const told: unknown = callGuarded(() => scheduler?.explain(podUID), ignoreFailure);
  const read = (): ToldByScheduler | undefined => {
    if (typeof told !== 'object' || told === null) return undefined;
    const { state, text, problem } = told as Record<string, unknown>;
    if (typeof text !== 'string' || state === 'unknown') return undefined;
    return { text: text.slice(0, longestText), problem: problemOf(problem) };
  };
  return callGuarded(read, ignoreFailure) ?? { text: undefined, problem: undefined };
}

/** The row of a pod that only its timeline and its name tell of: nobody has a status of it. */
function forgottenRow(
  podUID: string,
  names: Pick<ToldByManager, 'namespace' | 'name'> | undefined,
  timeline: PodTimeline | undefined,
): DebugPodRow {
  const entries = timeline?.entries ?? [];
  const set = entries.findLast((entry) => entry.kind === 'set');
  return {
    ...rowWithoutStatus(podUID, names?.namespace ?? '', names?.name ?? podUID),
    version: set?.version ?? 0,
    acknowledgedVersion: entries.findLast((entry) => entry.kind === 'synced')?.version ?? 0,
    changedAt: set?.at ?? 0,
  };
}

/** Each problem once: two parts may tell of the same, the second one in the words of the first. Two of one kind may be of two containers. */
function distinct(problems: readonly (Problem | undefined)[]): Problem[] {
  const all: Problem[] = [];
  for (const one of problems) {
    if (one === undefined || all.length >= shownProblems) continue;
    const isTold = (known: Problem): boolean =>
      (known.kind === one.kind && known.message === one.message) || one.message.endsWith(wordsOf(known));
    if (!all.some(isTold)) all.push(bareProblem(one));
  }
  return all;
}

/** Of `createPod() failed: no quota` what the one said who refused: `no quota`. */
function wordsOf({ message }: Problem): string {
  return message.slice(message.indexOf(': ') + 1);
}
