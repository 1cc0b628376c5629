import { type Problem, problemText, roundedDuration } from '../../base/problem.ts';
import type {
  DebugNode,
  DebugPart,
  DebugPathChange,
  DebugPod,
  DebugPodRow,
  DebugProblem,
  DebugSnapshot,
  DebugSummary,
  DebugTimelineEntry,
} from './debug-api.ts';
import { noteText, plural, troubleWords, underWayText } from './debug-notes.ts';
import { byPodName, compareTrouble, isTroubleAsked, matcherOf, type PodFilter, searchTextOf } from './pod-table.ts';
import { isoTime } from './told-lines.ts';

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
  return { text: [...words].join(' '), sync: [...sync], phase: [...phase], trouble: isTroubleAsked(query) };
}

/** The head of the page and its table, as text. Pods in trouble come first, and of these the one that has been so longest. */
export function tableText(snapshot: DebugSnapshot, filter: PodFilter): string {
  const matches = matcherOf(filter);
  const rows = snapshot.pods.filter((row) => matches(row, searchTextOf(row)));
  rows.sort((a, b) => compareTrouble(a, b) || byPodName(a, b));
  const { at } = snapshot.summary;
  const cells = rows.map((row) => [
    row.namespace,
    `${row.name}${tagsText(row)}`,
    row.phase ?? '',
    row.ready ? 'yes' : 'no',
    String(row.restarts),
    row.sync,
    `${row.acknowledgedVersion}/${row.version}`,
    String(row.attempt),
    roundedDuration(at - row.changedAt),
    row.podUID,
    troubleCell(row, at),
  ]);
  const head = ['NAMESPACE', 'NAME', 'PHASE', 'READY', 'RESTARTS', 'SYNC', 'VERSION', 'FAILURES', 'CHANGED', 'UID', 'TROUBLE'];
  const shown =
    rows.length === snapshot.pods.length
      ? ''
      : `\nshown      ${rows.length} of ${snapshot.pods.length} ${plural('pod', snapshot.pods.length)}`;
  return `${summaryText(snapshot.summary)}${shown}\n\n${columns([head, ...cells])}`;
}

/** A sign before each: trouble has `!`, and what goes on `~`. */
function troubleCell({ problem, underWay }: DebugPodRow, now: number): string {
  if (problem !== undefined) return `! ${problemText(problem, now)}`;
  return underWay === undefined ? '' : `~ ${underWayText(underWay, now)}`;
}

/** ` (static, deleting)`: the tags that the page has beside a name. Empty for most pods. */
function tagsText({ isStatic, isDeleting }: DebugPodRow): string {
  const tags = [...(isStatic ? ['static'] : []), ...(isDeleting ? ['deleting'] : [])];
  return tags.length === 0 ? '' : ` (${tags.join(', ')})`;
}

function summaryText(summary: DebugSummary): string {
  const { at, pods, notes, node, scheduler, fleet } = summary;
  const lines = [['trouble', troubleWords(summary)]];
  for (const note of notes) lines.push(['note', noteText(note, at)]);
  if (summary.state !== 'none') lines.push(...managerLines(summary));
  else lines.push(['pods', String(pods)]);
  if (node !== undefined) lines.push(['node', nodeWords(node, at)]);
  if (scheduler !== undefined) lines.push(['scheduler', scheduler.state]);
  if (fleet !== undefined)
    lines.push(['fleet', `${fleet.name} ${fleet.state}, ${fleet.members} ${plural('member', fleet.members)} alive`]);
  return lines.map(([name = '', value = '']) => `${name.padEnd(10)} ${printable(value)}`).join('\n');
}

/** What the node does not say is left out. */
function nodeWords({ name, state, ready, heardAt, registered, hasListed }: DebugNode, now: number): string {
  const words = (yes: string, flag: boolean | undefined, no: string): string[] => (flag === undefined ? [] : [flag ? yes : no]);
  const hasNode = registered !== undefined;
  const ago = heardAt === undefined ? '' : `${roundedDuration(now - heardAt)} ago`;
  const listedAs = ago === '' ? 'its pods are listed' : `its pods are listed as the server had them ${ago}`;
  const listed = hasNode ? [] : words(listedAs, hasListed, 'its pods are not listed');
  const heard = hasNode && ago !== '' ? [`last heard of by the server ${ago}`] : [];
  const all = [...words('registered', registered, 'not registered'), ...words('ready', ready, 'not ready'), ...listed, ...heard];
  return [`${name} ${state}`, ...all].join(', ');
}

