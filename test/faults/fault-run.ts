import { Random } from '../../examples/virtual-node/random.ts';
import type { PodClient } from '../../src/index.ts';
import { Checker, type DamageKind } from './checker.ts';
import { FaultPlan } from './fault-plan.ts';
import { FaultProxy } from './fault-proxy.ts';
import { type Disturbance, type FaultTarget, kubeConfigFor } from './fault-target.ts';
import { outOfStep } from './in-step.ts';
import { Journal } from './journal.ts';
import { JumpingClock } from './jumping-clock.ts';
import { NodeAgent } from './node-agent.ts';
import { eventually, pause } from './pause.ts';
import type { FaultReport } from './report.ts';
import { Rivals } from './rivals.ts';

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
  const { target, seed, pods, wrapClient, convergeWithinMs = 90_000 } = options;
  const began = performance.now();
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
  rivals.start();

  const damage = () => histories.flatMap(({ checker }) => checker.damage);
  const isCaught = () => damage().some(({ kind }) => options.untilDamage?.includes(kind));
  const storm = new Storm(options, {
    agent,
    journal,
    clock,
    plan,
    isOver: isCaught,
  });
  await storm.run(target.disturbances({ proxy, kubeConfig, namespace }));

  plan.active = false;
  const lastFault = performance.now();
  // a mutant that is caught need not be waited for
  const withinMs = isCaught() ? 0 : convergeWithinMs;
  const wrong = () => outOfStep({ admin, namespace, journal, agent, pods });
  const [, converged] = await Promise.all([
    rivals.finish(withinMs),
    eventually(async () => (await wrong()).length === 0, withinMs),
  ]);
  const convergedInMs = converged ? performance.now() - lastFault : undefined;
  const lost = converged ? [] : await wrong();
  const stopping = performance.now();
  await agent.stop();
  const stoppedInMs = performance.now() - stopping;
  await pause(300);
  await Promise.all(histories.map((history) => history.stop()));
  await proxy.stop();
  const versions = histories.map(({ checker: { name, versions: read, gaps } }) => [name, { read, gaps }]);
  return {
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
    lost,
    damage: damage(),
    convergedInMs,
    stoppedInMs,
    peakHeapMiB: storm.peakHeap / 2 ** 20,
  };
}

interface StormParts {
  readonly agent: NodeAgent;
  readonly journal: Journal;
  readonly clock: JumpingClock;
  readonly plan: FaultPlan;
  readonly isOver: () => boolean;
}

/** The loud part of a run: updates at an even pace, disturbances one after the other, clock jumps. */
class Storm {
  readonly disturbances = new Map<string, number>();
  peakHeap = 0;
  readonly #options: FaultRunOptions;
  readonly #parts: StormParts;
  #disturbing = true;
  #progress = 0;

  constructor(options: FaultRunOptions, parts: StormParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(disturbances: readonly Disturbance[]): Promise<void> {
    await Promise.all([this.#update(), this.#disturb(disturbances), this.#jump()]);
  }

  /** The last update comes after the last disturbance, however long that took. */
  async #update(): Promise<void> {
    const { updates, seconds } = this.#options;
    const { agent, journal, isOver } = this.#parts;
    const began = performance.now();
    while (!isOver()) {
      this.#progress = (performance.now() - began) / (seconds * 1000);
      if (this.#progress >= 1 && journal.updates >= updates && !this.#disturbing) return;
      const due = this.#progress >= 1 && !this.#disturbing ? updates : Math.min(this.#progress, 1) * updates - 1;
      // a burst at a time, so that sockets get their turn
      for (let n = 0; n < 200 && journal.updates < due; n++) agent.update();
      this.peakHeap = Math.max(this.peakHeap, process.memoryUsage().heapUsed);
      await pause(5);
    }
  }

  async #disturb(disturbances: readonly Disturbance[]): Promise<void> {
    for (const [i, { kind, run }] of disturbances.entries()) {
      while (this.#progress < (i + 0.5) / disturbances.length && !this.#parts.isOver()) await pause(20);
      if (this.#parts.isOver()) break;
      await run();
      this.disturbances.set(kind, (this.disturbances.get(kind) ?? 0) + 1);
    }
    this.#disturbing = false;
  }

  async #jump(): Promise<void> {
    const { clock, plan, isOver } = this.#parts;
    const random = new Random(this.#options.seed, 6);
    for (let i = 1; i <= 8; i++) {
      while (this.#progress < i / 9 && !isOver()) await pause(20);
      clock.jump(random.between(-7_200_000, 7_200_000));
      plan.count('clock jump');
    }
  }
}
