import { isDeepStrictEqual } from 'node:util';
import { comparable } from './canonical.ts';
import type { Arrived, Deletion, Patched } from './replay-client.ts';
import { preconditions } from './replay-client.ts';
import type { Write } from './replay-scenario.ts';
import type { World } from './replay-world.ts';
import { utcSecond } from './seconds.ts';

/** A write that upstream would make of the same status at no moment. No rule excuses it. */
export interface WrongWrite {
  readonly pod: string;
  readonly expected: unknown;
  readonly got: unknown;
}

export interface OwnWritesContext {
  readonly world: World;
  readonly conditionOrder: boolean;
  readonly hasUnseenWrite: (pod: string) => boolean;
}

/** Our writes of one step, by what they did, and what is wrong with them. */
export class OwnWrites {
  readonly writes: Write[] = [];
  readonly wrong: WrongWrite[] = [];
  readonly #world: World;
  readonly #conditionOrder: boolean;
  readonly #hasUnseenWrite: (pod: string) => boolean;

  /** `hasUnseenWrite`: another writer has changed the pod, and nothing has shown ours that (D3). */
  constructor(
    { world, conditionOrder, hasUnseenWrite }: OwnWritesContext,
    arrived: readonly Arrived[],
    finished: ReadonlySet<string>,
  ) {
    this.#world = world;
    this.#conditionOrder = conditionOrder;
    this.#hasUnseenWrite = hasUnseenWrite;
    for (const { pod, at, patched, deletion } of arrived) {
      if (patched !== undefined) this.#patched(pod, patched, utcSecond(at));
      if (deletion !== undefined) this.#deleted(pod, deletion, finished, utcSecond(at));
    }
  }

  /** A PATCH leaves what the merge of the newest status makes; it touches what it changes, and names the pod it is for. */
  #patched(pod: string, { before, after, patch, cached }: Patched, now: string): void {
    const uid = before.metadata?.uid ?? '';
    const effect = (status: unknown): unknown => comparable(status, this.#conditionOrder);
    const [found, left] = [effect(before.status), effect(after.status)];
    const expected = cached && effect(this.#world.written(pod, { uid, status: before.status ?? {} }, cached, now));
    if (!isDeepStrictEqual(expected, left)) this.#isWrong(pod, expected, left);
    const named = preconditions(patch.body).uid;
    if (named !== uid) this.#isWrong(pod, { uid }, { uid: named });
    const [changed, touched] = [changedMembers(found, left), touchedMembers(patch.body)];
    if (!isDeepStrictEqual(changed, touched)) this.#isWrong(pod, { touches: changed }, { touches: touched });
    this.writes.push({ verb: 'patch', pod, status: after.status ?? {} });
  }

  /** A DELETE is due, names the pod it is for, and leaves nothing of the newest status unwritten that ours could know of. */
  #deleted(pod: string, { before, cached, uid, gracePeriodSeconds }: Deletion, finished: ReadonlySet<string>, now: string): void {
    const { uid: found = '', deletionTimestamp } = before.metadata ?? {};
    const stored = { uid: found, deleting: Boolean(deletionTimestamp), status: before.status ?? {} };
    const isLast = cached !== undefined && this.#world.dueOf(pod, stored, cached, finished, now) === 'delete';
    if (!(isLast || this.#hasUnseenWrite(pod)) || gracePeriodSeconds !== 0 || uid !== found)
      this.#isWrong(pod, 'no DELETE', { stored, uid, gracePeriodSeconds });
    this.writes.push({ verb: 'delete', pod, uid, gracePeriodSeconds });
  }

  #isWrong(pod: string, expected: unknown, got: unknown): void {
    this.wrong.push({ pod, expected, got });
  }
}

function changedMembers(before: unknown, after: unknown): string[] {
  const [old, next] = [(before ?? {}) as Record<string, unknown>, (after ?? {}) as Record<string, unknown>];
  const members = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...members].filter((member) => !isDeepStrictEqual(old[member], next[member])).sort();
}

/** The members of the status that a patch names, whatever it does to them. */
function touchedMembers(body: unknown): string[] {
  const named = Array.isArray(body)
    ? body
        .filter(({ op, path }) => op !== 'test' && String(path).startsWith('/status'))
        .map(({ path }) => String(path).split('/')[2] ?? '')
    : Object.keys((body as { status?: object }).status ?? {}).map((member) => member.replace(/^\$[^/]*\//, ''));
  return [...new Set(named)].sort();
}
