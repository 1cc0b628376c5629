import { describe, expect, it } from 'vitest';
import { errorText } from '../../../src/base/errors.ts';
import { isPodProblem, type PodProblem, type Problem } from '../../../src/base/problem.ts';
import { type StuckSchedulerRow, StuckSchedulerWorld } from './stuck-scheduler-world.ts';
import { stuckSchedulers } from './stuck-schedulers.ts';

const isReal = process.env.TEST_SERVER === 'real';
const rows = stuckSchedulers.filter(({ servers }) => !isReal || servers === 'both');

describe('a scheduler that is stuck', () => {
  it.each(rows)('$id: $title', async (row) => {
    await using world = await StuckSchedulerWorld.start();
    await row.arrange(world);
    const found = await problemOf(world, row);
    const { namespace } = world.places;
    expect(found.help?.replaceAll(namespace, 'NAMESPACE')).toBe(row.help);
    expect(found.message).toContain(row.words);
    expect(found.since).toBeGreaterThan(0);
    expect(found.since).toBeLessThanOrEqual(world.clock.now());
    const { notes, problems, problemCount } = world.scheduler.snapshot();
    expect(problemCount).toBe(problems.length);
    const name = row.about === 'pod' ? `${namespace}/web: ` : '';
    expect(notes.filter((note) => note.startsWith(name) && note.includes(row.words))).toHaveLength(1);
    await requireExplained(world, row);
    await requireLine(world, row);
    await requireEvent(world, row);
    if (row.mend === undefined) return;
    await row.mend(world);
    await world.places.until('nothing is wrong', () => world.scheduler.snapshot().notes.length === 0);
    expect(world.scheduler.snapshot()).toMatchObject({ problems: [], problemCount: 0, ready: true });
  });
});

/** The problem in the snapshot, once it is there. */
async function problemOf({ scheduler, places }: StuckSchedulerWorld, row: StuckSchedulerRow): Promise<Problem | PodProblem> {
  let found: Problem | undefined;
  await places.until(`the problem ${row.kind}`, () => {
    found = scheduler.snapshot().problems.find((one) => {
      const isMeant = isPodProblem(one) ? row.about === 'pod' && one.podName === 'web' : row.about === 'scheduler';
      return isMeant && one.kind === row.kind && one.message.includes(row.words);
    });
    return found !== undefined;
  });
  return found as Problem;
}

async function requireExplained({ scheduler, places, ...world }: StuckSchedulerWorld, row: StuckSchedulerRow): Promise<void> {
  const { body } = await world.server.admin.getPod(places.namespace, 'web');
  const { uid } = (body as { metadata?: { uid?: string } }).metadata ?? {};
  if (uid === undefined || row.id === 'no-right-to-write-statuses') return;
  // what is wrong may be tried again in this moment
  await places.until('explain says it', () => scheduler.explain(uid).problem?.kind === row.kind);
  const { problem, text } = scheduler.explain(uid);
  expect(problem).toMatchObject({ kind: row.kind, podUID: uid });
  expect(problem?.message).toContain(row.words);
  expect(text).toContain(row.words);
  if (problem?.help !== undefined) expect(text).toContain(problem.help);
}

/** One line says it, with the pod's names where it is a pod's. */
async function requireLine({ logs, places }: StuckSchedulerWorld, { log, about, words }: StuckSchedulerRow): Promise<void> {
  if (log === undefined) return;
  const lineOf = () => logs.find(({ message, fields }) => message === log.message && isOfWeb(about, fields));
  await places.until(`the line "${log.message}"`, () => lineOf() !== undefined);
  const { fields } = lineOf() ?? {};
  if (about === 'pod') expect(fields).toMatchObject({ podName: 'web', podNamespace: places.namespace });
  expect(fields).toMatchObject(log.fields ?? {});
  if (words.startsWith('can be') || log.message === 'a pod fits on no node') return;
  expect(errorText(fields?.err)).toContain(words);
}

function isOfWeb(about: StuckSchedulerRow['about'], fields: Readonly<Record<string, unknown>>): boolean {
  return about === 'scheduler' || fields.podName === 'web';
}

async function requireEvent(world: StuckSchedulerWorld, { event, kind, words }: StuckSchedulerRow): Promise<void> {
  if (event === undefined) return;
  let note = '';
  await world.places.until(`the event ${event.reason}`, async () => {
    const told = (await world.events()).find(({ reason, regarding }) => reason === event.reason && regarding?.name === 'web');
    note = told?.note ?? '';
    return told !== undefined;
  });
  // who waits for victims is told of them later than of why it fits nowhere
  if (kind !== 'waits-for-victims') expect(note).toContain(words);
}
