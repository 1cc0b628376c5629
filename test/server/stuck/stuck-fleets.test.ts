import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorText } from '../../../src/base/errors.ts';
import type { DebugFleet, DebugSnapshot } from '../../../src/debug.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { fleetRows } from './fleet-rows.ts';
import { StuckFleet } from './stuck-fleet.ts';
import { problemOf, requireProblem } from './stuck-told.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('a member of a fleet on which something is wrong', () => {
  it.each(fleetRows)('$id: $title', async (row) => {
    const namespace = await server.admin.createNamespace(row.id);
    await using stuck = await StuckFleet.prepare(server, row.id, namespace, row.options);
    await row.before?.(stuck);
    await stuck.start();
    const snapshot = () => stuck.fleet.snapshot({ nodes: false });
    const find = () => problemOf(row, snapshot().problems);
    await pollUntil(`${row.id} is a problem`, () => find() !== undefined, { seen: () => snapshot().problems });
    requireProblem(row, find(), snapshot().at);
    expect(snapshot().notes.join('\n')).toContain(row.words);
    if (row.log !== undefined) {
      const lines = () => stuck.logs.filter(({ message }) => message === row.log?.message);
      const told = () => lines().map(({ fields }) => String(fields.reason ?? errorText(fields.err)));
      // a line may be a second later
      await pollUntil('the log tells of it', () => told().join('\n').includes(row.words), { seen: told });
    }
    await requireShown(stuck, row);
    await row.mend(stuck);
    await pollUntil(`${row.id} is over`, () => snapshot().problems.length === 0 && snapshot().isMember, {
      seen: () => snapshot().problems,
    });
  });
});

/** The head of the page, the fleet as text and as JSON have it. */
async function requireShown({ page }: StuckFleet, row: (typeof fleetRows)[number]): Promise<void> {
  const same = expect.objectContaining({ kind: row.kind, message: expect.stringContaining(row.words) });
  // the head is as old as a second
  await pollUntil('the page tells of it', async () => (await page.text('')).includes(row.words));
  expect(await page.text('fleet')).toMatch(/\ntrouble +! /);
  expect((await page.json<DebugFleet>('api/fleet')).problems).toContainEqual(same);
  const { summary } = await page.json<DebugSnapshot>('api/snapshot');
  expect(summary.notes).toContainEqual(expect.objectContaining({ of: 'fleet', kind: row.kind }));
  expect(summary.ownProblems.fleet).toBeGreaterThan(0);
}
