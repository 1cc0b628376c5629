import { InMemoryApiServer } from 'pod-status-manager/testing';
import { AdminClient } from '../admin-client.ts';
import type { Interrupts } from '../demo.ts';
import type { DemoOptions } from '../options.ts';
import type { Screen } from '../screen.ts';
import { describeError } from '../verdict.ts';
import { AgentRun } from './agent-run.ts';
import { renderAgentLine, renderAgentView } from './agent-view.ts';

/** Runs a node agent in memory, from the server to the clean-up. Resolves to true when everything was as it should be. */
export async function runAgentDemo(options: DemoOptions, screen: Screen, interrupts: Interrupts): Promise<boolean> {
  const { pods, seconds, seed } = options;
  const server = await InMemoryApiServer.start();
  const admin = new AdminClient(server.kubeConfig());
  try {
    const run = await AgentRun.open({ server, admin, pods, seconds, seed });
    screen.print(`a node agent over a container runtime in memory: ${pods} pods for ${seconds} s, seed ${seed}`);
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

async function playAndJudge(run: AgentRun, screen: Screen, { ending, hurrying }: Interrupts): Promise<boolean> {
  const problems: string[] = [];
  screen.begin({
    view: (columns) => renderAgentView(run.snapshot(), columns, screen.paint),
    line: () => renderAgentLine(run.snapshot()),
  });
  try {
    await run.play(ending);
    problems.push(...(await run.settle(hurrying)));
    problems.push(...(await run.end(hurrying)));
  } catch (error) {
    problems.push(describeError(error));
  } finally {
    screen.end();
  }
  if (hurrying.aborted) problems.push('interrupted before everything had ended');
  for (const life of run.lives()) screen.print(life);
  const { created, started, ended } = run.snapshot();
  screen.print(`${created} pods lived, ${started} containers were started, and ${ended} have ended`);
  for (const problem of problems) screen.print(screen.paint('red', `  ${problem}`));
  const isWell = problems.length === 0;
  const verdict = isWell ? 'The server said what ran, and nothing of any pod runs on.' : 'Not all is well.';
  screen.print(screen.paint(isWell ? 'green' : 'red', verdict));
  return isWell;
}
