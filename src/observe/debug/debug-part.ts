import { membersOf } from '../../api/json/json.ts';
import { errorText } from '../../base/errors.ts';
import { callGuarded, isThenable } from '../../base/guard.ts';
import type { Problem } from '../../base/problem.ts';
import type { DebugCall, DebugFleetHead, DebugNode, DebugPart, DebugProblem, DebugScheduler } from './debug-api.ts';
import { linesOf, noteOf } from './told-lines.ts';
import { callOf, isUID, listOf, nameOf, problemOf, problemsOf, timeOf, wordOf } from './told-problems.ts';

/** What the handler asks a node: a `ProviderNode`, a `PodStatusAgent`, or anything that answers like one. Both answers can be turned into JSON. */
export interface DebugNodeSource {
  /** `pods: false`: the pods are not needed. */
  snapshot(options: { readonly pods: boolean }): {
    readonly nodeName: string;
    readonly state: string;
    /** Left out by an agent that reports no node. */
    readonly ready?: boolean;
    /** Left out by an agent that registers no Node object. */
    readonly registered?: boolean;
    /** True once the pods of the node were listed; only shown where `registered` is left out. */
    readonly hasListed?: boolean;
    /** When the apiserver was last heard of, in milliseconds since the epoch; only shown where `registered` is left out. */
    readonly lastObservedAt?: number | undefined;
    /** In words: what the node waits for, and what failed last. Shown where there are no `problems`. */
    readonly notes: readonly string[];
    /** What is wrong, the node's own problems first. The first 1000 are read. */
    readonly problems?: readonly Problem[];
    /** How many problems there are; the length of the list, where it is left out. */
    readonly problemCount?: number;
    /** Pods that the node has and the status manager has no status of: each has a row, too. The first 1000 are read. */
    readonly podsWithoutStatus?: readonly DebugPodWithoutStatus[];
    /** Calls for pods that have been under way for a while: the rows of these pods tell of them. The first 1000 are read. */
    readonly callsUnderWay?: readonly DebugPodCall[];
  };
  /** Why this pod is as it is; read of the answer are `problem`, `problems`, `underWay`, `namespace` and `name`; all else but `status` is shown as it is. */
  explain(podUID: string): object;
}

/** A pod that has no status yet. */
export interface DebugPodWithoutStatus {
  /** The pod's uid. */
  readonly podUID: string;
  /** The pod's namespace. */
  readonly podNamespace: string;
  /** The pod's name. */
  readonly podName: string;
  /** Since when the pod has none, in milliseconds since the epoch; undefined where that is not known. */
  readonly since?: number | undefined;
}

/** A call for a pod that has not settled. */
export interface DebugPodCall extends DebugCall {
  /** The uid of the pod. */
  readonly podUID: string;
  /** The namespace of the pod. */
  readonly podNamespace: string;
  /** The name of the pod. */
  readonly podName: string;
}

/** What the handler asks a scheduler: a `Scheduler`, or anything that answers like one. */
export interface DebugSchedulerSource {
  /** How it is. Read of the answer: `state`, `notes`, `problems` and `problemCount`, as of a node; all else is shown as it is. */
  snapshot(): object;
  /** Why this pod is where it is. Read of the answer: `text`, words for people, and `state`, which is `unknown` for an unknown pod. */
  explain(podUID: string): object;
}

/** The parts around the manager that have a panel of their own. */
export type PartKind = DebugPart['kind'];

/** What a node, a scheduler or a fleet has answered; a part that gives no sound answer has that as its problem. */
export interface ToldPart<Kind extends PartKind | 'fleet' = PartKind | 'fleet'> {
  readonly kind: Kind;
  readonly name: string;
  readonly state: string;
  /** Undefined, as the next two, where a sound answer leaves it out. */
  readonly isReady: boolean | undefined;
  readonly isRegistered: boolean | undefined;
  readonly hasListed: boolean | undefined;
  /** When the apiserver last took a renewal of the Lease or, without a Node object, was last heard of; undefined where that is not known. */
  readonly heardAt?: number | undefined;
  readonly notes: readonly string[];
  /** The problems that are no pod's come first. */
  readonly problems: readonly DebugProblem[];
  readonly problemCount: number;
  readonly podsWithoutStatus: readonly DebugPodWithoutStatus[];
  readonly callsUnderWay: readonly DebugPodCall[];
  /** Members of a fleet that are alive; 0 for another part. */
  readonly members: number;
  readonly lines: () => [name: string, value: string][];
}

const notesAtMost = 20;
const shownProblems = 100;
/** Shown elsewhere, or far too much. */
const unlisted = ['problems', 'problemCount', 'notes', 'pods', 'podsWithoutStatus', 'callsUnderWay'] as const;

/** Undefined without a node. */
export function askNode(node: DebugNodeSource | undefined): ToldPart<'node'> | undefined {
  return node && ask('node', () => node.snapshot({ pods: false }));
}

/** Undefined without a scheduler. */
export function askScheduler(scheduler: DebugSchedulerSource | undefined): ToldPart<'scheduler'> | undefined {
  return scheduler && ask('scheduler', () => scheduler.snapshot());
}

