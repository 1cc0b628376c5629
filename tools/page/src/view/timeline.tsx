import type { VNode } from 'preact';
import type { DebugTimelineEntry } from '../../../../src/observe/debug/debug-api.ts';
import { count, duration, isoTime, timeOfDay } from '../text/format.ts';
import type { Tone } from '../text/sync-words.ts';
import { EntryBody } from './entry-body.tsx';

export interface TimelineProps {
  /** Oldest first; shown newest first. */
  readonly entries: readonly DebugTimelineEntry[];
  readonly droppedEntries: number;
}

export function Timeline({ entries, droppedEntries }: TimelineProps): VNode {
  if (entries.length === 0) return <p class="muted">Nothing was recorded of this pod yet.</p>;
  const newestFirst = entries.map((entry, index) => ({ entry, index, before: entries[index - 1] })).reverse();
  return (
    <>
      <ol class="timeline" reversed>
        {newestFirst.map(({ entry, index, before }) => (
          <li key={droppedEntries + index} class={`tone-${toneOfEntry(entry)}`}>
            <div class="when">
              <time dateTime={isoTime(entry.at)}>{timeOfDay(entry.at)}</time>
              {before === undefined || before.at > entry.at ? null : <span class="muted">+{duration(entry.at - before.at)}</span>}
            </div>
            <EntryBody entry={entry} />
          </li>
        ))}
      </ol>
      {droppedEntries === 0 ? null : <p class="muted">{count(droppedEntries)} older entries are no longer kept.</p>}
    </>
  );
}

function toneOfEntry(entry: DebugTimelineEntry): Tone {
  switch (entry.kind) {
    case 'set':
      return 'busy';
    case 'request':
      return entry.result === 'ok' ? 'idle' : 'bad';
    case 'synced':
      return 'good';
    case 'removed':
      return 'idle';
    default:
      return 'bad';
  }
}
