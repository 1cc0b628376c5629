import type { AdminClient } from '../../support/admin-client.ts';
import { podListOf, type ServedPod } from '../../support/answers.ts';
import { Checker } from '../chaos/check/checker.ts';
import type { Mutant } from '../chaos/mutants.ts';
import { Prng } from '../chaos/prng.ts';
import type { Found } from '../chaos/rules.ts';
import { Ledger } from '../chaos/said/ledger.ts';
import { Checkpoints } from './checkpoints.ts';
import { FaultPlan } from './fault-plan.ts';
import { FaultProxy } from './fault-proxy.ts';
import { type FaultTarget, kubeConfigFor } from './fault-target.ts';
import type { History } from './history.ts';
import { whatIsOutOfStep } from './in-step.ts';
import { JumpingClock } from './jumping-clock.ts';
import { NodeAgent } from './node-agent.ts';
import { eventually, pause } from './pause.ts';
import type { Damage, FaultReport } from './report.ts';
import { Rivals } from './rivals.ts';
import { Storm } from './storm.ts';

export interface FaultRunOptions {
  readonly target: FaultTarget;
  readonly seed: number;
  readonly pods: number;
  readonly updates: number;
  /** How long updates and faults go on. Disturbances that take longer are waited for. */
  readonly seconds: number;
  /** A manager broken on purpose. Its run ends as soon as a promise is found broken that it breaks. */
  readonly mutant?: Mutant | undefined;
  readonly convergeWithinMs?: number;
  /** How long each rival waits between two writes, on average. Default 22. */
  readonly rivalPauseMs?: number;
  /** 2: twice as many requests meet a fault. Default 1. */
  readonly faultRate?: number;
  /** Pods that the manager sends at once. Default 16. */
  readonly concurrency?: number;
  /** False: nothing happens to the server as a whole. Default true. */
  readonly disturbed?: boolean;
}

const clientTimeoutMs = 800;
const lastWordsMs = 300;

/** One run: pods, updates, faults and rivals; then calm, and the comparison of every pod with what was said. */
export async function runFaults(options: FaultRunOptions): Promise<FaultReport> {
  const { target, seed, pods, mutant } = options;
  const began = performance.now();
  const stage = await setTheStage(options);
  const { agent, rivals, plan, proxy, ledger, clock, histories, kubeConfig, namespace, damage, checkpoints } = stage;
  // a mutant that is caught need not be waited for
  const isCaught = (): boolean => damage.some(({ rule }) => mutant?.breaks.includes(rule));
  const storm = new Storm({ ...options, agent, ledger, clock, plan, isOver: isCaught });
  rivals.start();
  checkpoints.start();
  await storm.run(options.disturbed === false ? [] : target.disturbances({ proxy, kubeConfig, namespace }));

  plan.active = false;
  if (!isCaught()) await lastWords(stage);
  const withinMs = isCaught() ? 0 : (options.convergeWithinMs ?? 90_000);
  const calm = await calmDown(stage, { admin: target.access.admin, pods, withinMs });
  await Promise.all(histories.map((history) => history.stop()));
  await proxy.stop();
  const versions = histories.map(({ checker: { name, versions: read, gaps } }) => [name, { read, gaps }]);
  return {
    ...calm,
    server: target.kind,
    seed,
    pods,
    seconds: (performance.now() - began) / 1000,
    updates: ledger.updates,
    requests: proxy.requests,
    versions: Object.fromEntries(versions),
    checkpoints: checkpoints.count,
    overwritten: checkpoints.overwritten,
    faults: plan.counts,
    disturbances: storm.disturbances,
    rivals: rivals.acts,
    syncErrors: agent.errors,
    copiesBackInTime: { olderThanAnAnswer: agent.copies.olderThanAnAnswer, olderThanACopy: agent.copies.olderThanACopy },
    damage,
    peakHeapMiB: storm.peakHeap / 2 ** 20,
  };
}

