import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorText } from '../../../src/base/errors.ts';
import { isPodProblem, type PodProblem, type Problem } from '../../../src/base/problem.ts';
import type { ProviderNodeSnapshot } from '../../../src/node/provider/provider-node-reports.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { connectionRows, type NodeRow, nodeRows } from './node-rows.ts';
import { providerRows, statusRows } from './pod-rows.ts';
import { pollUntil } from './poll-until.ts';
import { type LogLine, StuckNode } from './stuck-node.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const rows = [...connectionRows, ...nodeRows, ...statusRows, ...providerRows];

describe.concurrent('a provider node on which something is wrong', () => {
  it.each(rows)('$id: $title', async (row) => {
    const instead = await row.instead?.(server);
    const namespace = await server.admin.createNamespace(row.id);
    try {
      await using stuck = await StuckNode.begin(
        server,
        namespace,
        namespace,
        { ...row.options, ...instead?.options },
        row.broken,
      );
      if (row.arrange !== undefined) await stuck.started();
      await row.arrange?.(stuck);
      const { notes } = await untilProblem(stuck, row);
      expect(notes).not.toEqual([]);
      const problem = problemOf(stuck, row);
      expect([problem?.kind, problem?.help], row.id).toEqual([row.kind, row.help]);
      requireTimes(row, problem, stuck.node.snapshot({ pods: false }).at);
      await requireTold(stuck, row, problem);
    } finally {
      instead?.close();
    }
  });
});

async function untilProblem(stuck: StuckNode, row: NodeRow): Promise<ProviderNodeSnapshot> {
  const seen = (): ProviderNodeSnapshot => stuck.node.snapshot({ pods: false });
  await pollUntil(
    `${row.id} is a problem`,
    () => problemOf(stuck, row) !== undefined,
    () => seen().notes,
  );
  return seen();
}

function problemOf({ node }: StuckNode, { about, words }: NodeRow): Problem | PodProblem | undefined {
  const { problems } = node.snapshot({ pods: false });
  return problems.find((one) => isPodProblem(one) === (about === 'pod') && one.message.includes(words));
}

function requireTimes({ retried, id }: NodeRow, problem: Problem | undefined, now: number): void {
  if (retried === false) return;
  expect(problem?.attempt, id).toBeGreaterThan(0);
  expect(problem?.since, id).toBeLessThanOrEqual(now);
  expect(problem?.retryAt, id).toBeGreaterThan(now - 5000);
}

/** The log line, the event, explain, the notes and the page. */
async function requireTold(stuck: StuckNode, row: NodeRow, problem: Problem | PodProblem | undefined): Promise<void> {
  const { node, namespace } = stuck;
  const names =
    problem !== undefined && isPodProblem(problem) ? { podUID: problem.podUID, podNamespace: namespace, podName: 'web' } : {};
  if (row.log === undefined) expect(stuck.logs, row.id).toEqual([]);
  else requireLine(stuck, row, names);
  if (row.event !== undefined) {
    const told = async (): Promise<string> => {
      const events = (await stuck.events('Pod')).filter(({ reason }) => reason === row.event?.reason);
      return events.map(({ message }) => message).join('\n');
    };
    await pollUntil(`the event of ${row.id}`, async () => (await told()) !== '');
    if (row.eventWords !== false) expect(await told()).toContain(row.words);
  }
  const note = node.snapshot({ pods: false }).notes.find((one) => one.includes(row.words));
  expect(note, row.id).toContain(row.about === 'pod' ? `${namespace}/web: ` : '');
  if (row.about !== 'pod') return;
  expect(problem).toMatchObject(names);
  const { problem: explained, ...rest } = node.explain((problem as PodProblem).podUID);
  expect(explained).toMatchObject({ ...names, kind: row.kind });
  expect(explained?.message).toContain(row.words);
  expect(rest).toMatchObject({ namespace, name: 'web' });
}

function requireLine({ logs }: StuckNode, row: NodeRow, names: object): void {
  const lines = logs.filter(({ message }) => message === row.log?.message);
  expect(lines.length, `${row.id}: ${logs.map(({ message }) => message)}`).toBeGreaterThan(0);
  if (row.logWords !== false) expect(lines.map(wordsOf).join('\n')).toContain(row.words);
  expect(lines.at(-1)?.fields).toMatchObject(names);
}

/** What a line says: its error in words, and what else it has. */
function wordsOf({ fields }: LogLine): string {
  return Object.values(fields)
    .map((value) => (value instanceof Error ? errorText(value) : String(value)))
    .join(' ');
}
