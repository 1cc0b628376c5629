import type { DebugPathChange, DebugPod, DebugTimelineEntry } from './debug-api.ts';
import { columns, durationText, printable, timeText } from './plain-text.ts';

const longestValue = 200;
const longestBody = 2_000;

/** One pod and its timeline, as text. */
export function podText({ row, reason, differs, retryAt, node, timeline, droppedEntries }: DebugPod): string {
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
      const line = `${verb.toUpperCase()} ${result}, took ${durationText(durationMs)}${size}`;
      return [line, ...(message === undefined ? [] : [message]), ...(body === undefined ? [] : [valueText(body, longestBody)])];
    }
    case 'synced': {
      const how = entry.patched ? '' : ', nothing to patch';
      return [`version ${entry.version}, ${durationText(entry.delayMs)} after it was set${how}`];
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
