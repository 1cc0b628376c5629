import type { VNode } from 'preact';
import type { DebugTimelineEntry } from '../../../../src/observe/debug/debug-api.ts';
import { byteCount, duration } from '../text/format.ts';
import { manyLines, oneLine } from '../text/json-text.ts';
import { ChangeList } from './change-list.tsx';

type EntryOf<K extends DebugTimelineEntry['kind']> = Extract<DebugTimelineEntry, { readonly kind: K }>;

/** What an entry of the timeline says. */
export function EntryBody({ entry }: { readonly entry: DebugTimelineEntry }): VNode {
  switch (entry.kind) {
    case 'set':
      return <SetEntry entry={entry} />;
    case 'request':
      return <RequestEntry entry={entry} />;
    case 'synced':
      return <Line name="synced" text={syncedText(entry)} />;
    case 'error':
      return <Line name={`error: ${entry.errorClass}`} text={errorText(entry)} />;
    case 'refused':
      return <Line name="refused" text={entry.reason} />;
    case 'removed':
      return <Line name="removed" text="The manager has forgotten the pod." />;
    default:
      return <Line name="other" text={oneLine(entry)} />;
  }
}

function Line({ name, text }: { readonly name: string; readonly text: string }): VNode {
  return (
    <div class="entry">
      <strong>{name}</strong> <span>{text}</span>
    </div>
  );
}

function SetEntry({ entry }: { readonly entry: EntryOf<'set'> }): VNode {
  const { version, changes } = entry;
  const told = changes.length === 0 ? 'nothing changed' : `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`;
  return (
    <div class="entry">
      <strong>set{version === undefined ? '' : ` version ${version}`}</strong> <span class="muted">{told}</span>
      <ChangeList changes={changes} />
    </div>
  );
}

function RequestEntry({ entry }: { readonly entry: EntryOf<'request'> }): VNode {
  const { verb, result, durationMs, body, bytes, message } = entry;
  const size = bytes === undefined ? '' : `, ${byteCount(bytes)}`;
  return (
    <div class="entry">
      <strong>
        {verb.toUpperCase()} {result}
      </strong>{' '}
      <span class="muted">
        {duration(durationMs)}
        {size}
      </span>
      {message === undefined ? null : <p>{message}</p>}
      {body === undefined || body === null ? null : (
        <details class="wire">
          <summary>
            <span class="wire-label">on the wire</span> <code>{oneLine(body)}</code>
          </summary>
          <pre>{manyLines(body)}</pre>
        </details>
      )}
    </div>
  );
}

function syncedText({ version, patched, delayMs }: EntryOf<'synced'>): string {
  const how = patched ? 'the apiserver has taken it' : 'the apiserver said the same already';
  return `version ${version}: ${how}, ${duration(delayMs)} after it was set`;
}

function errorText({ message, attempt, retryInMs }: EntryOf<'error'>): string {
  const next = retryInMs === undefined ? 'not tried again by itself' : `next try in ${duration(retryInMs)}`;
  return `${message} (attempt ${attempt}, ${next})`;
}
