// Writes docs/when-something-is-wrong.md from the tables of the tests: `node test/server/stuck/page.ts`.
import { writeFile } from 'node:fs/promises';
import { stuckSchedulers } from '../scheduler/stuck-schedulers.ts';
import { agentNodeRows } from './agent-node-rows.ts';
import { agentPodRows } from './agent-pod-rows.ts';
import { managerRows } from './manager-rows.ts';
import { connectionRows, nodeRows } from './node-rows.ts';
import { providerRows, statusRows } from './pod-rows.ts';
import type { StuckRow } from './stuck-row.ts';

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
  { title: 'A node', text: 'What a `ProviderNode` or a `NodeAgent` says of itself.', rows: nodeRows },
  {
    title: 'The status of a pod',
    text: 'Why the newest status of a pod is not on the apiserver.',
    rows: [...statusRows, ...managerRows],
  },
  { title: 'A pod and its provider', text: 'What a `ProviderNode` says of the pods that its provider runs.', rows: providerRows },
  {
    title: 'A pod of a node agent',
    text: 'What a `NodeAgent` says of pods that do not start, do not go on, or do not end.',
    rows: agentPodRows,
  },
  {
    title: 'The node of a node agent',
    text: 'What a `NodeAgent` says of its runtime, its machine and itself, beside what is above.',
    rows: agentNodeRows,
  },
  {
    title: 'A scheduler and its pods',
    text: 'What a `Scheduler` or a `ClusterScheduler` says of itself, and of a pod that has no node.',
    rows: stuckSchedulers,
  },
];

export const pageFile = new URL('../../../docs/when-something-is-wrong.md', import.meta.url);

const head = `# When something is wrong

Something does not run, or does not end, or is not told? Five places say why, and they say the same:

| place | what it has |
|---|---|
| \`snapshot().notes\` of the node, the scheduler or the status manager | one sentence for each kind of problem, with the pod as namespace/name; empty exactly when all is well |
| \`explain(podUID)\` | the pod's \`problem\`: what failed and in whose words, since when, how often, when it is tried next, what would help |
| the log | one line a failure: the constant message, and [the fields](guides/logs-and-errors.md) \`podNamespace\`, \`podName\`, \`podUID\`, \`err\`, \`attempt\`, \`failingForMs\`, \`retryInMs\`, \`help\` |
| \`kubectl describe pod\` | the event, with the cause and without times |
| [the debug page](guides/debug.md) | pods in trouble first; each begins with the same sentence |

\`problemText(problem, Date.now())\` makes sentences of a problem. \`snapshot().problems\` has all of them as data. \`kind\` is a word that
stays the same: write alerts by it, not by messages.

Search this page for the words of a log line, an event or a note. Each row below is a test: it breaks a real part in this way, and holds
what the five places say.
`;

/** The page, as it is to be. */
export function stuckPage(): string {
  return `${[head, ...sections.map(sectionText)].join('\n')}`;
}

/** Every row of the page. */
export function stuckRows(): Row[] {
  return sections.flatMap(({ rows }) => rows);
}

function sectionText({ title, text, rows }: Section): string {
  return [
    `## ${title}`,
    '',
    text,
    '',
    '| what is wrong | what it says | what would help |',
    '|---|---|---|',
    ...rows.map(rowText),
    '',
  ].join('\n');
}

function rowText({ title, kind, words, log, event, help }: Row): string {
  const told = [
    `kind \`${kind}\``,
    `“${words}”`,
    ...(log === undefined ? [] : [`log: \`${log.message}\``]),
    ...(event === undefined ? [] : [`event: \`${event.reason}\``]),
  ];
  return `| ${[title, told.join(' · '), help ?? 'Wait: nothing is to be done.'].map(cell).join(' | ')} |`;
}

/** Text that no table takes for its own. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(pageFile, stuckPage());
