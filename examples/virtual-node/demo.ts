import { randomBytes } from 'node:crypto';
import { AdminClient } from './admin-client.ts';
import { DemoRun } from './demo-run.ts';
import { claimNamespace, type RunNamespace } from './namespace.ts';
import type { DemoOptions } from './options.ts';
import { runLabel } from './pod-template.ts';
import type { Screen } from './screen.ts';
import { type DemoServer, openServer } from './server.ts';
import { summarize } from './summary.ts';
import { describeError, judge, type VerdictContext } from './verdict.ts';

/** A cluster's controllers delete pods of a node without a Node object after about a minute; a safe run is shorter. */
const safeSecondsOnACluster = 40;

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
  if (server.isShared && options.seconds > safeSecondsOnACluster) {
    screen.print('A kube-controller-manager deletes the pods of an unknown node after about a minute.');
  }
  const run = new DemoRun({ server, admin, namespace: namespace.name, runID, options });
  let ok = false;
  try {
    ok = await playAndJudge(run, { admin, server, namespace: namespace.name, labelSelector }, surroundings);
  } finally {
    await run.close();
    if (server.isShared) ok = (await cleanUp(namespace, screen)) && ok;
  }
  return ok;
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
  screen.begin(() => run.snapshot());
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
