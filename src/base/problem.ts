import { withoutSecrets } from './secrets.ts';
import { textBeginning } from './text-beginning.ts';

/**
 * One thing that is wrong. `explain`, the problems and the notes of a snapshot, and the debug page are all made from it, so that
 * they say the same. It can be turned into JSON.
 */
export interface Problem {
  /** A short word that stays the same: `forbidden`, `create-pod`. The page *When something is wrong* has a row for each. */
  readonly kind: string;
  /** What failed, then the words of the one who refused: `createPod() failed: quota exceeded`. One sentence without a full stop, at most 600 characters. */
  readonly message: string;
  /** Since when it is so, in milliseconds since the epoch; undefined where that is not known. */
  readonly since?: number | undefined;
  /** Failures in a row; 0 for what is no try. */
  readonly attempt: number;
  /** When it is tried next, in milliseconds since the epoch; undefined where no time brings the next try. */
  readonly retryAt?: number | undefined;
  /** What would help, as one sentence with a full stop; undefined where nothing is to be done but to wait. */
  readonly help?: string | undefined;
}

/** Something that is wrong with one pod. */
export interface PodProblem extends Problem {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** The pod's namespace; empty where it is not known. */
  readonly podNamespace: string;
  /** The pod's name; empty where it is not known. */
  readonly podName: string;
}

/** The most characters of {@link Problem.message}. */
const longestMessage = 600;
/** Notes of one snapshot; the last one says how many problems have none. */
const mostNotes = 20;

/** So much of a message is looked at: what is hidden in it makes it shorter. */
const longestRead = 2 * longestMessage;

/** Frozen, with times of whole milliseconds, and with a message of one line: white space is one space, a full stop at the end is left out, credentials are hidden, and what is too long is cut. */
export function frozenProblem<P extends Problem>(given: P): P {
  const text = withoutSecrets(textBeginning(given.message, longestRead)).replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  const isLong = text.length > longestMessage || given.message.length > longestRead;
  const [since, retryAt] = [given.since, given.retryAt].map((time) => (time === undefined ? undefined : Math.round(time)));
  const message = isLong ? `${textBeginning(text, longestMessage - 1)}…` : text;
  return Object.freeze({ ...given, message, ...(since !== undefined && { since }), ...(retryAt !== undefined && { retryAt }) });
}

/** The text with a capital letter in front. */
export function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

const words = { idle: 'was not started', stopping: 'is stopping', stopped: 'has stopped' };

/** A part that does not run. `effect`: what it does not do meanwhile, such as `it sends nothing`. */
export function notRunning(owner: string, state: keyof typeof words, effect?: string): Problem {
  const message = `${owner} ${words[state]}${effect === undefined || state === 'stopping' ? '' : `: ${effect}`}`;
  if (state === 'idle') return frozenProblem({ kind: 'not-started', message, attempt: 0, help: 'Call start().' });
  return frozenProblem({ kind: 'stopped', message, attempt: 0 });
}

/** True for a problem of one pod. */
export function isPodProblem(given: Problem): given is PodProblem {
  return 'podUID' in given;
}

/** At most so many problems are listed; the count says how many there are. */
const mostProblems = 1000;

/** What is wrong, as a snapshot has it. */
export interface ProblemReport {
  /** At most 1000: first those that are no pod's, then those of pods, the oldest first. */
  readonly problems: readonly (Problem | PodProblem)[];
  /** How many problems there are in all. */
  readonly problemCount: number;
  /** The same in words, at most 21: see `notesOf`. Empty exactly when all is well. */
  readonly notes: readonly string[];
}

/** Everything that is wrong, sorted and cut. */
export function problemReport(all: readonly (Problem | PodProblem)[], now: number): ProblemReport {
  const rank = (one: Problem): number => (isPodProblem(one) ? 1 : 0);
  const sorted = all.toSorted((one, two) => rank(one) - rank(two) || (one.since ?? now) - (two.since ?? now));
  const problems = Object.freeze(sorted.slice(0, mostProblems));
  return Object.freeze({ problems, problemCount: all.length, notes: notesOf(sorted, now) });
}

/**
 * The whole of a problem as sentences, the times counted from `now`: `createPod() failed: quota exceeded. It has failed twice, for 7 s. Next
 * try in 6 s. Raise the quota.`
 *
 * @example
 * ```ts
 * import { type PodProblem, problemText } from 'pod-status-manager';
 *
 * const problem: PodProblem = {
 *   kind: 'create-pod',
 *   message: 'createPod() failed: quota exceeded',
 *   attempt: 2,
 *   retryAt: 6000,
 *   podUID: 'u1',
 *   podNamespace: 'default',
 *   podName: 'web',
 * };
 * console.log(problemText(problem, 0)); // createPod() failed: quota exceeded. It has failed twice. Next try in 6.0 s.
 * ```
 */
