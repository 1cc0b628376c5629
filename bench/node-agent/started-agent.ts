import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { eventually } from '../../test/random/faults/pause.ts';
import type { AdminClient } from '../../test/support/admin-client.ts';
import { objectOf } from '../../test/support/answers.ts';

/** A node agent that runs in the kit. It may not end by itself. */
export interface StartedAgent {
  readonly pid: number;
  /** From the start of the process until its node is Ready, as seen every 50 ms. */
  readonly readyMs: number;
  /** Resolves once the agent has ended: one that is profiled writes down what it has found then. */
  stop(): Promise<void>;
}

/** Starts a shell command, and resolves once the node is Ready. */
export async function startAgent(command: string, logFile: string, admin: AdminClient): Promise<StartedAgent> {
  await using log = await open(logFile, 'a');
  const began = performance.now();
  const child = spawn('bash', ['-c', `exec ${command}`], { stdio: ['ignore', log.fd, log.fd] });
  let isOver = false;
  child.once('exit', (code, signal) => {
    if (!isOver) throw new Error(`The agent ended with ${code ?? signal}; see ${logFile}`);
  });
  if (!(await eventually(() => isReady(admin), 60_000, 50))) throw new Error(`The node is not Ready; see ${logFile}`);
  const { pid } = child;
  if (pid === undefined) throw new Error('The agent was not started');
  const stop = async (): Promise<void> => {
    isOver = true;
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { pid, readyMs: performance.now() - began, stop };
}

async function isReady(admin: AdminClient): Promise<boolean> {
  const node = objectOf(await admin.send('GET', '/api/v1/nodes/node-kit'));
  const { conditions = [] } = node.status as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
