import type { VNode } from 'preact';
import { snapshotAddress } from '../browser-stream.ts';
import { keyHelp } from './keys.ts';

const helpId = 'help';

export function openHelp(): void {
  const dialog = document.getElementById(helpId);
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}

/** The text of the licences stands in the page itself, put there when it is built. */
function licences(): string {
  return document.getElementById('licences')?.textContent?.trim() ?? '';
}

export function HelpDialog(): VNode {
  return (
    <dialog id={helpId} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {keyHelp.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        The same as JSON: <a href={snapshotAddress}>api/snapshot</a>. As text: <code>curl</code> the address of this page.
      </p>
      <details>
        <summary>Licences of what this page contains</summary>
        <pre>{licences()}</pre>
      </details>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
