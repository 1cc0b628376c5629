import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { FleetLeaseClient } from '../../../../src/fleet/member/fleet-lease-client.ts';
import { type FleetNames, identityOf, shardLeaseName } from '../../../../src/fleet/member/lease-documents.ts';
import { SeenLeases } from '../../../../src/fleet/member/seen-leases.ts';
import { ShardKeeper } from '../../../../src/fleet/member/shard-keeper.ts';
import type { FleetTiming, ShardHost } from '../../../../src/fleet/member/shard-keeper-options.ts';
import type { ShardTerm } from '../../../../src/fleet/member/shard-term.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { FleetLeaseServer } from './fleet-lease-server.ts';

export const names: FleetNames = { name: 'edge', namespace: 'kube-system', shards: 8 };
export const timing: FleetTiming = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, renewEveryMs: 5000, retryPeriodMs: 2000 };
export const leaseName = shardLeaseName(names, 3);

/** What a host was told, and what it does. */
class RecordingHost implements ShardHost {
  readonly told: string[] = [];
  term: ShardTerm | undefined;
  /** What the calls return. Default: resolved at once. */
  handsOver: () => Promise<void> = () => Promise.resolve();
  loses: () => Promise<void> = () => Promise.resolve();
  gains: () => Promise<void> | void = () => {};

  gained(shard: number, term: ShardTerm): Promise<void> | void {
    this.told.push(`gained ${shard}`);
    this.term = term;
    return this.gains();
  }

  handOver(shard: number): Promise<void> {
    this.told.push(`handOver ${shard}`);
    return this.handsOver();
  }

  lost(shard: number): Promise<void> {
    this.told.push(`lost ${shard}`);
    return this.loses();
  }

  took(): string[] {
    return this.told.splice(0);
  }
}

/** Members that have one shard between them, and a server. */
export class KeeperWorld {
  readonly clock = new FakeClock();
  readonly server = new FleetLeaseServer(this.clock);
  readonly #members: KeptShard[] = [];

  async member(id: string, line: readonly string[] = [id], own: Partial<FleetTiming> = {}): Promise<KeptShard> {
    const member = new KeptShard(this, id, line, own);
    this.#members.push(member);
    await member.seen.start();
    return member;
  }

  /** Lets time pass: each member beats when it is due, and looks when it is woken and when it has said. */
  async pass(ms: number): Promise<void> {
    const until = this.clock.elapsed() + ms;
    for (;;) {
      const dueAt = Math.min(until, ...this.#members.map((member) => member.look()));
      await this.clock.advance(0);
      if (this.#members.some(({ isWoken }) => isWoken)) continue;
      const now = this.clock.elapsed();
      if (now >= until) return;
      await this.clock.advance(Math.min(100, Math.max(1, dueAt - now)));
    }
  }

  /** From now on each write that changes a Lease takes its time. What it returns says how many were under way at once, at most. */
  slowWrites(fate: { readonly handledAfterMs: number } | { readonly answeredAfterMs: number }): () => number {
    const ms = 'handledAfterMs' in fate ? fate.handledAfterMs : fate.answeredAfterMs;
    let [underWay, most] = [0, 0];
    const ended = (): void => {
      underWay -= 1;
    };
    this.server.fate = ({ verb }) => {
      if (verb !== 'PUT') return 'answered';
      underWay += 1;
      most = Math.max(most, underWay);
      this.clock.setTimer(ended, ms);
      return fate;
    };
    return () => most;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ seen }) => seen.stop()));
  }
}

/** One shard, as one member keeps it. */
export class KeptShard {
  readonly host = new RecordingHost();
  readonly metrics = new MetricsRecorder();
  readonly lines = recordedLines();
  readonly seen: SeenLeases;
  readonly leases: FleetLeaseClient;
  readonly keeper: ShardKeeper;
  line: readonly string[];
  takesSince: number | undefined;
  mayHandOver = true;
  areAllTaken = false;
  isSure = true;
  /** False: it does not beat any more. */
  beats = true;
  isWoken = false;
  readonly #world: KeeperWorld;
  #beatAt = 0;

  constructor(world: KeeperWorld, id: string, line: readonly string[], own: Partial<FleetTiming>) {
    const { clock, server } = world;
    this.#world = world;
    this.line = line;
    this.takesSince = clock.elapsed() - 1000;
    this.#beatAt = clock.elapsed();
    const wake = (): void => {
      this.isWoken = true;
    };
    const transport = server.transportOf(id);
    const { logger } = this.lines;
    const metrics = metricsOption(this.metrics);
    const shared = { clock, logger, random: () => 0 };
    const limits = { requestTimeoutMs: 5000, shardWritesAtOnce: 32 };
    this.leases = new FleetLeaseClient({ transport, namespace: names.namespace, ...limits, clock, metrics });
    this.seen = new SeenLeases({
      transport,
      names,
      leaseDurationMs: timing.leaseDurationMs,
      metrics: undefined,
      changed: wake,
      ...shared,
    });
    const { leases, seen, host } = this;
    const identity = identityOf(id, 'p');
    const ofKeeper = { shard: 3, names, id, identity, timing: { ...timing, ...own } };
    this.keeper = new ShardKeeper({ ...ofKeeper, leases, seen, host, metrics, wake, ...shared });
  }

  get state(): string {
    return this.keeper.state;
  }

  get isOwned(): boolean {
    return this.host.term?.isOwned ?? false;
  }

  look(): number {
    const now = this.#world.clock.elapsed();
    const { line, takesSince, mayHandOver, areAllTaken, isSure } = this;
    if (this.beats && now >= this.#beatAt + timing.renewEveryMs) this.#beatAt = now;
    this.isWoken = false;
    const dueAt = this.keeper.look({ line, takesSince, areAllTaken, beatAt: this.#beatAt, isSure, mayHandOver });
    return Math.min(dueAt, this.beats ? this.#beatAt + timing.renewEveryMs : dueAt);
  }
}
