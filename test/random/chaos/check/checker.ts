import { isDeepStrictEqual } from 'node:util';
import { isMirrorPod, type WirePod } from '../../../../src/index.ts';
import { ownerOfStatic } from '../life/pod-life.ts';
import type { Found } from '../rules.ts';
import { foreignParts } from '../said/foreign-steps.ts';
import { isByRival, type Ledger, type Statement } from '../said/ledger.ts';
import { isTerminal, markOf, type PlainStatus, plain } from '../said/plain-status.ts';
import { whatIsWrong } from './landed.ts';

/** One version of a pod, as it stood in a history. */
export interface Version {
  readonly revision: number;
  readonly pod: WirePod;
}

/** Told of the pod as it is now, and of the number of the statement that was written again. */
export type OnRepair = (pod: WirePod, number: number) => void;

/** Who wrote a version: the manager under test, another writer, or a writer that the history does not name. */
export type Writer = 'manager' | 'other' | 'unknown';

interface Seen {
  revision: number;
  pod: WirePod;
  status: PlainStatus;
  /** For each member of another writer, how many of its steps have been seen. */
  readonly steps: Map<string, number>;
}

/** The owner whose statuses may stand on this object of the apiserver: a pod's uid, or a static pod's name. */
export function ownerOf(pod: WirePod): string {
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  return isMirrorPod(pod) ? ownerOfStatic(namespace, name) : uid;
}

/**
 * Reads every version of every pod in order and holds it against the ledger: each status is, whole, one that the agent
 * said of this pod, and no older one than before; what others wrote is as they wrote it; only pods that have ended are removed.
 */
export class Checker {
  readonly name: string;
  versions = 0;
  /** How often the history had a hole. Changes within a hole are not judged. */
  gaps = 0;
  readonly #ledger: Ledger;
  readonly #found: Found;
  readonly #onRepair: OnRepair;
  readonly #pods = new Map<string, Seen>();
  /** By owner, the number of the newest statement that has been seen on the server. */
  readonly #positions = new Map<string, number>();

  /** `onRepair` is called for each write of a status that was written before and that another writer has changed since. */
  constructor(name: string, ledger: Ledger, found: Found, onRepair: OnRepair = () => {}) {
    this.name = name;
    this.#onRepair = onRepair;
    this.#ledger = ledger;
    this.#found = (rule, detail) => found(rule, `${detail} (${name})`);
    ledger.addReader(name);
  }

  /** The number of the newest statement of this owner that has been seen; 0 for none. */
  position(owner: string): number {
    return this.#positions.get(owner) ?? 0;
  }

  set({ pod, revision }: Version, writer: Writer = 'unknown', afterGap = false): void {
    const uid = pod.metadata?.uid ?? '';
    const before = this.#pods.get(uid);
    if (before !== undefined && revision <= before.revision) return;
    this.versions++;
    const now: Seen = { revision, pod, status: plain(pod.status ?? ({} as object)), steps: before?.steps ?? new Map() };
    this.#pods.set(uid, now);
    this.#checkForeign(now, before, afterGap);
    if (writer === 'other') return;
    const isSame = before !== undefined && isDeepStrictEqual(now.status, before.status);
    if (isSame && (writer === 'unknown' || before.status === now.status)) return;
    this.#checkStatus(now, afterGap ? undefined : before, writer);
    if (isTerminal(now.status) && !isTerminal(before?.status) && this.#ledger.lifeOf(ownerOf(pod))?.couldRun) {
      this.#found('no terminal phase while containers could run', `${where(now)} is ${now.status.phase}`);
    }
  }

  /** True when the history has come as far as this pod's newest version. */
  hasRead({ metadata }: WirePod): boolean {
    return this.#pods.get(metadata?.uid ?? '')?.revision === Number(metadata?.resourceVersion);
  }

