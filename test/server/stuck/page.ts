// Writes docs/when-something-is-wrong.md from the tables of the tests: `node test/server/stuck/page.ts`.
import { writeFile } from 'node:fs/promises';
import { stuckSchedulers } from '../scheduler/stuck-schedulers.ts';
import { agentNodeRows } from './agent-node-rows.ts';
import { agentPodRows } from './agent-pod-rows.ts';
import { apiRows } from './api-rows.ts';
import { fleetRows } from './fleet-rows.ts';
import { managerRows } from './manager-rows.ts';
import { connectionRows, nodeRows } from './node-rows.ts';
import { providerRows, statusRows } from './pod-rows.ts';
import type { StuckRow } from './stuck-row.ts';
import { wellAgain } from './well-again.ts';

type Row = Omit<StuckRow, 'retried'>;

interface Section {
  readonly title: string;
  readonly text: string;
  readonly rows: readonly Row[];
}

const sections: readonly Section[] = [
  {
    title: 'The way to the apiserver',
    text: 'What a node says when it cannot be registered, or kept in step. A status manager says the same of its requests.',
    rows: connectionRows,
  },
  { title: 'A node', text: 'What a `ProviderNode` or a `NodeAgent` says of itself.', rows: [...nodeRows, ...apiRows] },
  {
    title: 'The status of a pod',
    text: 'Why the newest status of a pod is not on the apiserver.',
    rows: [...statusRows, ...managerRows],
  },
  {
    title: 'A pod and its provider',
    text: `What a \`ProviderNode\` says of the pods that its provider runs. A call that goes on is no problem before its limit: \`explain\` has
it as \`underWay\`, the debug page says \`createPod() under way for 48 s\`, and after 30 s there is one line at \`info\`:
\`a call of the provider is still under way\`.`,
    rows: providerRows,
  },
  {
    title: 'The node of a node agent',
    text: 'What a `NodeAgent` says of its runtime, its machine and itself, beside what is above.',
    rows: agentNodeRows,
  },
  {
    title: 'A pod of a node agent',
    text: 'What a `NodeAgent` says of pods that do not start, do not go on, or do not end.',
    rows: agentPodRows,
  },
  {
    title: 'A fleet',
    text: 'What a `NodeFleet` says of its members, its shards and its nodes, beside what is above: `snapshot()` and `explain(nodeName)` have it. Problems of its nodes begin with their names.',
    rows: fleetRows,
  },
  {
    title: 'A scheduler and its pods',
    text: 'What a `Scheduler` or a `ClusterScheduler` says of itself, and of a pod that has no node.',
    rows: stuckSchedulers,
  },
];

export const pageFile = new URL('../../../docs/when-something-is-wrong.md', import.meta.url);

const head = `# When something is wrong

A pod does not run or does not end, or its status does not reach the apiserver? These places say why. All of them have the message: what
failed, and the words of the one who refused.

| place | what it has beside the message |
|---|---|
| \`explain(podUID).problem\` | \`kind\`, \`attempt\` (failures in a row) and the pod; where they are known \`since\`, \`retryAt\` (the next try) and \`help\` |
| \`snapshot().problems\` of the node, the scheduler, the \`PodStatusAgent\` or the status manager | the same of everything that is wrong, at most 1,000; \`problemCount\` counts all |
| \`snapshot().notes\` | the next try; one sentence for each kind of problem that pods have, with one pod as namespace/name and how many pods have it. No help. Empty exactly when nothing is wrong |
| the log | a line for a failure, under a message that stays the same, and [one when it is over](#when-it-is-over); the words of the one who refused are in \`err\` or another field. The kind is in \`problemKind\`, the help in \`help\`; where they are known: the pod, \`attempt\`, \`failingForMs\`, \`retryInMs\` ([all fields](guides/logs-and-errors.md#the-fields)) |
| \`kubectl describe pod\` | an event for some problems: a reason, and no times |
| [the debug page](guides/debug.md) | times and help; pods in trouble stand first |

\`problemText(problem, Date.now())\` makes sentences of a problem. Write alerts by \`kind\`: it stays the same, and messages may change.

Search this page for the words of a log line, an event or a note. A test brings about each row on real parts. The list is not everything:
what is not here says its cause in the same places.

“As above” stands for the help of the row before, and – for a problem where you can only wait, or where the message says what to do.
`;

