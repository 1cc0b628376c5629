import { roundedDuration } from '../../base/problem.ts';
import type { DebugPathChange, DebugPod, DebugSnapshot, DebugSummary, DebugTimelineEntry } from './debug-api.ts';
import { byPodName, matcherOf, type PodFilter, phaseOf, searchTextOf } from './pod-table.ts';

const gap = '  ';
/** A longer cell is cut, but in the last column: every other row gets spaces for it. */
const longestCell = 300;

/** Rows of cells, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) =>
    row.map((cell, index) => {
      const text = printable(cell) || '-';
      return text.length > longestCell && index < row.length - 1 ? `${text.slice(0, longestCell)}…` : text;
    }),
  );
  const widths = clean[0]?.map((_, index) => clean.reduce((widest, row) => Math.max(widest, row[index]?.length ?? 0), 0)) ?? [];
  return clean
    .map((row) =>
      row
        .map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index] ?? 0) : cell))
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

/** The same text without characters that a terminal obeys: a line break becomes a space, others are left out. */
export function printable(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '');
}

/** `: in-sync 3, pending 1`, the largest first; empty without counts. */
function countsText(counts: Readonly<Partial<Record<string, number>>>): string {
  const parts = Object.entries(counts).sort(([, a = 0], [, b = 0]) => b - a);
  return parts.length === 0 ? '' : `: ${parts.map(([name, count]) => `${name} ${count}`).join(', ')}`;
}

/** The time in ISO form; undefined for one that no date can hold. */
export function isoTime(ms: number): string | undefined {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
}

/** The time of day in UTC, to the millisecond, with the date before it where it is not that of `now`. */
export function timeText(at: number, now: number): string {
  const [date, time] = isoTime(at)?.split('T') ?? [];
  if (date === undefined) return String(at);
  return date === isoTime(now)?.split('T')[0] ? `${time}` : `${date}T${time}`;
}

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
  const rows = snapshot.pods.filter((row) => matches(row, searchTextOf(row))).sort(byPodName);
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
    roundedDuration(at - row.changedAt),
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
    ['unsent', oldestUnsentMs === undefined ? 'nothing' : `the oldest change waits for ${roundedDuration(oldestUnsentMs)}`],
  ];
  if (pausedUntil !== undefined) lines.push(['paused', `the whole client waits for ${roundedDuration(pausedUntil - at)}`]);
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

const longestValue = 200;
const longestBody = 2_000;

/** One pod and its timeline, as text. */
export function podPageText({ row, reason, differs, retryAt, node, timeline, droppedEntries }: DebugPod): string {
  const now = timeline.at(-1)?.at ?? row.changedAt;
  const facts: (readonly [string, string])[] = [
    ['pod', `${row.namespace}/${row.name}`],
    ['uid', row.podUID],
    ['phase', `${row.phase ?? 'Unknown'}, ${row.ready ? 'ready' : 'not ready'}, restarts ${row.restarts}`],
    ['sync', `${row.sync}: ${reason}`],
    ['version', `${row.version}, the apiserver has ${row.acknowledgedVersion}`],
    ['differs', differs.length === 0 ? 'nothing' : differs.join(' ')],
    ...(row.failures > 0 ? ([['failures', String(row.failures)]] as const) : []),
    ...(retryAt === undefined ? [] : ([['retry', timeText(retryAt, now)]] as const)),
    ...node.map(([name, value]) => [`node ${name}`, value] as const),
  ];
  const dropped = droppedEntries === 0 ? '' : `(${droppedEntries} older entries are dropped)\n`;
  const entries = timeline.map((entry) => entryText(entry, now)).join('\n') || 'nothing has happened since the handler was made';
  return `${columns(facts)}\n\n${dropped}${entries}`;
}

function entryText(entry: DebugTimelineEntry, now: number): string {
  const [what = '', ...details] = linesOf(entry, now);
  const head = `${timeText(entry.at, now)}  ${entry.kind.padEnd(7)}  ${printable(what)}`;
  return [head, ...details.map((line) => `    ${printable(line)}`)].join('\n');
}

function linesOf(entry: DebugTimelineEntry, now: number): string[] {
  switch (entry.kind) {
    case 'set':
      return [`version ${entry.version}`, ...entry.changes.map(changeText)];
    case 'request': {
      const { verb, result, durationMs, bytes, message, body } = entry;
      const size = bytes === undefined ? '' : `, ${bytes} bytes`;
      const line = `${verb.toUpperCase()} ${result}, took ${roundedDuration(durationMs)}${size}`;
      return [line, ...(message === undefined ? [] : [message]), ...(body === undefined ? [] : [valueText(body, longestBody)])];
    }
    case 'synced': {
      const how = entry.patched ? '' : ', nothing to patch';
      return [`version ${entry.version}, ${roundedDuration(entry.delayMs)} after it was set${how}`];
    }
    case 'error': {
      const { errorClass, attempts, retryInMs, message } = entry;
      const retry = retryInMs === undefined ? '' : `, next try ${timeText(entry.at + retryInMs, now)}`;
      return [`${errorClass}, failure ${attempts}${retry}`, message];
    }
    case 'refused':
      return [`${entry.reason}`];
    case 'removed':
      return ['that was the last status'];
  }
}

function changeText({ path, element, before, after }: DebugPathChange): string {
  const name = element === undefined ? path : `${path} (${element})`;
  return `${name}: ${valueText(before)} -> ${valueText(after)}`;
}

function valueText(value: unknown, longest = longestValue): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? '';
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
}
