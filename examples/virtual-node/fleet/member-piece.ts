import type { Piece } from '../view.ts';
import type { MemberHandle } from './member-handle.ts';

export type ShownMember = Pick<MemberHandle, 'id' | 'state' | 'isAlive' | 'isFrozen' | 'isLeaving'>;

/** A member in the row of all members. */
export function memberPiece({ id, state, isAlive, isFrozen, isLeaving }: ShownMember): Piece {
  if (!isAlive) return { text: `${id} has ended`, style: 'dim' };
  if (isFrozen) return { text: `${id} frozen`, style: 'red' };
  const text = state === undefined ? `${id} starts` : `${id} ${state.shards} shards ${state.running} nodes`;
  return isLeaving ? { text: `${text}, leaves`, style: 'yellow' } : { text };
}
