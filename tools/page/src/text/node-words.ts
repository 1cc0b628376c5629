import type { FleetSortKey } from '../../../../src/observe/debug/fleet-query.ts';
import type { Tone } from './sync-words.ts';

/** In the order in which they are shown. */
export const fleetStates = ['failed', 'unowned', 'starting', 'stopping', 'running', 'elsewhere'] as const;

const tones: Readonly<Record<string, Tone>> = {
  failed: 'bad',
  unowned: 'bad',
  starting: 'busy',
  stopping: 'busy',
  running: 'good',
};

/** A state that this page does not know is shown as it is. */
export function toneOfNode(state: string): Tone {
  return Object.hasOwn(tones, state) ? (tones[state] ?? 'idle') : 'idle';
}

/** The columns of the table of nodes, each with the order that it stands for. */
export const fleetColumns: readonly (readonly [key: FleetSortKey, cell: string, title: string])[] = [
  ['name', 'name', 'Node'],
  ['need', 'why', 'Why'],
  ['state', 'state', 'State'],
  ['owner', 'owner', 'Owner'],
  ['shard', 'shard', 'Shard'],
  ['since', 'since', 'Since'],
];
