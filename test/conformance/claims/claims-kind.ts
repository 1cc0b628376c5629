import { falsifyOut } from '../kinds/falsify-out.ts';
import { memberDifferences } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import {
  type ClaimsCase,
  claimsCaseProblem,
  type PlayedClaims,
  type RecordedEnd,
  type RecordedRejection,
} from './claims-case.ts';
import { playClaims } from './play-claims.ts';

/** Recordings of what the plugin for claims of devices does with a pod. */
export const claimsKind = replayedKind({
  problem: claimsCaseProblem,
  play: playClaims,
  judge: judgeClaims,
  falsify: falsifyOut,
});

/** What differs. Of an error that is not one of the claim's own it counts that there is one. */
export function judgeClaims({ out }: ClaimsCase, played: PlayedClaims): string[] {
  // ours writes the newest version where upstream gives up: C111
  const isGivenUp = out.postFilter === 'error';
  const [recorded, ours] = [out, played].map((one) => comparable(one, isGivenUp));
  return memberDifferences({ ...recorded }, { ...ours });
}

function comparable(given: PlayedClaims, isGivenUp: boolean): object {
  const { preFilter, failed, fits, postFilter, writes, ...rest } = given;
  return plain({
    ...rest,
    preFilter: preFilter && withoutText(preFilter),
    failed: eachOf(failed, withoutText),
    fits: eachOf(fits, comparableEnd),
    ...(isGivenUp ? {} : { postFilter, writes }),
  });
}

function comparableEnd({ error, undone, ...end }: RecordedEnd): object {
  // ours gives all claims back at once
  const inOrder = undone?.toSorted((one, other) => (one.what < other.what ? -1 : 1));
  return { ...end, undone: inOrder, error: error && (own.find((words) => error.includes(words)) ?? 'error') };
}

const own = [
  'got allocated elsewhere in the meantime',
  'got deallocated elsewhere in the meantime',
  'got deleted in the meantime',
  'device binding failed',
  'device binding timeout',
];

function withoutText({ code, reasons }: RecordedRejection): object {
  return code === 'Error' ? { code } : { code, reasons };
}

function eachOf<T>(members: Readonly<Record<string, T>> | undefined, change: (value: T) => object): object | undefined {
  return members && Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));
}

/** Without what Go leaves out: empty texts, lists and objects, and what is absent. */
function plain(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (_key, member) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).filter(([, each]) => !isEmpty(each)));
  });
}

function isEmpty(value: unknown): boolean {
  if (value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
