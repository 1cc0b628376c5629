import type { VNode } from 'preact';
import type { DebugPathChange } from '../../../../src/observe/debug/debug-api.ts';
import { manyLines, oneLine } from '../text/json-text.ts';

/** A value up to this length stays on one line. */
const shortText = 60;
/** The first changes are shown at once, the others on demand: the first status of a pod changes everything. */
const shownAtOnce = 12;

export function ChangeList({ changes }: { readonly changes: readonly DebugPathChange[] }): VNode | null {
  if (changes.length === 0) return null;
  const rest = changes.slice(shownAtOnce);
  return (
    <>
      <Changes changes={changes.slice(0, shownAtOnce)} />
      {rest.length === 0 ? null : (
        <details>
          <summary>{rest.length} more</summary>
          <Changes changes={rest} />
        </details>
      )}
    </>
  );
}

function Changes({ changes }: { readonly changes: readonly DebugPathChange[] }): VNode {
  return (
    <ul class="changes">
      {changes.map(({ path, element, before, after }) => (
        <li key={path}>
          <code class="path">{path === '' ? '(all)' : path}</code>
          {element === undefined ? null : <span class="muted"> {element}</span>}
          {before === undefined ? null : <Value sign="−" name="before" value={before} />}
          {after === undefined ? null : <Value sign="+" name="after" value={after} />}
        </li>
      ))}
    </ul>
  );
}

interface ValueProps {
  readonly sign: string;
  readonly name: 'before' | 'after';
  readonly value: unknown;
}

function Value({ sign, name, value }: ValueProps): VNode {
  const short = oneLine(value);
  return (
    <div class={`value ${name}`}>
      <span aria-hidden="true">{sign}</span>
      <span class="unseen">{name}: </span>
      <code>{short.length <= shortText || typeof value === 'string' ? short : manyLines(value)}</code>
    </div>
  );
}
