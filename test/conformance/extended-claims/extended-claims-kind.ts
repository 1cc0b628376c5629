import { falsifyOut } from '../kinds/falsify-out.ts';
import { memberDifferences } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import {
  type ExtendedClaimsCase,
  type ExtendedEnd,
  extendedClaimsCaseProblem,
  type PlayedExtended,
  type PluginRejection,
} from './extended-claims-case.ts';
import { playExtendedClaims } from './play-extended-claims.ts';

/** Recordings of what is done with a pod whose extended resources may be given as devices. */
export const extendedClaimsKind = replayedKind({
  problem: extendedClaimsCaseProblem,
  play: playExtendedClaims,
  judge: judgeExtendedClaims,
  falsify: falsifyOut,
});

/** What differs. The words of errors count where they say what happened to the claim, and else that there is one. */
export function judgeExtendedClaims({ out }: ExtendedClaimsCase, played: PlayedExtended): string[] {
  // ours says what it sets out to do, and a write that fails is told later
  const isError = out.postFilter === 'error';
  const [recorded, ours] = [out, played].map((one) => comparable(one, isError));
  return memberDifferences({ ...recorded }, { ...ours });
}

function comparable({ preFilter, failed, fits, postFilter, ...rest }: PlayedExtended, isError: boolean): object {
  return plain({
    ...rest,
    preFilter: isObject(preFilter) ? withoutText(preFilter) : preFilter,
    failed: failed && eachOf(failed, withoutText),
    fits: fits && eachOf(fits, comparableEnd),
    ...(!isError && { postFilter }),
  });
}

function comparableEnd({ error, undone, ...end }: ExtendedEnd): object {
  // ours gives all claims back at once
  const inOrder = Array.isArray(undone)
    ? undone.toSorted((one, other) => nameOf(one.what).localeCompare(nameOf(other.what)))
    : undone;
  // a node that fits counts where nothing is to be done on it
  return { ...end, undone: inOrder, error: error && wordsOf(error), isThere: true };
}

function wordsOf(error: unknown): unknown {
  return typeof error === 'string' ? (own.find((words) => error.includes(words)) ?? 'error') : error;
}

/** A falsified recording may lack it. */
function nameOf(what: unknown): string {
  return typeof what === 'string' ? what.slice(what.indexOf(' ') + 1) : '';
}

const own = ['refused', 'device binding failed', 'device binding timeout'];

function withoutText(rejection: PluginRejection): object {
  const { reasons, ...rest } = rejection;
  return rest.code === 'Error' ? rest : { ...rest, reasons };
}

function eachOf<T extends object>(members: Readonly<Record<string, T>>, change: (value: T) => object): object {
  if (!isObject(members)) return members;
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, isObject(value) ? change(value) : value]));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without what Go leaves out: empty texts, lists and objects, and what is absent. */
function plain(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (_key, member) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).filter(([, each]) => !isEmpty(each)));
  });
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === null) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
