import type { DebugSnapshot, DebugSummary } from './debug-api.ts';
import { byName } from './name-order.ts';
import { columns, countsText, durationText, printable } from './plain-text.ts';
import { matcherOf, type PodFilter, phaseOf, searchTextOf } from './pod-filter.ts';

/** Each word, and each value, is looked for in every pod: with more of them a request would hold the event loop. */
const mostWords = 20;

/** What a query shows. Words and values that come again count once. Undefined for one with more than 20 of a kind. */
export function filterOf(query: URLSearchParams): PodFilter | undefined {
  const words = new Set((query.get('filter') ?? '').split(/\s/));
  words.delete('');
  const [sync, phase] = [new Set(query.getAll('sync')), new Set(query.getAll('phase'))];
  if (Math.max(words.size, sync.size, phase.size) > mostWords) return undefined;
  return { text: [...words].join(' '), sync: [...sync], phase: [...phase] };
}

/** The head of the page and its table, as text. */
export function tableText(snapshot: DebugSnapshot, filter: PodFilter): string {
  const matches = matcherOf(filter);
  const rows = snapshot.pods.filter((row) => matches(row, searchTextOf(row))).sort(byName);
  const { at } = snapshot.summary;
  const cells = rows.map((row) => [
    row.namespace,
    row.name,
    phaseOf(row),
    row.ready ? 'yes' : 'no',
    String(row.restarts),
    row.sync,
    `${row.acknowledgedVersion}/${row.version}`,
    String(row.failures),
    durationText(at - row.changedAt),
    row.podUID,
  ]);
  const head = ['NAMESPACE', 'NAME', 'PHASE', 'READY', 'RESTARTS', 'SYNC', 'VERSION', 'FAILURES', 'CHANGED', 'UID'];
  const shown = rows.length === snapshot.pods.length ? '' : `\nshown      ${rows.length} of ${snapshot.pods.length} pods`;
  return `${summaryText(snapshot.summary)}${shown}\n\n${columns([head, ...cells])}`;
}

function summaryText(summary: DebugSummary): string {
  const { at, state, inFlight, channelDepth, channelCapacity, oldestUnsentMs, pausedUntil, node } = summary;
  const lines = [
    ['manager', state],
    ['pods', `${summary.pods}${countsText(summary.bySync)}`],
    ['phases', countsText(summary.byPhase).replace(/^: /, '') || '-'],
    ['requests', `${inFlight} in flight, ${channelDepth} of ${channelCapacity} hints wait`],
    ['unsent', oldestUnsentMs === undefined ? 'nothing' : `the oldest change waits for ${durationText(oldestUnsentMs)}`],
  ];
  if (pausedUntil !== undefined) lines.push(['paused', `the whole client waits for ${durationText(pausedUntil - at)}`]);
  if (node !== undefined) {
    const { name, ready, registered } = node;
    lines.push([
      'node',
      `${name} ${node.state}, ${registered ? 'registered' : 'not registered'}, ${ready ? 'ready' : 'not ready'}`,
    ]);
    for (const note of node.notes) lines.push(['note', note]);
  }
  return lines.map(([name = '', value = '']) => `${name.padEnd(10)} ${printable(value)}`).join('\n');
}
