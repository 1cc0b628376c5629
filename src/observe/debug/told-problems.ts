import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
import type { DebugCall, DebugProblem } from './debug-api.ts';

// What an injected part says of problems is read with care: it may answer anything, and of each text only so much is kept.

const longestHelp = 600;
/** Of a kind, and of a state. */
const longestWord = 60;
/** Of a uid, a namespace and a name: Kubernetes takes none that is longer. */
const longestName = 253;
/** No date holds a later time, in milliseconds since the epoch. */
const latestTime = 8.64e15;

/** So many problems of one answer are read. */
const problemsAtMost = 1_000;

/** Undefined for what is no problem. */
export function problemOf(told: unknown): DebugProblem | undefined {
  return callGuarded(() => readProblem(told), ignoreFailure);
}

/** The first 1000 of a list, without those that are none; empty for what is no list. */
export function problemsOf(told: unknown): DebugProblem[] {
  return listOf(told).flatMap((one) => problemOf(one) ?? []);
}

/** The first members of a list, 1000 of them where nothing else is said; empty for what is no list. */
export function listOf(told: unknown, atMost = problemsAtMost): unknown[] {
  return callGuarded(() => (Array.isArray(told) ? told.slice(0, atMost) : []), ignoreFailure) ?? [];
}

function readProblem(told: unknown): DebugProblem | undefined {
  if (typeof told !== 'object' || told === null) return undefined;
  const { kind, message, since, attempt, retryAt, help, podUID, podNamespace, podName } = told as Record<string, unknown>;
  if (typeof message !== 'string' || message.trim() === '') return undefined;
  const [at, next] = [timeOf(since), timeOf(retryAt)];
  return frozenProblem({
    kind: wordOf(kind) ?? 'unknown',
    message,
    ...(at !== undefined && { since: at }),
    attempt: typeof attempt === 'number' && attempt > 0 && Number.isSafeInteger(attempt) ? attempt : 0,
    ...(next !== undefined && { retryAt: next }),
    ...(typeof help === 'string' && help !== '' && { help: oneLine(help).slice(0, longestHelp) }),
    ...(isUID(podUID) && { podUID, podNamespace: nameOf(podNamespace), podName: nameOf(podName) }),
  });
}

/** The problem without the pod's names, which its row has. */
export function bareProblem({ kind, message, since, attempt, retryAt, help }: Problem): Problem {
  return {
    kind,
    message,
    ...(since !== undefined && { since }),
    attempt,
    ...(retryAt !== undefined && { retryAt }),
    ...(help !== undefined && { help }),
  };
}

/** Undefined for what is no call, or one that nobody knows the begin of. */
export function callOf(told: unknown): DebugCall | undefined {
  if (typeof told !== 'object' || told === null) return undefined;
  const { method, since } = told as Record<string, unknown>;
  const [name, at] = [wordOf(method), timeOf(since)];
  return name === undefined || at === undefined ? undefined : { method: oneLine(name), since: at };
}

/** Times that differ by less are equal, in milliseconds: who counts them anew at each look is not exact. */
const nearMs = 1_000;

/** Also true where times have moved by less than a second. Compare with what was told last, so that small steps add up. */
export function isSameProblem(a: Problem | undefined, b: Problem | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.kind === b.kind &&
    a.message === b.message &&
    isNear(a.since, b.since) &&
    a.attempt === b.attempt &&
    isNear(a.retryAt, b.retryAt) &&
    a.help === b.help
  );
}

/** True for times that are less than a second apart, and for two that are not known. */
export function isNear(a: number | undefined, b: number | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && Math.abs(a - b) < nearMs);
}

/** A text that names a pod's object; a longer one than Kubernetes takes is no uid. */
export function isUID(told: unknown): told is string {
  return typeof told === 'string' && told !== '' && told.length <= longestName;
}

/** Empty for what is no name. */
export function nameOf(told: unknown): string {
  return typeof told === 'string' ? told.slice(0, longestName) : '';
}

/** Undefined for what is no word. */
export function wordOf(told: unknown): string | undefined {
  return typeof told === 'string' && told !== '' ? told.slice(0, longestWord) : undefined;
}

export function timeOf(told: unknown): number | undefined {
  return typeof told === 'number' && Math.abs(told) <= latestTime ? told : undefined;
}

function oneLine(text: string): string {
  return text
    .slice(0, 2 * longestHelp)
    .replace(/\s+/g, ' ')
    .trim();
}
