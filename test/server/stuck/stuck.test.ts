import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPodProblem, type PodProblem, type Problem } from '../../../src/base/problem.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { apiRows } from './api-rows.ts';
import { managerRows, StuckManager } from './manager-rows.ts';
import { connectionRows, type NodeRow, nodeRows } from './node-rows.ts';
import { providerRows, statusRows } from './pod-rows.ts';
import { requireShown } from './shown-page.ts';
import { StuckNode } from './stuck-node.ts';
import { problemOf, requireLog, requireProblem } from './stuck-told.ts';
import { lineOfEnd, requireEndTold } from './well-again.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe.concurrent('a provider node on which something is wrong', () => {
  it.each([...connectionRows, ...nodeRows, ...apiRows, ...statusRows, ...providerRows])('$id: $title', async (listed) => {
    const instead = await listed.instead?.(server);
    const namespace = await server.admin.createNamespace(listed.id);
    const row = { ...listed, help: listed.help?.replace('NAMESPACE', namespace) };
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
      const snapshot = () => stuck.node.snapshot({ pods: false });
      const find = () => problemOf(row, snapshot().problems);
      await pollUntil(`${row.id} is a problem`, () => find() !== undefined, { seen: () => snapshot().problems });
      const problem = find();
      requireProblem(row, problem, snapshot().at);
      await requireTold(stuck, row, problem);
      if (row.heals === true || row.mend !== undefined) await requireHealed(stuck, row, problem);
    } finally {
      instead?.close();
    }
  });
});

/** The log line, the event, explain, the notes and the page. */
async function requireTold(stuck: StuckNode, row: NodeRow, problem: Problem | PodProblem | undefined): Promise<void> {
  const { node, namespace } = stuck;
  const names =
    problem !== undefined && isPodProblem(problem) ? { podUID: problem.podUID, podNamespace: namespace, podName: 'web' } : {};
  requireLog(row, stuck.logs, names);
  if (row.event !== undefined) {
    const told = async (): Promise<string> => {
      const events = (await stuck.events(row.about === 'node' ? 'Node' : 'Pod')).filter(
        ({ reason }) => reason === row.event?.reason,
      );
      return events.map(({ message }) => message).join('\n');
    };
    await pollUntil(`the event of ${row.id}`, async () => (await told()) !== '');
    if (row.eventWords !== false) expect(await told()).toContain(row.words);
  }
  const notes = node.snapshot({ pods: false }).notes.filter((one) => one.includes(row.words));
  // what is one pod's is said once
  if (row.about === 'pod') expect(notes).toHaveLength(1);
  const [note] = notes;
  expect(note, row.id).toContain(row.about === 'pod' ? `${namespace}/web: ` : '');
  await requireShown(stuck.page, row, problem);
  if (row.about !== 'pod') return;
  expect(problem).toMatchObject(names);
  const { problem: explained, ...rest } = node.explain((problem as PodProblem).podUID);
  expect(explained).toMatchObject({ ...names, kind: row.kind });
  expect(explained?.message).toContain(row.words);
  expect(rest).toMatchObject({ namespace, name: 'web' });
}

/** The proxy refuses nothing more, and what was missing is there: then nothing is wrong, and the log says so. */
async function requireHealed(stuck: StuckNode, row: NodeRow, problem: Problem | undefined): Promise<void> {
  const { node, proxy } = stuck;
  proxy.heal();
  await row.mend?.(stuck);
  const message = lineOfEnd(row);
  await pollUntil(
    `the log says that ${row.id} is over`,
    () => node.snapshot({ pods: false }).problems.length === 0 && stuck.infos.some((line) => line.message === message),
    { seen: () => [node.snapshot({ pods: false }).notes, stuck.infos] },
  );
  requireEndTold(row, stuck.infos, namesOf(problem));
}

function namesOf(problem: Problem | PodProblem | undefined): object {
  if (problem === undefined || !isPodProblem(problem)) return {};
  const { podUID, podNamespace, podName } = problem;
  return { podUID, podNamespace, podName };
}

describe.concurrent('a pod of a status manager with which something is wrong', () => {
  it.each(managerRows)('$id: $title', async (row) => {
    await using stuck = await StuckManager.start(server, await server.admin.createNamespace(row.id));
    await row.arrange(stuck);
    const { manager, namespace } = stuck;
    const find = () =>
      problemOf(
        row,
        manager.snapshot().problems.filter((one) => isPodProblem(one) && one.podName === 'web'),
      );
    await pollUntil(`${row.id} is a problem`, () => find() !== undefined, { seen: () => manager.snapshot() });
    const problem = find() as PodProblem;
    requireProblem(row, problem, stuck.clock.now());
    const names = { podUID: problem.podUID, podNamespace: namespace, podName: 'web' };
    expect(problem).toMatchObject(names);
    requireLog(
      row,
      stuck.logs.filter(({ fields }) => fields.podName === 'web'),
      names,
    );
    expect(manager.explain(problem.podUID)).toMatchObject({ ...names, problem });
    expect(manager.snapshot().notes.find((one) => one.includes(row.words))).toContain(`${namespace}/web: `);
  });
});