export function problemText(given: Problem, now: number): string {
  return [`${given.message}.`, ...timesOf(given, now), ...(given.help === undefined ? [] : [given.help])].join(' ');
}

/** How often, since when, and when next: each a sentence of its own. */
function timesOf({ attempt, since, retryAt }: Problem, now: number): string[] {
  const lasts = since === undefined || now - since < 1000 ? '' : `, for ${roundedDuration(now - since)}`;
  const sentences: string[] = [];
  if (attempt > 1) sentences.push(`It has failed ${timesText(attempt)}${lasts}.`);
  else if (lasts !== '') sentences.push(`It has been so${lasts.slice(1)}.`);
  if (retryAt !== undefined)
    sentences.push(retryAt <= now ? 'It is tried again now.' : `Next try in ${roundedDuration(retryAt - now)}.`);
  return sentences;
}

/** The fields of a log line about a problem, beside the error and the pod. */
export interface ProblemFields {
  /** The kind of the problem. */
  readonly problemKind?: string;
  /** Left out for what is no try. */
  readonly attempt?: number;
  readonly failingForMs?: number;
  readonly retryInMs?: number;
  readonly help?: string;
}

type PartOfProblem = { readonly [Name in keyof Problem]?: Problem[Name] | undefined };

/** What a log line says of a problem beside the error and the pod: how often, for how long, when next, and what would help. `now`: for what has times. */
export function problemFields({ kind, attempt = 0, since, retryAt, help }: PartOfProblem, now = 0): ProblemFields {
  return {
    ...(kind !== undefined && { problemKind: kind }),
    ...(attempt > 0 && { attempt }),
    ...(since !== undefined && { failingForMs: Math.max(0, Math.round(now - since)) }),
    ...(retryAt !== undefined && { retryInMs: Math.max(0, Math.round(retryAt - now)) }),
    ...(help !== undefined && { help }),
  };
}

/**
 * The notes of a snapshot: one for each problem that is no pod's, then one for each kind of problem that pods have, with the pod that has
 * had it longest. Each is one sentence without a full stop, and names its pod as namespace/name. At most 20, however many problems there are.
 */
export function notesOf(problems: Iterable<Problem>, now: number): readonly string[] {
  const notes: string[] = [];
  const kinds = new Map<string, { example: PodProblem; count: number }>();
  let others = 0;
  for (const one of problems) {
    if (!isPodProblem(one)) {
      if (notes.length < mostNotes) notes.push(`${one.message}${nextText(one, now)}`);
      else others += 1;
      continue;
    }
    const known = kinds.get(one.kind);
    if (known === undefined) kinds.set(one.kind, { example: one, count: 1 });
    else {
      known.count += 1;
      if ((one.since ?? now) < (known.example.since ?? now)) known.example = one;
    }
  }
  for (const { example, count } of kinds.values()) {
    const more = count === 1 ? '' : ` (${count} pods have a problem of this kind)`;
    if (notes.length < mostNotes) notes.push(`${namesOf(example)}: ${example.message}${nextText(example, now)}${more}`);
    else others += count;
  }
  return Object.freeze(others === 0 ? notes : [...notes, `and ${others} more`]);
}

function nextText({ attempt, retryAt }: Problem, now: number): string {
  const tries = attempt > 1 ? [`failed ${timesText(attempt)}`] : [];
  if (retryAt !== undefined)
    tries.push(retryAt <= now ? 'it is tried again now' : `next try in ${roundedDuration(retryAt - now)}`);
  return tries.length === 0 ? '' : `; ${tries.join(', ')}`;
}

/** `default/web`; the uid of a pod whose name is not known. */
function namesOf({ podUID, podNamespace, podName }: Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'>): string {
  return podName === '' ? `the pod with uid ${podUID}` : `${podNamespace}/${podName}`;
}

/** `once`, `twice`, `3 times`. */
export function timesText(count: number): string {
  if (count === 1) return 'once';
  return count === 2 ? 'twice' : `${count} times`;
}

/** `5 ms`, `1.5 s`, `42 s`, `7 min`, `3 h`. A negative time counts as none. */
export function roundedDuration(ms: number): string {
  if (ms < 1) return '0 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
