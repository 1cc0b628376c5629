import type { PodProblem } from '../../base/problem.ts';
import { roundedDuration, timesText } from '../../base/problem.ts';
import { stepInWords } from '../extenders/extender-error.ts';
import type { AskedExtender } from '../extenders/extender-reports.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { PodPlace } from '../queue/scheduling-queue.ts';
import { gateWords } from '../queue/waiting-pods.ts';
import { claimsInWords } from './claims-in-words.ts';
import { type FailureWords, givenUp, type LastAttempt } from './last-attempts.ts';
import { helpBeforeBinding, helpForGate, helpForNowhere } from './plugin-help.ts';

/** What is known of a pod. */
export interface KnownOfAttempts {
  readonly uid: string;
  readonly place: PodPlace | undefined;
  /** The node that it has, assumed or not. */
  readonly placed: PlacedReport | undefined;
  /** How far the binding is; undefined where none is under way. */
  readonly binding: BindingProgress | undefined;
  /** The pods that have to go so that this one fits, as far as they are still there. */
  readonly victims: readonly PodInfo[];
  /** The node that the pod was promised; undefined where it was promised none, or has one. */
  readonly nominatedNodeName: string | undefined;
  /** The extenders that were asked of the pod and have not answered yet, the one first that was asked first. */
  readonly asked: readonly AwaitedAnswer[];
  /** When it is tried again because a victim could not be deleted, by the time of the queue; undefined where it does not wait for that. */
  readonly preemptionRetryAt: number | undefined;
  /** True while another process may schedule. */
  readonly isSuspended: boolean;
  readonly last: LastAttempt | undefined;
  /** The names of the nodes that there are. */
  readonly nodeNames: () => Iterable<string>;
  /** By the time of the queue, which setting the clock does not move. */
  readonly now: number;
  /** A time of the queue as the wall clock has it. */
  readonly wallTime: (time: number) => number;
  /** True where the plugin has said which changes may help a pod that it rejects. */
  readonly asksForEvents: (plugin: string) => boolean;
  /** How long a pod waits at most for a change, in milliseconds. */
  readonly maxInUnschedulableMs: number;
}

/** An extender that has not answered yet. */
export interface AwaitedAnswer extends Omit<AskedExtender, 'sinceMs'> {
  /** By the time of the queue. */
  readonly since: number;
}

/** What a binding waits for. */
export interface BindingProgress {
  /** The plugins that have yet to permit it. */
  readonly permits: readonly string[];
  /** By the time of the queue. */
  readonly since: number;
  /** The plugin that works before the pod is bound, and what it says that it waits for. */
  readonly waitsFor: { readonly plugin: string; readonly what: string | undefined } | undefined;
}

/** A pod that has a node, assumed or not. */
export interface PlacedReport {
  readonly podInfo: PodInfo;
  readonly nodeName: string;
  readonly isBound: boolean;
  /** Since when it is bound without having come through the watch, by the time of the queue; undefined where it has, or no watch tells. */
  readonly unconfirmedSince: number | undefined;
}

/** A binding that takes longer is worth telling of, in milliseconds. */
const slowBindingMs = 10_000;
/** An extender that takes longer is worth telling of, in milliseconds: meanwhile no other pod is tried. */
const slowExtenderMs = 1000;
/** A pod that was bound longer ago, in milliseconds, should have come through the watch with its node. */
const slowConfirmationMs = 30_000;
/** So many victims, gates and plugins are named. */
const mostNames = 3;

/** A problem before it is frozen, with the times of the queue; its help is worked out when it is asked for. */
export interface PodTrouble extends Pick<PodProblem, 'message' | 'attempt'> {
  readonly kind: FailureWords['kind'];
  readonly since: number;
  readonly retryAt?: number | undefined;
  readonly help: () => string | undefined;
}

/** What is wrong with a pod; undefined where nothing is: it is placed, has not failed yet, or another process schedules now. */
export function podTrouble(known: KnownOfAttempts): PodTrouble | undefined {
  const { placed, place, isSuspended } = known;
  if (isSuspended) return undefined;
  if (placed?.isBound) return unconfirmed(known);
  if (placed !== undefined) return permitAwaited(known) ?? extenderAwaited(known) ?? lastFailure(known) ?? slowBinding(known);
  if (place === undefined) return undefined;
  return extenderAwaited(known) ?? victimsAwaited(known) ?? gated(known) ?? lastFailure(known);
}

function unconfirmed({ placed, now }: KnownOfAttempts): PodTrouble | undefined {
  const { nodeName, unconfirmedSince: since } = placed ?? {};
  if (since === undefined || now - since < slowConfirmationMs) return undefined;
  return {
    kind: 'not-confirmed',
    message: `the pod was bound to the node ${nodeName}, but the watch of pods has not shown it there`,
    since,
    attempt: 0,
    help: () => 'See whether the watch of pods still brings changes, or etcd was set back to a time before the binding.',
  };
}

