import type { DebugFleetMember, DebugFleetNodeRow } from './debug-fleet-api.ts';

// Words that the page and the text have in common.

/** `alive`, `leaving` or `gone`. */
export function memberState({ isAlive, isLeaving }: Pick<DebugFleetMember, 'isAlive' | 'isLeaving'>): string {
  if (!isAlive) return 'gone';
  return isLeaving ? 'leaving' : 'alive';
}

/** 0 for what has failed, 1 for what nobody serves, 2 for what moves, 3 for all else. */
export function needOf({ state, isMoving }: Pick<DebugFleetNodeRow, 'state' | 'isMoving'>): number {
  if (state === 'failed') return 0;
  if (state === 'unowned') return 1;
  return isMoving ? 2 : 3;
}
