import type { VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { ConnectionPill } from './connection-pill.tsx';
import { openHelp } from './help-dialog.tsx';
import { togglePause } from './keys.ts';
import { nextTheme, theme } from './theme.ts';

export function TopBar({ model }: { readonly model: Model }): VNode {
  const { node } = model.summary ?? {};
  const isPaused = model.connection.kind === 'paused';
  return (
    <header class="top-bar">
      <h1>
        <span class="product">pod status manager</span>
        {node === undefined ? null : <span class="node-name">{node.name}</span>}
      </h1>
      {node === undefined ? null : (
        <span class={`pill tone-${node.ready ? 'good' : 'bad'}`}>{node.ready ? 'node ready' : 'node not ready'}</span>
      )}
      <span class="spring" />
      <ConnectionPill model={model} />
      <button type="button" class="quiet" aria-keyshortcuts="p" onClick={() => togglePause(model)}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button
        type="button"
        class="quiet"
        onClick={nextTheme}
        aria-label={`Theme: ${theme()}. Change`}
        title={`Theme: ${theme()}`}
      >
        <span class="theme-icon" aria-hidden="true" />
      </button>
      <button type="button" class="quiet" aria-label="Help" aria-keyshortcuts="?" onClick={openHelp}>
        ?
      </button>
    </header>
  );
}
