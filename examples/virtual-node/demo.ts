import { randomBytes } from 'node:crypto';
import { AdminClient } from './admin-client.ts';
import { type DebugPage, openDebugPage } from './debug-page.ts';
import { DemoRun, type RunEnd } from './demo-run.ts';
import { claimNamespace, type RunNamespace } from './namespace.ts';
import type { DemoOptions } from './options.ts';
import { runLabel } from './pod-template.ts';
import { renderLine, renderView } from './render.ts';
import type { Screen } from './screen.ts';
import { type DemoServer, openServer } from './server.ts';
import { summarize } from './summary.ts';
import { describeError, judge, type VerdictContext } from './verdict.ts';

export interface Interrupts {
  /** Aborted by the first Ctrl-C: the run ends early. */
  readonly ending: AbortSignal;
  /** Aborted by the second Ctrl-C: the run waits for nothing more. */
  readonly hurrying: AbortSignal;
}

/** Runs the whole demo, from the server to the clean-up. Resolves to true when the server's statuses equal the manager's. */
export async function runDemo(options: DemoOptions, screen: Screen, interrupts: Interrupts): Promise<boolean> {
  if (options.server.kind === 'control-plane') screen.print('starting etcd and kube-apiserver ...');
  const server = await openServer(options.server);
  const admin = new AdminClient(server.kubeConfig());
  try {
    return await inNamespace(options, { server, admin, screen, interrupts });
  } finally {
    await admin.close();
    await server.stop();
  }
}

interface Surroundings {
  readonly server: DemoServer;
  readonly admin: AdminClient;
  readonly screen: Screen;
  readonly interrupts: Interrupts;
}

async function inNamespace(options: DemoOptions, surroundings: Surroundings): Promise<boolean> {
  const { admin, screen, server } = surroundings;
  const runID = randomBytes(4).toString('hex');
  const labelSelector = `${runLabel}=${runID}`;
  const namespace = await claimNamespace(admin, options.namespace ?? `pod-status-manager-${runID}`, labelSelector);
  screen.print(
    `${options.pods} pods for ${options.seconds} s on the ${server.label}, seed ${options.seed}, namespace ${namespace.name}`,
  );
  let ok = false;
  try {
    const run = new DemoRun({ server, admin, namespace: namespace.name, runID, options });
    let debugPage: DebugPage | undefined;
    try {
      debugPage = await openDebugPage(run.node, options.debugPort);
      if (debugPage !== undefined) screen.print(`watch it live: ${debugPage.url}`);
      ok = await playAndJudge(run, { admin, server, namespace: namespace.name, labelSelector }, surroundings);
    } finally {
      await debugPage?.close();
      ok = report(await run.close(), surroundings) && ok;
    }
  } finally {
    if (server.isShared) ok = (await cleanUp(namespace, screen)) && ok;
  }
  return ok;
}

/** Says what became of the node. Returns false when something of it is left behind. */
function report({ nodeName, node, lease }: RunEnd, { screen, server }: Surroundings): boolean {
  const left = [...(node === 'failed' ? ['Node'] : []), ...(lease === 'failed' ? ['Lease'] : [])];
  if (left.length > 0) screen.print(screen.paint('red', `the ${left.join(' and the ')} ${nodeName} could not be removed`));
  else if (server.isShared && node === 'removed') screen.print(`node ${nodeName} and its Lease are removed`);
  return left.length === 0;
}

/** Returns false when pods are left behind. It does not throw: an error of the run itself must stay visible. */
async function cleanUp(namespace: RunNamespace, screen: Screen): Promise<boolean> {
  try {
    screen.print(await namespace.cleanUp());
    return true;
  } catch (error) {
    screen.print(screen.paint('red', `${describeError(error)}: the pods in namespace ${namespace.name} are left behind`));
    return false;
  }
}

async function playAndJudge(run: DemoRun, context: VerdictContext, { screen, interrupts }: Surroundings): Promise<boolean> {
  const problems: string[] = [];
  screen.begin({
    view: (columns) => renderView(run.snapshot(), columns, screen.paint),
    line: () => renderLine(run.snapshot()),
  });
  try {
    await run.play(interrupts.ending);
    await run.settle(interrupts.hurrying).catch((error: unknown) => problems.push(describeError(error)));
  } finally {
    screen.end();
  }
  if (interrupts.hurrying.aborted) problems.push('interrupted before everything had settled');
  const { lines, ok } = summarize(await judge(run, context, problems), screen.paint);
  for (const line of lines) screen.print(line);
  return ok;
}
