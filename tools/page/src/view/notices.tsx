import type { VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { duration } from '../text/format.ts';

/** What the reader must know before anything else on the page. */
export function Notices({ model }: { readonly model: Model }): VNode | null {
  const { connection, summary } = model;
  const notices: VNode[] = [];
  if (connection.kind === 'waiting') notices.push(<Lost model={model} at={connection.at} />);
  if (summary !== undefined && summary.state !== 'running') {
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
  for (const note of summary?.node?.notes ?? []) notices.push(<p class="notice tone-late">{note}</p>);
  return notices.length === 0 ? null : <div class="notices">{notices}</div>;
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
