import { describe, expect, it } from 'vitest';
import { isPodProblem, type PodProblem, type Problem } from '../../../src/base/problem.ts';
import { requireShown } from '../stuck/shown-page.ts';
import { requireLog } from '../stuck/stuck-told.ts';
import { requireEndTold } from '../stuck/well-again.ts';
import { type LeveledLine, type StuckSchedulerRow, StuckSchedulerWorld } from './stuck-scheduler-world.ts';
import { stuckSchedulers } from './stuck-schedulers.ts';

/** On a real server there may be nodes of other tests, of which the help speaks, too. */
const isReal = process.env.TEST_SERVER === 'real';
const rows = stuckSchedulers.filter(({ servers }) => !isReal || servers === 'both');

describe('a scheduler that is stuck', () => {
  it.each(rows)('$id: $title', async (given) => {
    await using world = await StuckSchedulerWorld.start();
    await given.arrange(world);
    const row = world.named(given);
    const found = await problemOf(world, row);
    const { namespace } = world.places;
    if (isReal) expect(found.help?.toLowerCase()).toContain(row.help?.slice(0, -1).toLowerCase());
    else expect(found.help).toBe(row.help);
    expect(found.message).toContain(row.words);
    if (row.hasBegun === false) expect(found.since).toBeUndefined();
    else expect(found.since).toBeGreaterThan(0);
    expect(found.since ?? 0).toBeLessThanOrEqual(world.clock.now());
    const { notes, problems, problemCount } = world.scheduler.snapshot();
    expect(problemCount).toBe(problems.length);
    const name = row.about === 'pod' ? `${namespace}/web: ` : '';
    expect(notes.filter((note) => note.startsWith(name) && note.includes(row.words))).toHaveLength(1);
    await requireExplained(world, row);
    await requirePage(world, row);
    await requireTold(world, row);
    await requireEvent(world, row);
    if (row.mend === undefined || (isReal && row.mendsInMemoryAlone)) return;
    await row.mend(world);
    await world.places.until('nothing is wrong', () => world.scheduler.snapshot().notes.length === 0);
    expect(world.scheduler.snapshot()).toMatchObject({ problems: [], problemCount: 0, ready: true });
    const infos = world.logs.filter(({ level }) => level === 'info');
    requireEndTold(row, infos, row.about === 'pod' ? { podName: 'web', podNamespace: namespace } : {});
  });
});

describe('a scheduler at which nothing is wrong', () => {
  it('has no notes for a pod that names a scheduler which nobody runs: the pod is not its own', async () => {
    await using world = await StuckSchedulerWorld.start();
    await world.start();
    await world.places.addNode('n', '2');
    await world.places.addPod('web', '1', { spec: { schedulerName: 'nobody' } });
    await world.places.addPod('own', '1');
    await world.places.bound('own');
    await world.scheduler.flush();
    expect(world.scheduler.snapshot()).toMatchObject({ state: 'running', ready: true, notes: [], problems: [], problemCount: 0 });
    const explained = world.scheduler.explain(await world.uidOf());
    expect(explained).toMatchObject({ state: 'unknown', problem: undefined, podName: '' });
    expect(explained.text).toContain('meant for another scheduler');
  });

  it('has none as a standby that has lost the Lease to a leader that lives, and says so in `leader`, the log and explain', async () => {
    await using world = await StuckSchedulerWorld.start();
    const { places, server } = world;
    await world.start({ identity: 'loses', leaderElection: places.election });
    await places.until('it leads', () => world.scheduler.isLeader);
    // one that would be a problem if it were this process' to place
    await places.addPod('web', '1', { spec: { schedulingGates: [{ name: 'example.com/quota' }] } });
    const uid = await world.uidOf();
    await places.until('the gate is a problem', () => world.scheduler.snapshot().problems.some(({ kind }) => kind === 'gated'));
    const taken = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 3600 } };
    expect((await server.admin.patch(places.leasePath, taken, 'merge')).status).toBe(200);
    await places.until('it leads no more', () => !world.scheduler.isLeader);
    await places.until('it is well', () => world.scheduler.snapshot().notes.length === 0);
    expect(world.scheduler.snapshot()).toMatchObject({
      ...{ state: 'running', ready: true, hasSynced: true, problems: [] },
      leader: { isLeader: false, holderIdentity: 'thief', lastError: undefined },
    });
    const line = world.logs.find(({ message }) => message === 'is the leader no more');
    expect(line).toMatchObject({ level: 'warn', fields: { identity: 'loses', holderIdentity: 'thief' } });
    expect(world.scheduler.explain(uid)).toMatchObject({ problem: undefined, podName: 'web' });
    expect(world.scheduler.explain(uid).text).toContain('because it is not the leader: thief is.');
  });

  it('has one note before it was started and after it was stopped', async () => {
    await using world = await StuckSchedulerWorld.start();
    const scheduler = world.make();
    expect(scheduler.snapshot()).toMatchObject({ state: 'idle', ready: false, notes: ['the scheduler was not started'] });
    await scheduler.start();
    expect(scheduler.snapshot().notes).toEqual([]);
    await scheduler.stop();
    expect(scheduler.snapshot()).toMatchObject({ state: 'stopped', ready: false, notes: ['the scheduler has stopped'] });
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
  if (uid === undefined || row.id.startsWith('no-right-to-write')) return;
  // what is wrong may be tried again in this moment
  await places.until('explain says it', () => scheduler.explain(uid).problem?.kind === row.kind);
  const { problem, text } = scheduler.explain(uid);
  expect(problem).toMatchObject({ kind: row.kind, podUID: uid });
  expect(problem?.message).toContain(row.words);
  expect(text).toContain(row.words);
  if (problem?.help !== undefined) expect(text).toContain(problem.help);
}

/** What the page says agrees. */
async function requirePage(world: StuckSchedulerWorld, row: StuckSchedulerRow): Promise<void> {
  await using page = await world.page();
  await requireShown(page, row, await problemOf(world, row));
}

/** One line says it, with the pod's names where it is a pod's. */
async function requireTold({ logs, places }: StuckSchedulerWorld, row: StuckSchedulerRow): Promise<void> {
  const { log, about } = row;
  if (log === undefined) return;
  const isOfWeb = ({ fields }: LeveledLine): boolean => about === 'scheduler' || fields.podName === 'web';
  const lineOf = () => logs.find((one) => one.message === log.message && isOfWeb(one)) ?? false;
  const line = await places.until(`the line "${log.message}"`, lineOf);
  // a cluster without room has very many pods that fit nowhere, and that is no failure
  expect(log.message === 'a pod fits on no node' ? ['debug'] : ['warn', 'error']).toContain(line.level);
  const names = about === 'pod' ? { podName: 'web', podNamespace: places.namespace } : {};
  requireLog({ ...row, retried: false }, [line], { ...names, ...log.fields });
}

async function requireEvent(world: StuckSchedulerWorld, { event, eventWords, words }: StuckSchedulerRow): Promise<void> {
  if (event === undefined) return;
  let note = '';
  await world.places.until(`the event ${event.reason}`, async () => {
    const told = (await world.events()).find(({ reason, regarding }) => reason === event.reason && regarding?.name === 'web');
    note = told?.note ?? '';
    return told !== undefined;
  });
  if (eventWords !== false) expect(note).toContain(words);
}
