import type { Pod } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { PodProblem, Problem } from '../../base/problem.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { namesOf } from '../../node/node-problems.ts';

/** What is wrong, in words. */
export type TroubleWords = Pick<Problem, 'kind' | 'message' | 'help'>;

/** Something that could not be done for a pod, while it was not done since. */
export interface AgentPodTrouble extends TroubleWords {
  /** When it failed first, in milliseconds since the epoch. */
  readonly since: number;
  /** How often it has failed in a row. */
  readonly attempt: number;
  /** When it is tried again at the soonest, in milliseconds since the epoch; undefined where the failure did not say. */
  readonly retryAt: number | undefined;
}

/** The kinds of a container that ends again and again. */
export const crashKinds: ReadonlySet<string> = new Set(['crash-loop-back-off', 'oom-killed']);

const partRanks: Readonly<Record<string, number>> = { preparation: 0, claims: 0, sync: 2, end: 6, grace: 7, 'clean-up': 8 };
const rankOfContainers = 1;
export const rankOfProbes = 3;
const rankOfBackoffs = 4;

/** What tells most of a pod has the lowest rank. */
export function rankOf(part: string, { kind }: Pick<AgentPodTrouble, 'kind'>): number {
  if (crashKinds.has(kind)) return rankOfBackoffs;
  return Object.hasOwn(partRanks, part) ? (partRanks[part] ?? rankOfContainers) : rankOfContainers;
}

/** A hook runs once, and that a pod ends too slowly is no try. */
export function isTriedAgain(part: string): boolean {
  return part !== 'grace' && !part.startsWith('preStop ');
}

/** So much of a message is kept, in characters. */
const longestKept = 1000;

interface TroubledPod {
  readonly names: PodNamesOfTrouble;
  readonly parts: Map<string, AgentPodTrouble>;
}

type PodNamesOfTrouble = Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'>;

/** What could not be done for pods, by the pod and by the part of it: `preparation`, `claims`, `sync`, `end`, or a container. */
export class PodTroubles {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #pods = new Map<string, TroubledPod>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** `attempt`: how often it has failed, where that is known otherwise than by counting. */
  failed(
    pod: Pod,
    part: string,
    { kind, message, help }: TroubleWords,
    times: { readonly retryAt?: number | undefined; readonly attempt?: number | undefined } = {},
  ): void {
    const names = namesOf(pod);
    const known = this.#pods.get(names.podUID) ?? { names, parts: new Map<string, AgentPodTrouble>() };
    const { since = this.#clock.now(), attempt = 0 } = known.parts.get(part) ?? {};
    const counted = times.attempt ?? attempt + 1;
    const kept = textBeginning(message, longestKept);
    known.parts.set(part, { kind, message: kept, help, since, attempt: counted, retryAt: times.retryAt });
    this.#pods.set(names.podUID, known);
  }

  /** Nothing was tried: what has failed before waits until `retryAt`. False where nothing has failed before. */
  waits(podUID: string, part: string, retryAt: number | undefined): boolean {
    const parts = this.#pods.get(podUID)?.parts;
    const trouble = parts?.get(part);
    if (trouble !== undefined) parts?.set(part, { ...trouble, retryAt });
    return trouble !== undefined;
  }

  cleared(podUID: string, part: string): void {
    const parts = this.#pods.get(podUID)?.parts;
    parts?.delete(part);
    if (parts?.size === 0) this.#pods.delete(podUID);
  }

  /** Nothing but these parts matters any more. */
  keepOnly(podUID: string, isKept: (part: string) => boolean): void {
    for (const part of this.#pods.get(podUID)?.parts.keys() ?? []) if (!isKept(part)) this.cleared(podUID, part);
  }

  /** By their parts, the oldest first. */
  of(podUID: string): ReadonlyMap<string, AgentPodTrouble> {
    return this.#pods.get(podUID)?.parts ?? new Map<string, AgentPodTrouble>();
  }

  /** What tells most of what is tried again; undefined where nothing of that has failed. */
  worst(podUID: string): AgentPodTrouble | undefined {
    const tried = [...this.of(podUID)].filter(([part]) => isTriedAgain(part));
    const [worst] = tried.sort(([part, one], [otherPart, other]) => rankOf(part, one) - rankOf(otherPart, other));
    return worst?.[1];
  }

  /** The pods for which something could not be done. */
  pods(): readonly PodNamesOfTrouble[] {
    return Array.from(this.#pods.values(), ({ names }) => names);
  }

  forget(podUID: string): void {
    this.#pods.delete(podUID);
  }
}