function permitAwaited({ placed, binding, last }: KnownOfAttempts): PodTrouble | undefined {
  const { permits = [], since = 0 } = binding ?? {};
  if (permits.length === 0) return undefined;
  const names = someNames(permits);
  return {
    kind: 'permit',
    message: `the pod has the node ${placed?.nodeName} and waits for the permit of ${names}`,
    since,
    attempt: last?.attempt ?? 0,
    help: () => `See what ${names} waits for: without a permit in time the pod gives the node back and is tried again.`,
  };
}

function slowBinding({ placed, binding, now }: KnownOfAttempts): PodTrouble | undefined {
  if (binding === undefined || now - binding.since < slowBindingMs) return undefined;
  const { since, waitsFor } = binding;
  if (waitsFor !== undefined) {
    const { plugin, what = 'what it has to do before the pod is bound' } = waitsFor;
    return {
      kind: 'waits-before-binding',
      message: `the pod has the node ${placed?.nodeName}, and the plugin ${plugin} waits for ${what}`,
      since,
      attempt: 0,
      help: () => helpBeforeBinding(plugin),
    };
  }
  return {
    kind: 'slow-binding',
    message: `the binding of the pod to the node ${placed?.nodeName} has got no answer yet`,
    since,
    attempt: 0,
    help: () => 'See whether the apiserver answers: until then nobody knows whether the pod is bound.',
  };
}

function extenderAwaited({ asked, now }: KnownOfAttempts): PodTrouble | undefined {
  const [first] = asked;
  if (first === undefined || now - first.since < slowExtenderMs) return undefined;
  const { extender, step, since, timeoutMs } = first;
  const limit = `it has ${roundedDuration(timeoutMs)} for its answer`;
  return {
    kind: 'waits-for-extender',
    message: `the extender ${extender} was asked to ${stepInWords(step)} the pod and has not answered yet`,
    since,
    attempt: 0,
    help: () =>
      `See why the extender ${extender} is slow: ${limit}${step === 'bind' ? '' : ', and no other pod is tried meanwhile'}.`,
  };
}

function victimsAwaited(known: KnownOfAttempts): PodTrouble | undefined {
  const { last, victims } = known;
  if (last === undefined || victims.length === 0) return undefined;
  const { nodeName = known.nominatedNodeName, since = last.since, failure } = last.preemption ?? {};
  const { attempt } = last;
  if (failure !== undefined) return { ...failure, since, attempt, retryAt: retryOfVictims(known), help: () => failure.help };
  const keys = someNames(victims.map(({ key }) => key));
  const held = victims.map(whyHeld).find((reason) => reason !== undefined);
  const because = held === undefined ? '' : `; ${held.message}`;
  return {
    kind: 'waits-for-victims',
    message: `the pod waits until the node ${nodeName} has room: ${keys} ${victims.length === 1 ? 'has' : 'have'} to end there first${because}`,
    since,
    attempt,
    help: () => held?.help ?? 'Nothing is to be done but to wait: the pods that have to go are ending.',
  };
}

