import { InMemoryApiServer } from 'pod-status-manager/testing';
import { AdminClient } from '../admin-client.ts';
import type { Interrupts } from '../demo.ts';
import type { DemoOptions } from '../options.ts';
import type { Screen } from '../screen.ts';
import { describeError } from '../verdict.ts';
import { demoNodes } from './demo-nodes.ts';
import { ScheduleRun } from './schedule-run.ts';
import { renderScheduleLine, renderScheduleView } from './schedule-view.ts';

/** Runs a scheduler over virtual nodes in memory, from the server to the clean-up. Resolves to true when all was well. */
export async function runScheduleDemo(options: DemoOptions, screen: Screen, interrupts: Interrupts): Promise<boolean> {
  const { pods, seconds, seed } = options;
  const server = await InMemoryApiServer.start();
  const admin = new AdminClient(server.kubeConfig());
  try {
    const run = new ScheduleRun({ server, admin, pods, seconds, seed });
    screen.print(`a scheduler and ${demoNodes.length} virtual nodes in memory: ${pods} pods for ${seconds} s, seed ${seed}`);
    try {
      return await playAndJudge(run, screen, interrupts);
    } finally {
      await run.close();
    }
  } finally {
    await admin.close();
    await server.stop();
  }
}

async function playAndJudge(run: ScheduleRun, screen: Screen, { ending, hurrying }: Interrupts): Promise<boolean> {
  const problems: string[] = [];
  screen.begin({
    view: (columns) => renderScheduleView(run.snapshot(), columns, screen.paint),
    line: () => renderScheduleLine(run.snapshot()),
  });
  try {
    await run.play(ending);
    problems.push(...(await run.empty(hurrying)));
  } catch (error) {
    problems.push(describeError(error));
  } finally {
    screen.end();
  }
  if (hurrying.aborted) problems.push('interrupted before every pod had gone');
  const { created, placed } = run.snapshot();
  screen.print(`${created} pods lived, and ${placed} were given a node`);
  for (const problem of problems) screen.print(screen.paint('red', `  ${problem}`));
  const isWell = problems.length === 0;
  const verdict = isWell ? 'No pod had two nodes, no node had more than it can hold, and nothing is left.' : 'Not all is well.';
  screen.print(screen.paint(isWell ? 'green' : 'red', verdict));
  return isWell;
}
