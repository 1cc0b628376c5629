import type { DebugPodRow, DebugSnapshot, DebugSummary } from './debug-api.ts';
import { columns, countsText, durationText, printable } from './plain-text.ts';

/** The head of the page and its table, as text. */
export function tableText(snapshot: DebugSnapshot, query: URLSearchParams): string {
  const matches = matcherOf(query);
  const rows = snapshot.pods.filter(matches).sort(byName);
  const { at } = snapshot.summary;
  const cells = rows.map((row) => [
    row.namespace,
    row.name,
    row.phase ?? 'Unknown',
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

/** The words of `filter` must all be in the namespace, the name or the UID. `sync` and `phase` may each stand several times. */
function matcherOf(query: URLSearchParams): (row: DebugPodRow) => boolean {
  const words = (query.get('filter') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const [sync, phase] = [query.getAll('sync'), query.getAll('phase')];
  return (row) => {
    const text = `${row.namespace}/${row.name} ${row.podUID}`.toLowerCase();
    if (sync.length > 0 && !sync.includes(row.sync)) return false;
    if (phase.length > 0 && !phase.includes(row.phase ?? 'Unknown')) return false;
    return words.every((word) => text.includes(word));
  };
}

function byName(a: DebugPodRow, b: DebugPodRow): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name) || compare(a.podUID, b.podUID);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
