import { capitalized, frozenProblem, type PodProblem } from '../../base/problem.ts';
import { type ExtenderStep, stepInWords } from '../extenders/extender-error.ts';
import type { Diagnosis } from '../framework/fit-error.ts';
import type { PluginRejection } from '../framework/plugin.ts';
import {
  type AwaitedVictim,
  awaitedVictims,
  type KnownOfAttempts,
  lastingText,
  type PodTrouble,
  podTrouble,
} from './pod-problem.ts';

/**
 * Where a pod is on its way to a node.
 *
 * | state | the pod | what comes next |
 * |---|---|---|
 * | `unknown` | is not known: gone, never told of, or meant for a scheduler of another name | nothing |
 * | `gated` | is kept from being tried by a plugin, such as by its `schedulingGates` | a change of the pod, or what the plugin waits for |
 * | `ready` | can be tried, and comes after the pods before it | its turn |
 * | `trying` | is being tried | a node, or a reason why there is none |
 * | `waiting` | fits on no node | a change that may help, and in any case a try after five minutes |
 * | `backoff` | failed | a try at `nextAttemptAt` |
 * | `binding` | has a node, waits for the permit of a plugin or is being bound | its binding, or another try |
 * | `placed` | is on its node | nothing |
 */
export type PodSchedulingState = 'unknown' | 'placed' | 'binding' | 'trying' | 'ready' | 'backoff' | 'waiting' | 'gated';

/** Why a pod does not fit on one node. */
export interface NodeVerdict {
  /** The node that the pod does not fit on. */
  readonly nodeName: string;
  /** The plugin that said no. */
  readonly plugin: string;
  /** Why not, in words for people. */
  readonly reasons: readonly string[];
  /** True where the pod may fit once other pods are gone; false where the node or the pod itself would have to change. */
  readonly mayFitWithoutOtherPods: boolean;
}

