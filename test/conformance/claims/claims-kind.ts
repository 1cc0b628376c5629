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

/** What differs, but for what each of the rules below excuses. */
export function judgeClaims(recorded: ClaimsCase, played: PlayedClaims): string[] {
  const refused = nodesWithOtherDevices(recorded, played);
  const [expected, got] = [lookedAtAnew(recorded), inOrderOfClaims(recorded, played)].map((one) => without(one, refused));
  return memberDifferences({ ...inKnownWords(expected ?? {}) }, { ...inKnownWords(got ?? {}) });
}

/** C117: upstream binds the pod with whatever devices its claim has by then; ours binds it to none that were not looked at. */
function nodesWithOtherDevices({ claims, server = [] }: ClaimsCase, { fits = {} }: PlayedClaims): string[] {
  const hasOthers = server.some(({ metadata, status }) => {
    const seen = claims.find((claim) => claim.metadata?.name === metadata?.name)?.status?.allocation;
    return seen != null && status?.allocation != null && JSON.stringify(seen) !== JSON.stringify(status.allocation);
  });
  return Object.keys(fits).filter((node) => hasOthers && fits[node]?.error?.includes('got allocated elsewhere'));
}

function without({ fits, ...rest }: PlayedClaims, nodes: readonly string[]): PlayedClaims {
  if (fits === undefined) return rest;
  return { ...rest, fits: Object.fromEntries(Object.entries(fits).filter(([node]) => !nodes.includes(node))) };
}

/** C111: where the claim has changed that is to lose its devices, upstream gives up, and ours looks at the newest version. */
function lookedAtAnew({ out, pod, server = [] }: ClaimsCase): PlayedClaims {
  if (out.postFilter !== 'error') return out;
  const idle = server.filter(({ status }) => {
    const users = status?.reservedFor ?? [];
    return status?.allocation != null && users.every(({ uid }, index) => index === 0 && uid === pod.metadata?.uid);
  });
  const writes = idle.map(({ metadata }) => ({ what: `status ${metadata?.name}`, status: {} }));
  return { ...(writes.length > 0 && { writes }), ...out, postFilter: 'deallocation of ResourceClaim completed' };
}

/** Upstream gives claims back one after the other, ours all at once: which of them the server has first is not ours to say. */
function inOrderOfClaims({ claims }: ClaimsCase, { fits, ...played }: PlayedClaims): PlayedClaims {
  const placeOf = ({ what }: { readonly what: string }): number =>
    claims.findIndex(({ metadata }) => what === `status ${metadata?.name}`);
  const sorted = ({ undone, ...end }: RecordedEnd): RecordedEnd => ({
    ...end,
    ...(undone && { undone: undone.toSorted((one, other) => placeOf(one) - placeOf(other)) }),
  });
  return { ...played, ...(fits && { fits: eachOf(fits, sorted) }) };
}

/** The words of two errors are not upstream's own, or chance: those of cel-go, and by what it has noticed that the time is over. */
function inKnownWords({ failed, fits, ...rest }: PlayedClaims): PlayedClaims {
  const known = (end: RecordedEnd): RecordedEnd => ({
    ...end,
    ...(end.error && { error: end.error.replace(/^device binding timeout: claim=\S+$/, 'device binding timeout') }),
  });
  return {
    ...rest,
    ...(failed && { failed: eachOf(failed, withoutCause) }),
    ...(fits && { fits: eachOf(fits, known) }),
  };
}

/** Of a selector that fails it counts whose it is, its number, and whether it fails in itself or at a device. */
function withoutCause(rejection: RecordedRejection): RecordedRejection {
  if (rejection.code !== 'Error' || !Array.isArray(rejection.reasons)) return rejection;
  const reasons = rejection.reasons.map((reason) =>
    String(reason)
      .replace(
        /^((?:claim|class) \S+: selector #\d+): The device selector .* cannot be compiled: .*$/s,
        '$1: CEL compile error: ',
      )
      .replace(
        /^((?:claim|class) \S+: selector #\d+): The device selector .* failed at a device: .*$/s,
        '$1: CEL runtime error: ',
      )
      .replace(/^((?:claim|class) \S+: selector #\d+: CEL (?:compile|runtime) error: ).*$/s, '$1'),
  );
  return { ...rejection, reasons };
}

function eachOf<T>(members: Readonly<Record<string, T>>, change: (value: T) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));
}
