import type { Model } from '../model/model.ts';

export const filterInputId = 'filter';
export const tableId = 'pods';

/** What the keys do, for the help. */
export const keyHelp: readonly (readonly [keys: string, meaning: string])[] = [
  ['/', 'go to the filter'],
  ['↑ ↓  Page Up  Page Down  Home  End', 'move through the table'],
  ['Enter', 'open the pod, or the node of a fleet'],
  ['Escape', 'close what is open beside the table, else clear the filter'],
  ['t', 'show only what is in trouble, and all again'],
  ['n  s  f', 'open the node, the scheduler, the fleet'],
  ['p', 'pause and resume'],
  ['?', 'show this help'],
];

export function focusById(id: string): void {
  document.getElementById(id)?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName);
}

/** Closes the panel and gives the focus back to the table. */
export function closePanel(model: Model): void {
  model.close();
  // The table may be inert until the next drawing.
  requestAnimationFrame(() => requestAnimationFrame(() => focusById(tableId)));
}

function onEscape(model: Model): void {
  if (model.hasPanel) closePanel(model);
  else if (document.activeElement?.id === filterInputId && (model.isFleetShown ? model.fleet : model.rows).filter.text === '')
    focusById(tableId);
  else model.clearFilter();
}

/** The keys that work everywhere on the page; those of the table are the table's. */
export function watchKeys(model: Model, openHelp: () => void): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (event.key === 'Escape') return onEscape(model);
    if (isTyping(event.target)) return;
    if (event.key === '/') {
      event.preventDefault();
      focusById(filterInputId);
    }
    if (event.key === '?') openHelp();
    if (event.key === 'p') togglePause(model);
    if (event.key === 't') model.toggleTrouble();
    if (event.key === 'n' && model.summary?.node !== undefined) model.openPanelOf('node');
    if (event.key === 'f' && model.summary?.fleet !== undefined) model.openPanelOf('fleet');
    if (event.key === 's' && model.summary?.scheduler !== undefined) model.openPanelOf('scheduler');
  });
}

export function togglePause(model: Model): void {
  if (model.connection.kind === 'paused') model.resume();
  else model.pause();
}