/** Whatever comes first: the end of that wait, or of the pod's back-off. */
function retryOfVictims({ place, preemptionRetryAt }: KnownOfAttempts): number | undefined {
  const backoffEnd = place?.place === 'backoff' ? place.backoffEnd : undefined;
  const times = [preemptionRetryAt, backoffEnd].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The pods that have to end so that this one fits, and what holds each. */
export function awaitedVictims({ last, victims, wallTime }: KnownOfAttempts): AwaitedVictim[] {
  const { since = last?.since ?? 0, failure } = last?.preemption ?? {};
  return victims.map((victim) => {
    const { uid, namespace, name } = victim;
    const { message = failure?.message, help = failure?.help } = whyHeld(victim) ?? {};
    return Object.freeze({
      podUID: uid,
      podNamespace: namespace,
      podName: name,
      since: Math.round(wallTime(since)),
      reason: message,
      help,
    });
  });
}

/** A pod that has to end so that another one fits. */
export interface AwaitedVictim {
  /** Its uid. */
  readonly podUID: string;
  /** Its namespace. */
  readonly podNamespace: string;
  /** Its name. */
  readonly podName: string;
  /** Since when it is to end, in milliseconds since 1970. */
  readonly since: number;
  /** What holds it: a finalizer, a long grace period, or a server that refuses its end; undefined where nothing is known that does. */
  readonly reason: string | undefined;
  /** What would help, in words for people; undefined where nothing is to be done but to wait. */
  readonly help: string | undefined;
}

/** The API's default grace period is 30 s: only a longer one is worth a word. */
const usualGraceSeconds = 30;

/** What holds a victim that is to end; undefined where nothing is known that does. */
function whyHeld({ key, pod: { metadata, spec } }: PodInfo): { readonly message: string; readonly help: string } | undefined {
  const finalizers = metadata?.finalizers ?? [];
  if (finalizers.length > 0)
    return {
      message: `${key} is held by the finalizer ${someNames(finalizers)}`,
      help: `See who is to take the finalizer off the pod ${key}: as long as it has one, it stays and keeps its place.`,
    };
  const seconds = metadata?.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? usualGraceSeconds;
  if (seconds <= usualGraceSeconds) return undefined;
  return {
    message: `${key} may take ${roundedDuration(seconds * 1000)} to end, which is its grace period`,
    help: `Wait, or delete the pod ${key} with a shorter grace period.`,
  };
}

function gated({ place }: KnownOfAttempts): PodTrouble | undefined {
  const { gatedBy, gate, timestamp = 0, podInfo } = place?.info ?? {};
  if (gatedBy === undefined || gate === undefined) return undefined;
  const reasons = gate.reasons.join(', ');
  const shared = { since: timestamp, attempt: 0 };
  if (gate.hasFailed) return { ...shared, ...gateWords(gatedBy), message: reasons, help: () => gateWords(gatedBy).help };
  const gates = (podInfo?.pod.spec?.schedulingGates ?? []).map(({ name }) => name);
  const help =
    gatedBy === 'SchedulingGates'
      ? `Take ${someNames(gates)} out of the pod's schedulingGates, or see why their owner does not.`
      : withClaims(helpForGate(gatedBy, gate.reasons), gatedBy === claimsPlugin, podInfo);
  return { ...shared, kind: 'gated', message: `the pod is not tried: ${reasons} (${gatedBy})`, help: () => help };
}

function lastFailure({ place, last, asksForEvents, maxInUnschedulableMs }: KnownOfAttempts): PodTrouble | undefined {
  if (last === undefined || last.words.kind === givenUp) return undefined;
  const { words, since, attempt } = last;
  const { unschedulablePlugins = [], pendingPlugins = [], timestamp = 0 } = place?.info ?? {};
  // no change that is known brings it back, so time does
  const isDeaf = ![...unschedulablePlugins, ...pendingPlugins].some(asksForEvents);
  const timeout = place?.place === 'unschedulable' && isDeaf ? timestamp + maxInUnschedulableMs : undefined;
  return {
    kind: words.kind,
    message: words.message,
    since,
    attempt,
    retryAt: place?.place === 'backoff' ? place.backoffEnd : timeout,
    help: () => words.help ?? withClaims(helpForFit(last), isOfClaims(last), place?.info.podInfo),
  };
}

function helpForFit({ diagnosis, fitsNowhere }: LastAttempt): string | undefined {
  if (diagnosis !== undefined) return helpForNowhere(diagnosis);
  return fitsNowhere ? 'Read the counts of the message: what each node had against the pod is no longer kept.' : undefined;
}

const claimsPlugin = 'DynamicResources';

function isOfClaims({ diagnosis }: LastAttempt): boolean {
  return diagnosis?.rejectors.has(claimsPlugin) === true;
}

/** The reasons are those of kube-scheduler, which do not always say which claim it is. */
function withClaims(help: string, isOfClaims: boolean, podInfo: PodInfo | undefined): string;
function withClaims(help: string | undefined, isOfClaims: boolean, podInfo: PodInfo | undefined): string | undefined;
function withClaims(help: string | undefined, isOfClaims: boolean, podInfo: PodInfo | undefined): string | undefined {
  const claims = isOfClaims && podInfo !== undefined ? claimsInWords(podInfo) : undefined;
  return help === undefined || claims === undefined ? help : `${help} ${claims}`;
}

/** `a, b, c and 2 more`. */
function someNames(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).map((name) => name.slice(0, 253));
  if (names.length > mostNames) return `${shown.join(', ')} and ${names.length - mostNames} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** `It has failed 3 times in a row, for 40 s.`, `It has been so for 12 s.`; undefined for what is new. */
export function lastingText({ attempt, since }: Pick<PodTrouble, 'attempt' | 'since'>, now: number): string | undefined {
  const lasts = now - since < 1000 ? '' : `for ${roundedDuration(now - since)}`;
  if (attempt > 1) return `It has failed ${timesText(attempt)} in a row${lasts === '' ? '' : `, ${lasts}`}.`;
  return lasts === '' ? undefined : `It has been so ${lasts}.`;
}