  gone(uid: string, revision: number, writer: Writer = 'unknown'): void {
    const seen = this.#pods.get(uid);
    this.#pods.delete(uid);
    if (seen === undefined || writer === 'other') return;
    if (!isMirrorPod(seen.pod)) this.#ledger.reached(this.name, uid, Number.POSITIVE_INFINITY);
    if (writer === 'unknown' && this.#ledger.mayVanish(uid, hasEnded(seen.pod))) return;
    const allowed = this.#ledger.removalAllowed(uid) ?? 'never';
    this.checkDeletion(
      seen.pod,
      `${where(seen)}, ${seen.pod.status?.phase}, gone at revision ${revision}, others may remove it ${allowed}`,
    );
  }

  /** Compares a deletion by the manager with what is true. `pod` is as it stood before. */
  checkDeletion(pod: WirePod, what: string): void {
    const rule = 'only what has ended is deleted';
    const life = this.#ledger.life(pod.metadata?.uid ?? '');
    if (pod.metadata?.deletionTimestamp === undefined) this.#found(rule, `${what}: no user has deleted it`);
    else if (!hasEnded(pod)) this.#found(rule, `${what}: its phase is ${pod.status?.phase}`);
    else if (life?.couldRun !== false) this.#found(rule, `${what}: containers run`);
    else if (!life.reclaimed) this.#found(rule, `${what}: something of it is left on the node`);
  }

  /** The history begins anew with this full list. */
  relist(versions: readonly Version[]): void {
    this.gaps++;
    const listed = new Set(versions.map(({ pod }) => pod.metadata?.uid ?? ''));
    for (const uid of this.#pods.keys()) if (!listed.has(uid)) this.#pods.delete(uid);
    for (const version of versions) this.set(version, 'unknown', true);
  }

  /** True when this status of the owner's pod is, whole, what was said at `number` or later. */
  shows(pod: WirePod, number: number): boolean {
    const owner = ownerOf(pod);
    if (this.position(owner) >= number) return true;
    const found = plain(pod.status ?? {});
    const said = this.#ledger.statements(markOf(pod.status) ?? 0).filter((s) => s.owner === owner && s.number >= number);
    const landing = { before: undefined, overwritten: typesOfRivals(found), mayBeHeldBack: true };
    return said.some(({ status }) => whatIsWrong(status, found, landing).length === 0);
  }

  #checkStatus(now: Seen, before: Seen | undefined, writer: Writer): void {
    const mark = markOf(now.pod.status);
    const rule = 'nothing older lands after something newer';
    if (mark === undefined) {
      const old = markOf(before?.pod.status);
      if (old !== undefined) this.#found(rule, `${where(now)} has lost its status: mark ${old} before, none now`);
      return;
    }
    const owner = ownerOf(now.pod);
    const setFor = this.#ledger.ownerOf(mark);
    if (setFor !== owner) {
      this.#found('no other pod is touched', `${where(now)} shows mark ${mark}, which was set for ${setFor}`);
      return;
    }
    const position = this.position(owner);
    const left = this.#ledger.statements(mark).filter(({ number }) => number >= position);
    if (left.length === 0) {
      this.#found(rule, `${where(now)} shows mark ${mark}, and a newer one was there before`);
      return;
    }
    this.#match(now, before, left, writer);
  }

  #match(now: Seen, before: Seen | undefined, candidates: readonly Statement[], writer: Writer): void {
    const overwritten = writer === 'unknown' ? typesOfRivals(now.status) : undefined;
    let wrong: string[] = [];
    for (const { number, status, owner } of candidates) {
      wrong = whatIsWrong(status, now.status, {
        before: before?.status,
        ...(overwritten && { overwritten }),
        mayBeHeldBack: true,
      });
      if (wrong.length > 0) continue;
      if (number === this.position(owner)) this.#onRepair(now.pod, number);
      this.#positions.set(owner, number);
      this.#ledger.reached(this.name, owner, number);
      return;
    }
    this.#found('what lands is what the agent said', `${where(now)}: ${wrong.join('; ')}`);
  }

  #checkForeign(now: Seen, before: Seen | undefined, afterGap: boolean): void {
    const rule = 'no other writer’s data is touched';
    const uid = now.pod.metadata?.uid ?? '';
    const found = foreignParts(now.pod);
    for (const key of new Set([...now.steps.keys(), ...found.keys()])) {
      const steps = this.#ledger.foreign.of(uid, key);
      const position = now.steps.get(key) ?? 0;
      const content = found.get(key);
      if (steps[position] === content) continue;
      const next = steps.indexOf(content, position + 1);
      now.steps.set(key, next < 0 ? position : next);
      if (next === position + 1 || (afterGap && next >= 0)) continue;
      const wanted = `${steps[position] ?? 'nothing'} or ${steps[position + 1] ?? 'nothing'}`;
      this.#found(rule, `${where(now)}: ${key} is ${content ?? 'gone'} instead of ${wanted}`);
    }
    if (before === undefined || before.pod === now.pod) return;
    const { qosClass } = before.pod.status ?? {};
    if (now.pod.status?.qosClass !== qosClass) this.#found(rule, `${where(now)}: qosClass is no longer ${qosClass}`);
    const isSameSpec = now.pod.spec === before.pod.spec || isDeepStrictEqual(now.pod.spec, before.pod.spec);
    if (!isSameSpec) this.#found(rule, `${where(now)}: its spec has changed`);
  }
}

/** The agent's condition types that another writer wrote last. */
function typesOfRivals({ conditions }: PlainStatus): ReadonlySet<string> {
  const byRivals = Object.values(conditions).filter(isByRival);
  return new Set(byRivals.map(({ type }) => type));
}

/** A mirror pod never ends: it goes when its static pod does. */
function hasEnded(pod: WirePod): boolean {
  return isTerminal(pod.status) && !isMirrorPod(pod);
}

function where({ pod: { metadata }, revision }: Seen): string {
  return `${metadata?.name} (${metadata?.uid}) at revision ${revision}`;
}
