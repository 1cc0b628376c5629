import type { DebugPodRow } from '../../../../src/observe/debug/debug-api.ts';

export type Sync = DebugPodRow['sync'];
/** How a state is coloured: `good` needs nobody, `busy` moves by itself, `late` waits, `bad` needs somebody, `idle` is over. */
export type Tone = 'good' | 'busy' | 'late' | 'bad' | 'idle';

interface SyncWords {
  readonly tone: Tone;
  readonly meaning: string;
}

/** In the order in which the table sorts them: what needs somebody comes first. */
const words: Readonly<Record<Sync, SyncWords>> = {
  quarantined: {
    tone: 'bad',
    meaning: 'The apiserver refused the status. It is sent again when the status or the API copy changes.',
  },
  'backing-off': { tone: 'late', meaning: 'The last attempt failed. The next one waits for the backoff.' },
  paused: { tone: 'late', meaning: 'All requests wait: the apiserver has asked for that, or there are no valid credentials.' },
  pending: { tone: 'busy', meaning: 'The newest status is to be sent.' },
  'in-flight': { tone: 'busy', meaning: 'A request of the pod is under way.' },
  'not-started': { tone: 'idle', meaning: 'The status manager does not run.' },
  'terminal-phase-held-back': {
    tone: 'late',
    meaning: 'All but the terminal phase is sent. The phase waits until no container runs.',
  },
  deleting: { tone: 'busy', meaning: 'The pod is being deleted, and the apiserver keeps it for its finalizers.' },
  'no-mirror-pod': { tone: 'idle', meaning: 'A static pod without a mirror pod: there is no object to write to.' },
  gone: { tone: 'idle', meaning: 'The apiserver has no such pod any more.' },
  'cache-only': { tone: 'idle', meaning: 'The manager has no pod client: the status is only kept.' },
  unknown: { tone: 'idle', meaning: 'No status was set.' },
  'in-sync': { tone: 'good', meaning: 'The apiserver has the newest status.' },
};

/** A state that this page does not know, of a newer library, is shown as it is. */
function wordsOf(sync: Sync): SyncWords {
  return Object.hasOwn(words, sync) ? words[sync] : { tone: 'idle', meaning: '' };
}

export function toneOf(sync: Sync): Tone {
  return wordsOf(sync).tone;
}

export function meaningOf(sync: Sync): string {
  return wordsOf(sync).meaning;
}

export const syncStates = Object.keys(words) as readonly Sync[];

/** The place of a state in the table's order by state. */
export function rankOf(sync: Sync): number {
  const rank = syncStates.indexOf(sync);
  return rank < 0 ? syncStates.length : rank;
}