function managerLines(summary: DebugSummary): string[][] {
  const { at, state, inFlight, channelDepth, channelCapacity, oldestUnsentMs, pausedUntil } = summary;
  const lines = [
    ['manager', state],
    ['pods', `${summary.pods}${countsText(summary.bySync)}`],
    ['phases', countsText(summary.byPhase).replace(/^: /, '') || '-'],
    ['requests', `${inFlight} in flight, ${channelDepth} of ${channelCapacity} hints wait`],
    ['unsent', oldestUnsentMs === undefined ? 'nothing' : `the oldest change waits for ${roundedDuration(oldestUnsentMs)}`],
  ];
  if (pausedUntil !== undefined) lines.push(['paused', `the whole client waits for ${roundedDuration(pausedUntil - at)}`]);
  return lines;
}

const longestValue = 200;
const longestBody = 2_000;

/** One pod and its timeline, as text: first of all what is wrong. */
export function podPageText(pod: DebugPod): string {
  const { at: now, row, otherProblems, reason, differs, retryAt, node, scheduler, timeline, droppedEntries } = pod;
  const facts: (readonly [string, string])[] = [
    ['pod', `${row.namespace}/${row.name}${tagsText(row)}`],
    ['trouble', troubleText(row.problem, now)],
    ...otherProblems.map((problem) => ['trouble', troubleText(problem, now)] as const),
    ...(row.underWay === undefined ? [] : ([['waits', `~ ${underWayText(row.underWay, now)}`]] as const)),
    ['uid', row.podUID],
    [
      'phase',
      `${row.phase ?? '-'}, ${row.ready ? 'ready' : 'not ready'}, restarts ${row.restarts}${row.phase === undefined ? '' : ', as the agent says'}`,
    ],
    ['sync', `${row.sync}: ${reason}`],
    ['version', `${row.version}, the apiserver has ${row.acknowledgedVersion}`],
    ['differs', differs.length === 0 ? 'nothing' : differs.join(' ')],
    ...(row.attempt > 0 ? ([['failures', String(row.attempt)]] as const) : []),
    ...(retryAt === undefined ? [] : ([['retry', timeText(retryAt, now)]] as const)),
    ...(scheduler ?? '').split('\n').flatMap((line) => (line === '' ? [] : [['scheduler', line] as const])),
  ];
  const dropped = droppedEntries === 0 ? '' : `(${droppedEntries} older entries are dropped)\n`;
  const entries = timeline.map((entry) => entryText(entry, now)).join('\n') || 'nothing has happened since the handler was made';
  // long names of a node's facts would push what matters to the right
  const ofNode = node.length === 0 ? '' : `${columns(node.map(([name, value]) => [`node ${name}`, value]))}\n\n`;
  return `${columns(facts)}\n\n${ofNode}${dropped}${entries}`;
}

/** A node or a scheduler, as text: first of all what is wrong. */
export function partText({ at, kind, name, state, problems, problemCount, lines }: DebugPart): string {
  const rows = [
    [kind, `${name} ${state}`.trim()],
    ...(problems.length === 0 ? [['trouble', 'none']] : []),
    ...problems.map((one) => ['trouble', troubleText(one, at, namesOf(one))]),
    ...(problemCount > problems.length ? [['trouble', `and ${problemCount - problems.length} more`]] : []),
  ];
  return lines.length === 0 ? columns(rows) : `${columns(rows)}\n\n${columns(lines)}`;
}

function troubleText(problem: Problem | undefined, now: number, names = ''): string {
  return problem === undefined ? 'none' : `! ${names}${problemText(problem, now)}`;
}

/** `default/web: ` for a problem of a pod; empty for another one. */
function namesOf({ podUID, podNamespace = '', podName = '' }: DebugProblem): string {
  if (podUID === undefined) return '';
  return podName === '' ? `the pod with uid ${podUID}: ` : `${podNamespace}/${podName}: `;
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
      const { errorClass, attempt, retryInMs, message } = entry;
      const retry = retryInMs === undefined ? '' : `, next try ${timeText(entry.at + retryInMs, now)}`;
      return [`${errorClass}, failure ${attempt}${retry}`, message];
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