/** `snapshot`: asks the fleet. */
export function askFleet(snapshot: () => unknown): ToldPart<'fleet'> {
  return ask('fleet', snapshot);
}

function ask<Kind extends ToldPart['kind']>(kind: Kind, snapshot: () => unknown): ToldPart<Kind> {
  let failure = 'it gave no answer';
  const told = callGuarded(
    () => {
      const answer = snapshot();
      // the caller looks at the rejection of a promise
      if (isThenable(answer)) return answer;
      return typeof answer === 'object' && answer !== null ? read(kind, answer) : undefined;
    },
    (error) => {
      failure = errorText(error);
    },
  );
  if (told !== undefined && !isThenable(told)) return told;
  const problems = [problemOf({ kind: 'no-answer', message: `the ${kind} cannot be asked: ${failure}` })].filter(
    (one) => one !== undefined,
  );
  const nothing = {
    name: '',
    isReady: false,
    isRegistered: false,
    hasListed: undefined,
    podsWithoutStatus: [],
    callsUnderWay: [],
    members: 0,
    lines: () => [],
  };
  return { ...nothing, kind, state: 'unknown', notes: problems.map(({ message }) => message), problems, problemCount: 1 };
}

function read<Kind extends ToldPart['kind']>(kind: Kind, answer: object): ToldPart<Kind> {
  const { nodeName, state, ready, registered, notes, problems, problemCount, podsWithoutStatus, ...rest } = answer as Record<
    string,
    unknown
  >;
  const said = listOf(notes)
    .slice(0, notesAtMost)
    .flatMap((note) => noteOf(note) ?? []);
  const told = problemsOf(problems);
  const found = told.length > 0 ? told : problemsOf(said.map((message) => ({ kind: 'note', message })));
  // an answer without a state is none to trust: what it leaves out counts as a no
  const flagOf = (flag: unknown) => (flag === undefined && wordOf(state) !== undefined ? undefined : flag === true);
  const counted = typeof problemCount === 'number' && Number.isSafeInteger(problemCount) ? problemCount : 0;
  return {
    kind,
    name: nameOf(kind === 'fleet' ? rest.name : nodeName),
    state: wordOf(state) ?? 'unknown',
    isReady: flagOf(ready),
    isRegistered: flagOf(registered),
    hasListed: flagOf(rest.hasListed),
    // of an agent without a Node object, of a provider node, and of a node agent
    heardAt:
      registered === undefined
        ? timeOf(rest.lastObservedAt)
        : (timeOf(membersOf(rest.lease).lastRenewAt) ?? timeOf(membersOf(rest.node).lastRenewAt)),
    notes: said,
    problems: [...found.filter(({ podUID }) => podUID === undefined), ...found.filter(({ podUID }) => podUID !== undefined)],
    problemCount: Math.max(counted, found.length),
    podsWithoutStatus: listOf(podsWithoutStatus).flatMap((one) => podOf(one) ?? []),
    callsUnderWay: listOf(rest.callsUnderWay).flatMap((one) => podCallOf(one) ?? []),
    members: kind === 'fleet' ? listOf(rest.members).filter((one) => membersOf(one).isAlive === true).length : 0,
    lines: () => linesOf({ nodeName, state, ready, registered, ...rest }, unlisted),
  };
}

function podOf(told: unknown): DebugPodWithoutStatus | undefined {
  if (typeof told !== 'object' || told === null) return undefined;
  const { podUID, podNamespace, podName, since } = told as Record<string, unknown>;
  if (!isUID(podUID)) return undefined;
  return { podUID, podNamespace: nameOf(podNamespace), podName: nameOf(podName), since: timeOf(since) };
}

function podCallOf(told: unknown): DebugPodCall | undefined {
  const [pod, call] = [podOf(told), callOf(told)];
  return pod && call && { podUID: pod.podUID, podNamespace: pod.podNamespace, podName: pod.podName, ...call };
}

export function nodeHead(part: ToldPart | undefined): DebugNode | undefined {
  if (part === undefined) return undefined;
  const { name, state, isReady, isRegistered, hasListed, notes, problems, problemCount } = part;
  const heardAt = problems.some(({ podUID }) => podUID === undefined) ? part.heardAt : undefined;
  return { name, state, ready: isReady, heardAt, registered: isRegistered, hasListed, notes, problemCount };
}

export function schedulerHead(part: ToldPart | undefined): DebugScheduler | undefined {
  if (part === undefined) return undefined;
  const { state, notes, problemCount } = part;
  return { state, notes, problemCount };
}

export function fleetHead(part: ToldPart | undefined): DebugFleetHead | undefined {
  if (part === undefined) return undefined;
  const { name, state, members, problemCount } = part;
  return { name, state, members, problemCount };
}

/** The node, or the scheduler, with all that it says of itself. */
export function partOf({ kind, name, state, problems, problemCount, lines }: ToldPart<PartKind>, at: number): DebugPart {
  return { at, kind, name, state, problems: problems.slice(0, shownProblems), problemCount, lines: lines() };
}