/** An extender that has not answered yet. */
export interface ExtenderWait {
  /** The address of the extender. */
  readonly extender: string;
  /** What it was asked to do. */
  readonly step: ExtenderStep;
  /** When it was asked, in milliseconds since 1970. */
  readonly since: number;
  /** How long its answer may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** Why a pod is where it is. */
export interface PodSchedulingExplanation {
  /** The uid that was asked about. */
  readonly podUID: string;
  /** The pod's namespace; empty where the pod is not known. */
  readonly podNamespace: string;
  /** The pod's name; empty where the pod is not known. */
  readonly podName: string;
  /** Where the pod is on its way to a node. */
  readonly state: PodSchedulingState;
  /** How often the pod was tried. */
  readonly attempts: number;
  /** The earliest time of the next attempt, in milliseconds since 1970; undefined where no time is set. */
  readonly nextAttemptAt: number | undefined;
  /** Why no node fits, in the order of the nodes' names. Empty where the pod as such was rejected, or failed with an error. */
  readonly nodes: readonly NodeVerdict[];
  /** The node that the pod was promised: by preemption, or by whoever wrote its status. Undefined where it was promised none, or has one. */
  readonly nominatedNodeName: string | undefined;
  /** The pods that have yet to end so that the pod fits on the node that it was promised. */
  readonly victims: readonly AwaitedVictim[];
  /** The extenders that were asked of the pod and have not answered yet. */
  readonly askedExtenders: readonly ExtenderWait[];
  /**
   * What is wrong with the pod: it fits nowhere, waits for something, or fails. Undefined where nothing is wrong: it is on its node, or has
   * not failed yet; also while this process is not to schedule.
   */
  readonly problem: PodProblem | undefined;
  /** All of it in words, for people: several lines, the first says where the pod is. The words may change. */
  readonly text: string;
}

/** Says why a pod is pending: where it is, how its last attempt failed, what each node has against it, and what would help. */
export function explainPod(known: KnownOfAttempts): PodSchedulingExplanation {
  const { placed, place, last } = known;
  const state = stateOf(known);
  const isPending = place !== undefined && placed === undefined;
  const nodes = isPending ? verdicts(last?.diagnosis, known.nodeNames) : [];
  const trouble = podTrouble(known);
  const problem = trouble && schedulingProblem(trouble, known);
  const victims = isPending ? awaitedVictims(known) : [];
  const lines = [firstLine(state, known), ...known.asked.map((one) => askedLine(one, known.now))];
  if (isPending && last !== undefined) {
    const { message } = frozenProblem({ ...last.words, attempt: 0 });
    lines.push(`Its last attempt, ${durationInWords(known.now - last.at)} ago, failed: ${message}.`);
    lines.push(...nodes.map(verdictLine));
    if (last.fitsNowhere && last.diagnosis === undefined) lines.push('What each node had against it is no longer kept.');
  }
  if (trouble !== undefined && problem !== undefined) lines.push(...troubleLines(trouble, problem, lines.join('\n'), known.now));
  if (isPending) lines.push(...promiseLines(known, victims, problem?.help));
  if (state === 'waiting') lines.push(wakingLine(known));
  if (problem?.help !== undefined) lines.push(problem.help);
  return {
    ...podNames(known),
    state,
    attempts: place?.info.attempts ?? 0,
    nextAttemptAt: state === 'backoff' ? toldTime(place?.backoffEnd, known) : undefined,
    nodes,
    nominatedNodeName: known.nominatedNodeName,
    victims,
    askedExtenders: known.asked.map(({ since, ...one }) => Object.freeze({ ...one, since: Math.round(known.wallTime(since)) })),
    problem,
    text: lines.join('\n'),
  };
}

function askedLine({ extender, step, since, timeoutMs }: KnownOfAttempts['asked'][number], now: number): string {
  const waits = `for ${durationInWords(now - since)} its answer has been waited for, and it may take ${durationInWords(timeoutMs)}`;
  return `The extender ${extender} is asked to ${stepInWords(step)} it: ${waits}.`;
}

/** So many victims have a line of their own. */
const mostVictims = 10;

/** Which node it was promised, and who has yet to end there. `said`: the help that stands elsewhere. */
function promiseLines(
  { nominatedNodeName, now, wallTime }: KnownOfAttempts,
  victims: readonly AwaitedVictim[],
  said: string | undefined,
): string[] {
  if (nominatedNodeName === undefined) return [];
  if (victims.length === 0) return [`It was promised the node ${nominatedNodeName}.`];
  const lines = victims.slice(0, mostVictims).map(({ podNamespace, podName, since, reason, help }) => {
    const parts = [`to end for ${durationInWords(wallTime(now) - since)}`, ...(reason === undefined ? [] : [reason])];
    return `- ${podNamespace}/${podName}: ${parts.join('; ')}.${help === undefined || help === said ? '' : ` ${help}`}`;
  });
  const more = victims.length - lines.length;
  const rest = more > 0 ? [`- and ${more} more.`] : [];
  return [`It was promised the node ${nominatedNodeName}, where these have yet to end:`, ...lines, ...rest];
}

/** What is wrong, unless it was said already, and for how long it has been so. */
function troubleLines(trouble: PodTrouble, { message }: PodProblem, said: string, now: number): string[] {
  const lasting = lastingText(trouble, now);
  // the first line says of a gate what there is to say
  const isSaid = trouble.kind === 'gated' || said.includes(message);
  return [...(isSaid ? [] : [`${capitalized(message)}.`]), ...(lasting === undefined ? [] : [lasting])];
}

/** The trouble as a problem that can be handed out: its times are those of the wall clock. */
export function schedulingProblem(
  { kind, message, attempt, since, retryAt, help }: PodTrouble,
  known: KnownOfAttempts,
): PodProblem {
  const times = { since: toldTime(since, known), attempt, retryAt: toldTime(retryAt, known) };
  return frozenProblem({ kind, message, ...times, help: help(), ...podNames(known) });
}

function podNames({ uid, place, placed }: KnownOfAttempts): Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'> {
  const { namespace = '', name = '' } = place?.info.podInfo ?? placed?.podInfo ?? {};
  return { podUID: uid, podNamespace: namespace, podName: name };
}

/** What is told to others is a time of their clocks. */
function toldTime(time: number | undefined, { wallTime }: KnownOfAttempts): number | undefined {
  return time === undefined ? undefined : wallTime(time);
}

