import type { WirePod } from '../../src/wire/types.ts';
import type { ServedPod } from '../support/answers.ts';
import { foreignConditions, type Journal, markOf, ownerOfPod } from './journal.ts';

export const damageKinds = ['out of order', 'foreign damage', 'wrong pod', 'wrongly removed', 'torn'] as const;
export type DamageKind = (typeof damageKinds)[number];

export interface Damage {
  readonly kind: DamageKind;
  readonly detail: string;
}

/** One version of a pod, as it stood in a history. */
export interface Version {
  readonly revision: number;
  readonly pod: WirePod;
}

interface Seen {
  mark: number | undefined;
  revision: number;
  /** A node agent's pod at its end: asked to go, and ended. */
  ended: boolean;
  /** For each foreign type, how many of its writer's steps have been seen. */
  readonly steps: Map<string, number>;
}

/**
 * Reads every version of every pod in order and holds it against the journal: marks only grow and are this pod's own,
 * foreign conditions are what their writers made of them, nobody's pod is removed.
 */
export class Checker {
  readonly name: string;
  readonly damage: Damage[] = [];
  versions = 0;
  /** How often the history had a hole: what happened there is not judged. */
  gaps = 0;
  readonly #journal: Journal;
  readonly #pods = new Map<string, Seen>();
  readonly #newestMark = new Map<string, number>();

  constructor(name: string, journal: Journal) {
    this.name = name;
    this.#journal = journal;
  }

  set({ pod, revision }: Version, afterGap = false): void {
    const uid = pod.metadata?.uid ?? '';
    const seen = this.#pods.get(uid) ?? { mark: undefined, revision: 0, ended: false, steps: new Map<string, number>() };
    if (revision <= seen.revision) return;
    this.#pods.set(uid, seen);
    this.versions++;
    seen.revision = revision;
    this.#checkMark(pod, seen, revision);
    this.#checkForeign(pod, uid, seen, revision, afterGap);
    const phase = pod.status?.phase;
    const mayEnd = pod.metadata?.annotations?.['kubernetes.io/config.mirror'] === undefined;
    seen.ended = mayEnd && pod.metadata?.deletionTimestamp !== undefined && (phase === 'Succeeded' || phase === 'Failed');
  }

  /** True when the history has come as far as this pod's newest version. */
  hasRead({ metadata }: ServedPod): boolean {
    return this.#pods.get(metadata.uid)?.revision === Number(metadata.resourceVersion);
  }

  gone(uid: string, revision: number): void {
    const seen = this.#pods.get(uid);
    this.#pods.delete(uid);
    if (seen === undefined || seen.ended || this.#journal.mayVanish(uid)) return;
    this.#found('wrongly removed', `pod ${uid} is gone at revision ${revision}: it had not ended, and nobody had asked for it`);
  }

  /** The history begins anew with this full list. */
  relist(versions: readonly Version[]): void {
    this.gaps++;
    const listed = new Set(versions.map(({ pod }) => pod.metadata?.uid ?? ''));
    for (const uid of this.#pods.keys()) if (!listed.has(uid)) this.#pods.delete(uid);
    for (const version of versions) this.set(version, true);
  }

  #checkMark(pod: WirePod, seen: Seen, revision: number): void {
    const mark = markOf(pod);
    const owner = ownerOfPod(pod);
    const where = `pod ${pod.metadata?.name} at revision ${revision}`;
    if (mark === undefined) {
      if (seen.mark !== undefined)
        this.#found('out of order', `${where} has lost its status: mark ${seen.mark} before, none now`);
      return;
    }
    const newest = this.#newestMark.get(owner) ?? 0;
    if (this.#journal.ownerOf(mark) !== owner) {
      this.#found('wrong pod', `${where} shows mark ${mark}, which was set for ${this.#journal.ownerOf(mark)}, not for ${owner}`);
    } else if (mark < newest) this.#found('out of order', `${where} shows mark ${mark} after mark ${newest}`);
    const restarts = pod.status?.containerStatuses?.[0]?.restartCount;
    if (restarts !== mark) this.#found('torn', `${where} shows mark ${mark} with a restart count of ${restarts}`);
    seen.mark = mark;
    this.#newestMark.set(owner, Math.max(mark, newest));
  }

  #checkForeign(pod: WirePod, uid: string, seen: Seen, revision: number, afterGap: boolean): void {
    const found = foreignConditions(pod);
    for (const type of new Set([...seen.steps.keys(), ...found.keys()])) {
      const steps = this.#journal.foreignSteps(uid, type);
      const position = seen.steps.get(type) ?? 0;
      const content = found.get(type);
      if (steps[position] === content) continue;
      const next = steps.indexOf(content, position + 1);
      seen.steps.set(type, next < 0 ? position : next);
      if (next === position + 1 || (afterGap && next >= 0)) continue;
      const wanted = `${steps[position] ?? 'nothing'} or ${steps[position + 1] ?? 'nothing'}`;
      this.#found('foreign damage', `${uid} at revision ${revision}: ${type} is ${content ?? 'gone'} instead of ${wanted}`);
    }
  }

  #found(kind: DamageKind, detail: string): void {
    this.damage.push({ kind, detail: `${detail} (${this.name})` });
  }
}
