import type { WirePodCondition } from '../../../../src/index.ts';
import type { PodLife } from '../life/pod-life.ts';
import { ForeignSteps } from './foreign-steps.ts';
import type { PlainStatus } from './plain-status.ts';

/** Something the agent has said to the manager, and what of it must stand on the apiserver. */
export interface Statement {
  /** Larger than that of every statement before, of any pod. */
  readonly number: number;
  readonly mark: number;
  readonly owner: string;
  readonly status: PlainStatus;
}

/**
 * What each writer meant: what the agent said, of which pod; what the others wrote and deleted. The checks compare the apiserver
 * with it.
 */
export class Ledger {
  /** Calls of the agent that could change something. */
  updates = 0;
  readonly foreign = new ForeignSteps();
  readonly #lives = new Map<string, PodLife>();
  readonly #lifeOfOwner = new Map<string, PodLife>();
  readonly #newest = new Map<string, Statement>();
  /** Statements by mark. The list of a mark that no check needs any more is empty. */
  readonly #statements: Statement[][] = [[]];
  readonly #ownerOfMark: string[] = [''];
  /** The marks of an owner whose statements are still held. */
  readonly #held = new Map<string, number[]>();
  readonly #reached = new Map<string, Map<string, number>>();
  readonly #vanishing = new Map<string, 'by force' | 'when it has ended'>();
  #lastNumber = 0;

  life(uid: string): PodLife | undefined {
    return this.#lives.get(uid);
  }

  lives(): readonly PodLife[] {
    return [...this.#lives.values()];
  }

  lifeOf(owner: string): PodLife | undefined {
    return this.#lifeOfOwner.get(owner);
  }

  addLife(life: PodLife): PodLife {
    this.#lives.set(life.uid, life);
    this.#lifeOfOwner.set(life.owner, life);
    return life;
  }

  /** A mark larger than all before. */
  nextMark(owner: string): number {
    this.#statements.push([]);
    return this.#ownerOfMark.push(owner) - 1;
  }

  /** To be called before the manager is told. */
  record(owner: string, mark: number, status: PlainStatus): Statement {
    const statement = { number: ++this.#lastNumber, mark, owner, status };
    const sameMark = this.#statements[mark] ?? [];
    if (sameMark.length === 0) this.#held.set(owner, [...(this.#held.get(owner) ?? []), mark]);
    sameMark.push(statement);
    this.#newest.set(owner, statement);
    return statement;
  }

  newest(owner: string): Statement | undefined {
    return this.#newest.get(owner);
  }

  ownerOf(mark: number): string | undefined {
    return this.#ownerOfMark[mark];
  }

  /** The statements under this mark, in order, without those that no check needs any more. */
  statements(mark: number): readonly Statement[] {
    return this.#statements[mark] ?? [];
  }

  /** A check that reads a history, and tells how far it has come: see {@link reached}. */
  addReader(reader: string): void {
    this.#reached.set(reader, new Map());
  }

  /** This reader needs no statement of the owner before this number. A statement that no reader needs is forgotten. */
  reached(reader: string, owner: string, number: number): void {
    this.#reached.get(reader)?.set(owner, number);
    const by = Math.min(...[...this.#reached.values()].map((numbers) => numbers.get(owner) ?? 0));
    const marks = this.#held.get(owner) ?? [];
    const isNeeded = (mark: number): boolean => (this.#statements[mark]?.at(-1)?.number ?? 0) >= by;
    const first = marks.findIndex(isNeeded);
    const passed = first < 0 ? marks : marks.slice(0, first);
    for (const mark of passed) this.#statements[mark] = [];
    if (passed.length > 0) this.#held.set(owner, marks.slice(passed.length));
  }

  /** To be called before a writer other than the manager deletes this pod. */
  allowRemoval(uid: string, how: 'by force' | 'when it has ended'): void {
    if (this.#vanishing.get(uid) !== 'by force') this.#vanishing.set(uid, how);
  }

  /** What a writer other than the manager was allowed to do to this pod; undefined: nothing. */
  removalAllowed(uid: string): 'by force' | 'when it has ended' | undefined {
    return this.#vanishing.get(uid);
  }

  /** May this pod be gone without a DELETE of the manager? */
  mayVanish(uid: string, hasEnded: boolean): boolean {
    const how = this.removalAllowed(uid);
    return how === 'by force' || (how !== undefined && hasEnded);
  }
}

/** How the message of a condition begins that a rival writes, also where its type is the agent's. */
export const rivalMessage = 'rival step ';

/** True for a condition that a rival wrote, though its type may be the agent's. */
export function isByRival({ message }: Pick<WirePodCondition, 'message'>): boolean {
  return message?.startsWith(rivalMessage) === true;
}
