import type { VNode } from 'preact';
import type { ConnectionState } from '../model/connection.ts';
import type { Model } from '../model/model.ts';
import type { Tone } from '../text/sync-words.ts';

const looks: Readonly<Record<ConnectionState['kind'], { readonly tone: Tone; readonly text: string }>> = {
  connecting: { tone: 'busy', text: 'Connecting' },
  live: { tone: 'good', text: 'Live' },
  paused: { tone: 'idle', text: 'Paused' },
  waiting: { tone: 'bad', text: 'No connection' },
};

/** The state of the connection, which a screen reader speaks when it changes. */
export function ConnectionPill({ model }: { readonly model: Model }): VNode {
  const { tone, text } = looks[model.connection.kind];
  return (
    <span class={`pill tone-${tone}`} role="status" id="connection">
      {text}
    </span>
  );
}