/** The agent says something of each pod, and some of the writes are refused: a manager that does not try again loses them. */
async function lastWords({ agent, plan }: Stage): Promise<void> {
  plan.forbids = true;
  agent.lastWords();
  await pause(lastWordsMs);
  plan.forbids = false;
}

type Stage = Awaited<ReturnType<typeof setTheStage>>;

/** A namespace full of pods, its histories, its rivals, and an agent that has seen its pods through the proxy. */
async function setTheStage(options: FaultRunOptions) {
  const { target, seed, pods, mutant, rivalPauseMs = 22, faultRate, concurrency = 16 } = options;
  const began = performance.now();
  const { access } = target;
  const { admin, authority } = access;
  const namespace = await admin.createNamespace('faults');
  const ledger = new Ledger();
  const damage: Damage[] = [];
  const found: Found = (rule, detail) => damage.push({ rule, detail, atMs: performance.now() - began });
  const plan = new FaultPlan(seed, clientTimeoutMs, faultRate);
  const proxy = await FaultProxy.start({ upstream: target.url, authority, plan });
  const token = await access.newToken(namespace);
  if (target.kind === 'in-memory') proxy.expectedToken = token;
  const kubeConfig = kubeConfigFor(proxy.url, token, authority.cert);
  const histories = access.histories(namespace, (name) => new Checker(name, ledger, found));
  for (const history of histories) history.start();
  const rivals = new Rivals({ admin, namespace, pods, seed, ledger, pauseMs: rivalPauseMs });
  await rivals.createPods();
  const clock = new JumpingClock();
  const agent = new NodeAgent({ kubeConfig, namespace, pods, seed, clock, ledger, clientTimeoutMs, concurrency, found, mutant });
  const [history] = histories;
  if (history === undefined) throw new Error(`The target ${target.kind} has no history to check`);
  const prng = new Prng(seed).fork('checkpoints');
  const checkpoints = new Checkpoints({ agent, proxy, admin, ledger, checker: history.checker, prng, found });
  await agent.start();
  return { namespace, ledger, damage, plan, proxy, kubeConfig, histories, rivals, clock, agent, checkpoints };
}

/** Waits until all is in step, stops the agent, and waits for late requests to land: they must change nothing. */
async function calmDown(stage: Stage, { admin, pods, withinMs }: { admin: AdminClient; pods: number; withinMs: number }) {
  const { agent, rivals, proxy, histories, ledger, namespace, checkpoints } = stage;
  const items = async () => podListOf(await admin.listPods(namespace)).items;
  const wrong = async () => whatIsOutOfStep(await items(), ledger, pods);
  const lastFault = performance.now();
  const isCalm = async (): Promise<boolean> => {
    agent.catchUp();
    return (await wrong()).length === 0;
  };
  const [, converged] = await Promise.all([rivals.finish(withinMs), eventually(isCalm, withinMs, 150)]);
  const convergedInMs = converged ? performance.now() - lastFault : undefined;
  const stopping = performance.now();
  // with the manager ends each flush that is still waited for
  await Promise.all([checkpoints.finish(), agent.stop(Math.min(withinMs, 1000))]);
  const stoppedInMs = performance.now() - stopping;
  await eventually(() => proxy.underWay === 0, Math.min(withinMs, 5000));
  const blind = async () => unread(await items(), histories);
  await eventually(async () => (await blind()).length === 0, Math.min(withinMs, 10_000));
  return { convergedInMs, stoppedInMs, lost: [...(await wrong()), ...(await blind())] };
}

/** Pods whose newest version a history has not read: a checker that sees nothing finds nothing. */
function unread(pods: readonly ServedPod[], histories: readonly History[]): string[] {
  return histories.flatMap(({ checker }) =>
    pods
      .filter((pod) => !checker.hasRead(pod))
      .map(({ metadata }) => `${metadata.name} as it is was not read by ${checker.name}`),
  );
}
