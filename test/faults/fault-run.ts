import type { PodClient } from '../../src/index.ts';
import type { AdminClient } from '../support/admin-client.ts';
import { podListOf, type ServedPod } from '../support/answers.ts';
import { Checker, type DamageKind } from './checker.ts';
import { FaultPlan } from './fault-plan.ts';
import { FaultProxy } from './fault-proxy.ts';
import { type FaultTarget, kubeConfigFor } from './fault-target.ts';
import type { History } from './history.ts';
import { outOfStep } from './in-step.ts';
import { Journal } from './journal.ts';
import { JumpingClock } from './jumping-clock.ts';
import { NodeAgent } from './node-agent.ts';
import { eventually } from './pause.ts';
import type { FaultReport } from './report.ts';
import { Rivals } from './rivals.ts';
import { Storm } from './storm.ts';

export interface FaultRunOptions {
  readonly target: FaultTarget;
  readonly seed: number;
  readonly pods: number;
  readonly updates: number;
  /** How long updates and faults go on. Disturbances that take longer are waited for. */
  readonly seconds: number;
  readonly wrapClient?: ((client: PodClient) => PodClient) | undefined;
  /** Ends as soon as damage of one of these kinds is found. */
  readonly untilDamage?: readonly DamageKind[];
  readonly convergeWithinMs?: number;
}

const clientTimeoutMs = 800;

/** One run: pods, updates, faults and rivals; then quiet, and the look at what is left. */
export async function runFaults(options: FaultRunOptions): Promise<FaultReport> {
  const { target, seed, pods } = options;
  const began = performance.now();
  const stage = await setTheStage(options);
  const { agent, rivals, plan, proxy, journal, clock, histories, kubeConfig, namespace } = stage;
  const damage = () => histories.flatMap(({ checker }) => checker.damage);
  const isCaught = () => damage().some(({ kind }) => options.untilDamage?.includes(kind));
  const storm = new Storm({ ...options, agent, journal, clock, plan, isOver: isCaught });
  rivals.start();
  await storm.run(target.disturbances({ proxy, kubeConfig, namespace }));

  plan.active = false;
  // a mutant that is caught need not be waited for
  const calm = await calmDown(stage, {
    admin: target.admin,
    pods,
    withinMs: isCaught() ? 0 : (options.convergeWithinMs ?? 90_000),
  });
  await Promise.all(histories.map((history) => history.stop()));
  await proxy.stop();
  const versions = histories.map(({ checker: { name, versions: read, gaps } }) => [name, { read, gaps }]);
  return {
    ...calm,
    server: target.kind,
    seed,
    pods,
    seconds: (performance.now() - began) / 1000,
    updates: journal.updates,
    requests: proxy.requests,
    versions: Object.fromEntries(versions),
    faults: plan.counts,
    disturbances: storm.disturbances,
    rivals: rivals.acts,
    syncErrors: agent.errors,
    damage: damage(),
    peakHeapMiB: storm.peakHeap / 2 ** 20,
  };
}

type Stage = Awaited<ReturnType<typeof setTheStage>>;

/** A namespace full of pods, everybody who watches it, and an agent that has seen its pods through the proxy. */
async function setTheStage({ target, seed, pods, wrapClient }: FaultRunOptions) {
  const { admin, authority } = target;
  const namespace = await admin.createNamespace('faults');
  const journal = new Journal();
  const plan = new FaultPlan(seed, clientTimeoutMs);
  const proxy = await FaultProxy.start({ upstream: target.url, authority, plan });
  const token = await target.newToken(namespace);
  if (target.kind === 'in-memory') proxy.expectedToken = token;
  const kubeConfig = kubeConfigFor(proxy.url, token, authority.cert);
  const histories = target.histories(namespace, (name) => new Checker(name, journal));
  for (const history of histories) history.start();
  const rivals = new Rivals({ admin, namespace, pods, seed, journal });
  await rivals.createPods();
  const clock = new JumpingClock();
  const agent = new NodeAgent({ kubeConfig, namespace, pods, seed, clock, journal, clientTimeoutMs, wrapClient });
  await agent.start();
  return { namespace, journal, plan, proxy, kubeConfig, histories, rivals, clock, agent };
}

/** Waits until all is in step, stops the agent, and waits for requests that are still to land: they must change nothing. */
async function calmDown(stage: Stage, { admin, pods, withinMs }: { admin: AdminClient; pods: number; withinMs: number }) {
  const { agent, rivals, proxy, histories } = stage;
  const wrong = () => outOfStep({ ...stage, admin, pods });
  const lastFault = performance.now();
  const [, converged] = await Promise.all([
    rivals.finish(withinMs),
    eventually(async () => (await wrong()).length === 0, withinMs),
  ]);
  const convergedInMs = converged ? performance.now() - lastFault : undefined;
  const stopping = performance.now();
  await agent.stop();
  const stoppedInMs = performance.now() - stopping;
  await eventually(() => proxy.underWay === 0, 5000);
  const blind = async () => unread(podListOf(await admin.listPods(stage.namespace)).items, histories);
  await eventually(async () => (await blind()).length === 0, Math.min(withinMs, 10_000));
  return { convergedInMs, stoppedInMs, lost: [...(await wrong()), ...(await blind())] };
}

/** What a history has not come to read: a checker that sees nothing finds nothing. */
function unread(pods: readonly ServedPod[], histories: readonly History[]): string[] {
  return histories.flatMap(({ checker }) =>
    pods
      .filter((pod) => !checker.hasRead(pod))
      .map(({ metadata }) => `${metadata.name} as it is was not read by ${checker.name}`),
  );
}
