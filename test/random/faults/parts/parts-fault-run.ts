import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import type { PartsMutant } from '../../chaos/parts/mutants.ts';
import type { OpenWatch, PartsWorld } from '../../chaos/parts/parts-world.ts';
import type { PartsRule } from '../../chaos/parts/rules.ts';
import { runParts } from '../../chaos/parts/scenario.ts';
import { Prng } from '../../chaos/prng.ts';
import { everyWatchFault, FaultPlan } from '../fault-plan.ts';
import { FaultProxy } from '../fault-proxy.ts';
import { type Disturbance, type FaultTarget, kubeConfigFor } from '../fault-target.ts';
import { eventually, pause } from '../pause.ts';
import { nodeName } from '../pods.ts';
import { AdminServerSide } from './admin-server-side.ts';
import { HastyClock } from './hasty-clock.ts';

export interface PartsFaultRunOptions {
  readonly target: FaultTarget;
  readonly seed: number;
  /** How long the faults go on. Disturbances that take longer are waited for, and so are the deeds. */
  readonly seconds: number;
  readonly mutant?: PartsMutant | undefined;
  /** Disturbances of the server as a whole; the others are left out. Default: all that the target has. */
  readonly mostDisturbances?: number;
  readonly convergeWithinSeconds?: number;
  /** How much the other hand does to objects at least, on a machine however busy. Default 40. */
  readonly leastDeeds?: number;
}

export interface PartsFaultReport {
  readonly server: string;
  readonly seed: number;
  readonly seconds: number;
  readonly requests: number;
  /** Of these, those over HTTP/2: watches, where the proxy offers it. */
  readonly overHttp2: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
  readonly damage: readonly { readonly rule: PartsRule; readonly detail: string; readonly atMs: number }[];
  /** From the end of the faults until all was in step; undefined: never. */
  readonly convergedInMs: number | undefined;
}

/** The agent's time passes so many times as fast as the machine's. */
const speed = 20;
/** The agent's limit of a request is a second of the machine's. */
const clientTimeoutMs = 1000;
const clockJumps = 4;
const longestWaitForDeedsMs = 30_000;

/** One run over real sockets: a node agent with all of the parts, behind a proxy that fails what it carries. */
export async function runPartsFaults(options: PartsFaultRunOptions): Promise<PartsFaultReport> {
  const {
    target,
    seed,
    seconds,
    mutant,
    mostDisturbances = Number.POSITIVE_INFINITY,
    convergeWithinSeconds = 60,
    leastDeeds = 40,
  } = options;
  const began = performance.now();
  const { admin, authority } = target.access;
  const namespace = await admin.createNamespace('parts');
  const plan = new FaultPlan(seed, clientTimeoutMs, 4, { kinds: everyWatchFault, longestMs: 1800 });
  const proxy = await FaultProxy.start({ upstream: target.url, authority, plan, http2: seed % 4 !== 0 });
  const token = await target.access.newToken(namespace);
  if (target.kind === 'in-memory') proxy.expectedToken = token;
  const kubeConfig = kubeConfigFor(proxy.url, token, authority.cert);
  const agentClock = new HastyClock(speed);
  const transport = new KubeTransport(kubeConfig, { clock: agentClock, requestTimeoutMs: clientTimeoutMs * speed });
  const damage: { rule: PartsRule; detail: string; atMs: number }[] = [];
  const isOver = (): boolean => damage.some(({ rule }) => mutant?.breaks.includes(rule));
  const disturbances = target.disturbances({ proxy, kubeConfig, namespace }).slice(0, mostDisturbances);
  const prng = new Prng(seed).fork('clock jumps');
  const jump = (): void => {
    plan.count('clock jump');
    agentClock.jump(prng.between(-3_600_000, 3_600_000));
  };
  const world: PartsWorld = {
    clock: new HastyClock(speed),
    agentClock,
    namespace,
    nodeName,
    server: new AdminServerSide(admin, namespace),
    transport,
    // one server, whose cache never goes back
    cachesLag: target.kind === 'two-apiservers',
    openWatches: () => proxy.openWatches.map(watchOf),
    noticedWithinLooks: 60,
    convergeWithinMs: convergeWithinSeconds * 1000 * speed,
    storm: async (isEarly, deeds) => {
      await Promise.all([disturb(disturbances, plan, isEarly), passTime(seconds, jump, isEarly)]);
      await eventually(() => isEarly() || deeds() >= leastDeeds, longestWaitForDeedsMs);
      plan.active = false;
    },
    silenceWatches: () => proxy.silenceWatches(),
    expireWatches: () => proxy.expireWatches(),
    leftovers: async () => {
      await transport.close();
      const left = (): string[] => [
        ...proxy.openWatches.map((url) => `a watch: ${url}`),
        ...(proxy.connections > 0 ? [`${proxy.connections} connections`] : []),
        ...(agentClock.pendingTimers > 0 ? [`${agentClock.pendingTimers} timers`] : []),
      ];
      await eventually(() => left().length === 0, 3000);
      return left();
    },
  };
  const found = (rule: PartsRule, detail: string): void => {
    damage.push({ rule, detail, atMs: performance.now() - began });
  };
  const { counts, convergedInMs } = await runParts({ world, seed, mutant, found, isOver });
  await proxy.stop();
  return {
    server: target.kind,
    seed,
    seconds: (performance.now() - began) / 1000,
    requests: proxy.requests,
    overHttp2: proxy.overHttp2,
    counts,
    faults: plan.counts,
    damage,
    convergedInMs: convergedInMs === undefined ? undefined : convergedInMs / speed,
  };
}

/** One after the other. */
async function disturb(disturbances: readonly Disturbance[], plan: FaultPlan, isOver: () => boolean): Promise<void> {
  for (const { kind, run } of disturbances) {
    await pause(1000);
    if (isOver()) return;
    await run();
    plan.count(kind);
  }
}

async function passTime(seconds: number, jump: () => void, isOver: () => boolean): Promise<void> {
  for (let i = 0; i < clockJumps; i++) {
    await eventually(isOver, (seconds * 1000) / clockJumps);
    if (!isOver()) jump();
  }
}

function watchOf(url: string): OpenWatch {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const resource = pathname.slice(pathname.lastIndexOf('/') + 1);
  return { resource, name: /^metadata\.name=(.*)$/.exec(searchParams.get('fieldSelector') ?? '')?.[1] };
}