/** The page, as it is to be. */
export function stuckPage(): string {
  return `${[head, ...sections.map(sectionText), endText()].join('\n')}`;
}

/** What the log says once it is over. */
function endText(): string {
  const byEnd = Map.groupBy(Object.entries(wellAgain), ([, end]) => end);
  return [
    '## When it is over',
    '',
    'The first success after such a line has a line at `info`, with `attempt` (how many failures there were), `failingForMs`, and the names',
    'of the pod or the node. There is none where no failure had a line at `warn` or `error`, and none where nothing is tried again.',
    '',
    '| after | comes |',
    '|---|---|',
    ...Array.from(byEnd, ([end, lines]) => `| ${lines.map(([line]) => `\`${line}\``).join('; ')} | \`${end}\` |`),
    '',
  ].join('\n');
}

/** Every row of the page. */
export function stuckRows(): Row[] {
  return sections.flatMap(({ rows }) => rows);
}

function sectionText(section: Section): string {
  const { title, text, rows } = section;
  const log = usualLog(rows);
  const ofLog = log === undefined ? [] : [` Where a row names no log line, it is \`${log}\`.`];
  const own = byHelp(rows.filter((row) => sectionWith(row, section) === undefined));
  return [
    `## ${title}`,
    '',
    [text, ...ofLog].join(''),
    '',
    '| what is wrong | kind | what it says | what would help |',
    '|---|---|---|---|',
    ...own.map((row, index) => {
      const isRepeated = row.help !== undefined && own[index - 1]?.help === row.help;
      return rowText(row, log, isRepeated ? 'As above.' : (row.help ?? '–'));
    }),
    '',
    ...repeatsText(section),
  ].join('\n');
}

/** The log line of many rows. */
function usualLog(rows: readonly Row[]): string | undefined {
  const messages = rows.map(({ log }) => log?.message);
  const countOf = (message: string): number => messages.filter((one) => one === message).length;
  return messages.find((one) => one !== undefined && countOf(one) >= 4 && countOf(one) * 3 >= rows.length);
}

/** The rows of one help follow each other, at the place of the first of them. */
function byHelp(rows: readonly Row[]): Row[] {
  return [...Map.groupBy(rows, ({ id, help }) => help ?? id).values()].flat();
}

/** The section before this one that has a row of the same kind and the same help. */
function sectionWith({ kind, help }: Row, section: Section): Section | undefined {
  const before = sections.slice(0, sections.indexOf(section));
  return before.find(({ rows }) => help !== undefined && rows.some((row) => row.kind === kind && row.help === help));
}

/** What this section has of sections before: the kinds, and under which log lines they come here. */
function repeatsText(section: Section): string[] {
  const repeated = section.rows.filter((row) => sectionWith(row, section) !== undefined);
  const lines = [...Map.groupBy(repeated, (row) => sectionWith(row, section))].map(([before, rows]) => {
    const listOf = (values: readonly (string | undefined)[]): string =>
      [...new Set(values.filter((value) => value !== undefined))].map((value) => `\`${value}\``).join(', ');
    const anchor = before?.title.toLowerCase().replaceAll(' ', '-');
    const logs = listOf(rows.map(({ log }) => log?.message));
    const events = listOf(rows.map(({ event }) => event?.reason));
    const says = [logs && `log ${logs}`, events && `event ${events}`].filter((text) => text !== '').join('; ');
    return `- ${listOf(rows.map(({ kind }) => kind))} of [${before?.title}](#${anchor})${says === '' ? '' : `; ${says}`}`;
  });
  return lines.length === 0 ? [] : ['These kinds come here, too:', '', ...lines, ''];
}

function rowText({ title, kind, words, log, event }: Row, usual: string | undefined, help: string): string {
  const ownLog = log === undefined ? 'no log line' : `log \`${log.message}\``;
  const isUsual = log !== undefined && log.message === usual;
  const says = [`“${words}”`, ...(isUsual ? [] : [ownLog]), ...(event === undefined ? [] : [`event \`${event.reason}\``])];
  return `| ${[title, `\`${kind}\``, says.join(', '), help].map(cell).join(' | ')} |`;
}

/** Text that no table takes for its own. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(pageFile, stuckPage());