function stateOf({ place, placed }: KnownOfAttempts): PodSchedulingState {
  if (placed !== undefined) return placed.isBound ? 'placed' : 'binding';
  if (place === undefined) return 'unknown';
  if (place.place === 'inFlight') return 'trying';
  if (place.place === 'active') return 'ready';
  if (place.place === 'backoff') return 'backoff';
  return place.info.gatedBy === undefined ? 'waiting' : 'gated';
}

function firstLine(state: PodSchedulingState, { uid, place, placed, now }: KnownOfAttempts): string {
  const key = place?.info.podInfo.key ?? placed?.podInfo.key ?? '';
  const tried = triedInWords(place?.info.attempts ?? 0);
  switch (state) {
    case 'unknown':
      return `No pod with the uid ${uid} is known here: it is gone, or meant for another scheduler.`;
    case 'placed':
      return `The pod ${key} is on the node ${placed?.nodeName}.`;
    case 'binding':
      return `The pod ${key} has the node ${placed?.nodeName} and is being bound to it.`;
    case 'trying':
      return `The pod ${key} is being tried.`;
    case 'ready':
      return `The pod ${key} can be tried, after the pods that come before it. It ${tried}.`;
    case 'backoff': {
      const wait = durationInWords(Math.max(0, (place?.backoffEnd ?? now) - now));
      return `The pod ${key} ${tried}. It is tried again in about ${wait}.`;
    }
    case 'gated':
      return `The pod ${key} is not tried: ${place?.info.gate?.reasons.join(', ')} (${place?.info.gatedBy}).`;
    case 'waiting':
      return `The pod ${key} ${tried}, and waits for a change that may help it.`;
  }
}

/** What each node has against the pod. Where preFilter left only some nodes to look at, the others share a reason. */
function verdicts(diagnosis: Diagnosis | undefined, nodeNames: () => Iterable<string>): NodeVerdict[] {
  if (diagnosis === undefined || diagnosis.isRejectedAsSuch) return [];
  const { failures, rest } = diagnosis;
  const others =
    rest === undefined ? [] : [...nodeNames()].filter((name) => !failures.has(name)).map((name) => verdict(name, rest));
  const looked = Array.from(failures, ([name, rejection]) => verdict(name, rejection));
  return [...looked, ...others].sort((one, two) => (one.nodeName < two.nodeName ? -1 : 1));
}

function verdict(nodeName: string, { plugin, reasons, code }: PluginRejection): NodeVerdict {
  return { nodeName, plugin, reasons, mayFitWithoutOtherPods: code === 'Unschedulable' };
}

function verdictLine({ nodeName, plugin, reasons, mayFitWithoutOtherPods }: NodeVerdict): string {
  const help = mayFitWithoutOtherPods ? 'it may fit once other pods are gone' : 'the end of other pods would not help';
  return `- ${nodeName}: ${reasons.join(', ')} (${plugin}); ${help}.`;
}

function wakingLine({ place, now, asksForEvents, maxInUnschedulableMs }: KnownOfAttempts): string {
  const { unschedulablePlugins, pendingPlugins, timestamp = now } = place?.info ?? {};
  const plugins = [...(unschedulablePlugins ?? []), ...(pendingPlugins ?? [])];
  const helped = plugins.filter(asksForEvents);
  const left = durationInWords(Math.max(0, timestamp + maxInUnschedulableMs - now));
  if (helped.length === 0)
    return `It is tried again in about ${left}: ${namesInWords(plugins)} waits for no change that is known here.`;
  return `It is tried again when something changes that ${namesInWords(helped)} can be helped by, and in any case in about ${left}.`;
}

/** A length of time for people: `less than a second`, `12 s`, `5 min`. */
function durationInWords(ms: number): string {
  if (ms < 1000) return 'less than a second';
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** `has not been tried yet`, `was tried once`, `was tried 3 times`. */
function triedInWords(count: number): string {
  if (count === 0) return 'has not been tried yet';
  return count === 1 ? 'was tried once' : `was tried ${count} times`;
}

/** `a`, `a or b`, `a, b or c`. */
function namesInWords(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
