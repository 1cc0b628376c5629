import { describe, expect, it } from 'vitest';
import { isPodProblem, type Problem } from '../../../src/base/problem.ts';
import { agentNodeRows } from './agent-node-rows.ts';
import { agentPodRows } from './agent-pod-rows.ts';
import { requireShown } from './shown-page.ts';
import { type AgentRow, StuckAgent } from './stuck-agent.ts';
import { requireLog } from './stuck-told.ts';
import { requireEndTold } from './well-again.ts';

// In virtual time: it needs no server, and the parts of a node agent wait for minutes.

describe.concurrent('a pod of a node agent that is stuck', () => {
  it.each(agentPodRows)('$id: $title', async (row) => {
    await using world = await StuckAgent.make(row.runtime);
    await row.arrange(world);
    const { podUID, podName } = row.pod ?? { podUID: world.pod()?.metadata?.uid ?? '', podName: 'web' };
    const names = { podUID, podNamespace: 'default', podName };
    const { problem, ...explained } = world.agent.explain(podUID);
    expect({ ...problem }).toMatchObject({
      ...names,
      kind: row.kind,
      help: row.help,
      message: expect.stringContaining(row.words),
    });
    requireTimes(row, problem, world.agent.snapshot().at);
    expect(explained).toMatchObject({ podUID, namespace: 'default', name: podName });
    requireTold(world, row, names);
    const { problems, problemCount, notes } = world.agent.snapshot();
    expect(problemCount).toBe(problems.length);
    expect(problems.find((one) => isPodProblem(one) && one.podUID === podUID)).toEqual(problem);
    expect(notes.find((note) => note.startsWith(`default/${podName}: `))).toContain(row.words);
    await requirePage(world, row, problem);
    await requireMended(world, row, names);
  });
});

describe.concurrent('the node of a node agent on which something is wrong', () => {
  it.each(agentNodeRows)('$id: $title', async (row) => {
    await using world = await StuckAgent.make(row.runtime);
    await row.arrange(world);
    const { at, problems, problemCount, notes } = world.agent.snapshot();
    const problem = problems.find((one) => one.kind === row.kind && one.message.includes(row.words));
    expect(problem, notes.join('; ')).toMatchObject({ kind: row.kind, help: row.help });
    requireTimes(row, problem, at);
    requireTold(world, row, {});
    expect(problemCount).toBe(problems.length);
    expect(notes.find((note) => note.includes(row.words))).toBeDefined();
    await requirePage(world, row, problem);
    await requireMended(world, row, {});
  });
});

function requireTimes({ retried }: AgentRow, problem: Problem | undefined, now: number): void {
  if (retried !== false) expect(problem?.attempt).toBeGreaterThan(0);
  if (retried === undefined) expect(problem?.retryAt).toBeGreaterThan(now - 60_000);
  else expect(problem?.retryAt ?? now).toBeGreaterThanOrEqual(now);
  expect(problem?.since).toBeGreaterThan(now - 600_000);
  // a wait with a random part leaves a fake clock between two milliseconds, and a problem tells of whole ones
  expect(problem?.since).toBeLessThanOrEqual(Math.ceil(now));
}

/** The log line and the event. */
function requireTold(world: StuckAgent, row: AgentRow, names: object): void {
  requireLog(row, world.logs, names);
  if (row.event === undefined) return;
  const events = world.events.filter(({ reason }) => reason === row.event?.reason);
  expect(events.length, world.events.map(({ reason }) => reason).join()).toBeGreaterThan(0);
  if (row.eventWords !== false) expect(events.map(({ message }) => message).join('\n')).toContain(row.words);
}

async function requirePage(world: StuckAgent, { retried: _, ...row }: AgentRow, problem: Problem | undefined): Promise<void> {
  await using page = await world.page();
  await requireShown(page, row, problem);
}

/** Once it is mended, nothing is wrong, and the log says so. */
async function requireMended(world: StuckAgent, { retried: _, ...row }: AgentRow, names: object): Promise<void> {
  const { mend } = row;
  if (mend === undefined) return;
  await mend(world);
  await world.pass(200_000);
  expect(world.agent.snapshot()).toMatchObject({ notes: [], problems: [], problemCount: 0 });
  requireEndTold(row, world.infos, names);
}
