import type { DebugSummary } from '../../../../src/observe/debug/debug-api.ts';
import { troubleCount } from '../../../../src/observe/debug/debug-notes.ts';
import type { Model } from '../model/model.ts';

const longestName = 100;

/** What the browser's tab says: how much is wrong, and of which node. */
function titleOf({ summary }: Pick<Model, 'summary'>): string {
  const wrong = summary === undefined ? 0 : troubleCount(summary);
  const node = summary?.node ?? summary?.fleet;
  const count = wrong > 0 ? `(${wrong}) ` : '';
  const name = node?.name ? `${node.name.slice(0, longestName)} · ` : '';
  return `${count}${name}pod status manager`;
}

/** Grey while nothing is known or the connection is lost, red with a stroke in trouble, green with a tick when all is well. */
function iconOf({ summary, connection }: Model): string {
  if (summary === undefined || connection.kind !== 'live') return icon('#5b6571', 'M5 8h6');
  return isWell(summary) ? icon('#1a7f4b', 'M4.5 8.5l2.5 2.5 4.5-5.5') : icon('#c62f26', 'M8 3.5v5.5m0 1.5v2');
}

/** True when nothing is wrong anywhere. */
function isWell(summary: DebugSummary): boolean {
  const { state, notes, node } = summary;
  return troubleCount(summary) + notes.length === 0 && node?.ready !== false && (state === 'running' || state === 'none');
}

function icon(colour: string, path: string): string {
  const mark = `<path d='${path}' fill='none' stroke='#fff' stroke-width='2'/>`;
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='${colour}'/>${mark}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Puts both into the tab, where they have changed. */
export function showInTab(model: Model): void {
  const title = titleOf(model);
  if (document.title !== title) document.title = title;
  const link = document.querySelector('link[rel=icon]');
  const href = iconOf(model);
  if (link !== null && link.getAttribute('href') !== href) link.setAttribute('href', href);
}
