import type { VNode } from 'preact';
import type { DebugNote } from '../../../../src/observe/debug/debug-api.ts';
import { noteText } from '../../../../src/observe/debug/debug-notes.ts';
import type { Model } from '../model/model.ts';
import { duration } from '../text/format.ts';
import { Sign } from './trouble.tsx';

/** The others are shown on demand: the table is to stay in sight. */
const shownAtOnce = 3;

/** What the reader must know before anything else on the page. */
export function Notices({ model }: { readonly model: Model }): VNode | null {
  const { connection, summary } = model;
  const notices: VNode[] = [];
  if (connection.kind === 'waiting') notices.push(<Lost model={model} at={connection.at} />);
  // a manager tells that itself, as a problem
  if (summary?.notes.length === 0 && summary.state !== 'running' && summary.state !== 'none') {
    notices.push(<p class="notice tone-late">The status manager is {summary.state}.</p>);
  }
  if (summary?.pausedUntil !== undefined && summary.pausedUntil > model.now()) {
    const wait = duration(summary.pausedUntil - model.now());
    notices.push(
      <p class="notice tone-late">
        All requests wait for another {wait}: the apiserver has asked for that, or there are no valid credentials.
      </p>,
    );
  }
  const notes = (summary?.notes ?? []).map((note) => (
    <Note key={`${note.of} ${note.kind} ${note.podUID}`} model={model} note={note} />
  ));
  notices.push(...notes.slice(0, shownAtOnce));
  if (notes.length > shownAtOnce) {
    notices.push(
      <details>
        <summary>{notes.length - shownAtOnce} more</summary>
        <div class="notices">{notes.slice(shownAtOnce)}</div>
      </details>,
    );
  }
  return notices.length === 0 ? null : <div class="notices">{notices}</div>;
}

/** Leads to the pod that it names, else to the part whose it is. */
function Note({ model, note }: { readonly model: Model; readonly note: DebugNote }): VNode {
  const { of, podUID } = note;
  const text = noteText(note, model.now());
  const href = model.addressOf(podUID === undefined ? { part: of === 'manager' ? undefined : of } : { podUID });
  return (
    <p class="notice tone-bad">
      <Sign /> {podUID === undefined && of === 'manager' ? <span>{text}</span> : <a href={href}>{text}</a>}
    </p>
  );
}

function Lost({ model, at }: { readonly model: Model; readonly at: number }): VNode {
  const seconds = Math.max(0, Math.ceil((at - Date.now()) / 1000));
  return (
    <p class="notice tone-bad">
      <span>
        The server cannot be reached. What is shown is old. The next attempt is {seconds === 0 ? 'now' : `in ${seconds} s`}.
      </span>{' '}
      <button type="button" onClick={() => model.hurry()}>
        Try now
      </button>
    </p>
  );
}
