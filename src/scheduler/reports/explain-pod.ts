import type { Diagnosis } from '../framework/fit-error.ts';
import type { PluginRejection } from '../framework/plugin.ts';
import type { PodPlace } from '../queue/scheduling-queue.ts';
import type { LastAttempt } from './last-attempts.ts';

/** Where a pod is on its way to a node. */
export type PodSchedulingState =
  /** It is not known: gone, or meant for another scheduler. */
  | 'unknown'
  /** It is on its node. */
  | 'placed'
  /** Its node is chosen, and it is being bound. */
  | 'binding'
  /** It is being tried. */
  | 'trying'
  /** It can be tried, and comes after the pods before it. */
  | 'ready'
  /** It failed, and is tried again after a back-off. */
  | 'backoff'
  /** It fits on no node, and waits for a change that may help. */
  | 'waiting'
  /** A plugin keeps it from being tried. */
  | 'gated';

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

/** Why a pod is where it is. */
export interface PodSchedulingExplanation {
  /** Where the pod is on its way to a node. */
  readonly state: PodSchedulingState;
  /** How often the pod was tried. */
  readonly attempts: number;
  /** The earliest time of the next attempt, in milliseconds since 1970; undefined where no time is set. */
  readonly nextAttemptAt: number | undefined;
  /** Why no node fits, in the order of the nodes' names. Empty where the pod as such was rejected, or failed with an error. */
  readonly nodes: readonly NodeVerdict[];
  /** All of it in words, for people: several lines, the first says where the pod is. The words may change. */
  readonly text: string;
}

/** What is known of a pod. */
export interface KnownOfAttempts {
  readonly uid: string;
  readonly place: PodPlace | undefined;
  /** The node that it has, assumed or not. */
  readonly placed: { readonly key: string; readonly nodeName: string; readonly isBound: boolean } | undefined;
  readonly last: LastAttempt | undefined;
  /** The names of the nodes that there are. */
  readonly nodeNames: Iterable<string>;
  /** By the time of the queue, which setting the clock does not move. */
  readonly now: number;
  /** The same moment by the wall clock. */
  readonly wallNow: number;
  /** True where the plugin has said which changes may help a pod that it rejects. */
  readonly asksForEvents: (plugin: string) => boolean;
  /** How long a pod waits at most for a change, in milliseconds. */
  readonly maxInUnschedulableMs: number;
}

/** Says why a pod is pending: where it is, how its last attempt failed, and what each node has against it. */
export function explainPod(known: KnownOfAttempts): PodSchedulingExplanation {
  const { placed, place, last } = known;
  const state = stateOf(known);
  const isPending = place !== undefined && placed === undefined;
  const nodes = isPending ? verdicts(last?.diagnosis, known.nodeNames) : [];
  const lines = [firstLine(state, known)];
  if (isPending && last !== undefined) {
    lines.push(`Its last attempt, ${durationInWords(known.now - last.at)} ago, failed: ${last.message}`);
    lines.push(...nodes.map(verdictLine));
    if (last.fitsNowhere && last.diagnosis === undefined) lines.push('What each node had against it is no longer kept.');
  }
  if (state === 'waiting') lines.push(wakingLine(known));
  return {
    state,
    attempts: place?.info.attempts ?? 0,
    nextAttemptAt: state === 'backoff' ? wallTime(place?.backoffEnd, known) : undefined,
    nodes,
    text: lines.join('\n'),
  };
}

/** What is told to others is a time of their clocks. */
function wallTime(time: number | undefined, { now, wallNow }: KnownOfAttempts): number | undefined {
  return time === undefined ? undefined : Math.round(time - now + wallNow);
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
  const key = place?.info.podInfo.key ?? placed?.key ?? '';
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
function verdicts(diagnosis: Diagnosis | undefined, nodeNames: Iterable<string>): NodeVerdict[] {
  if (diagnosis === undefined || diagnosis.isRejectedAsSuch) return [];
  const { failures, rest } = diagnosis;
  const others =
    rest === undefined ? [] : [...nodeNames].filter((name) => !failures.has(name)).map((name) => verdict(name, rest));
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
