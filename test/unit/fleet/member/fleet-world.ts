import { expect } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { FleetMember, type StoppedMember } from '../../../../src/fleet/member/fleet-member.ts';
import { type FleetNames, memberLeaseName, shardLeaseName } from '../../../../src/fleet/member/lease-documents.ts';
import type { ShardHost } from '../../../../src/fleet/member/shard-keeper-options.ts';
import type { ShardTerm } from '../../../../src/fleet/member/shard-term.ts';
import type { placementOf } from '../../../../src/fleet/placement.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { FleetLeaseServer, leaseLabels } from './fleet-lease-server.ts';
import { timing } from './keeper-world.ts';

/** A host that keeps the terms that it was given until their end, and takes so long to end what runs. */
class TermsHost implements ShardHost {
  readonly terms = new Map<number, ShardTerm>();
  readonly told: string[] = [];
  endsAfter: () => Promise<void> = () => Promise.resolve();
  /** Until the nodes of a shard run. */
  startsAfter: (shard: number) => Promise<void> = () => Promise.resolve();

  gained(shard: number, term: ShardTerm): Promise<void> {
    this.told.push(`gained ${shard}`);
    this.terms.set(shard, term);
    return this.startsAfter(shard);
  }

  handOver(shard: number): Promise<void> {
    this.told.push(`handOver ${shard}`);
    return this.endsAfter();
  }

  async lost(shard: number): Promise<void> {
    this.told.push(`lost ${shard}`);
    await this.endsAfter();
    this.terms.delete(shard);
  }

  took(): string[] {
    return this.told.splice(0);
  }
}

const shardsAnnotation = 'pod-status-manager/fleet-shards';

export interface ProcessOptions {
  readonly shards?: number;
  readonly process?: string;
  readonly placement?: typeof placementOf;
}

/** One process of the fleet. */
export class FleetProcess {
  readonly id: string;
  readonly names: FleetNames;
  readonly host = new TermsHost();
  readonly metrics = new MetricsRecorder();
  readonly lines = recordedLines();
  readonly member: FleetMember;
  /** How its start has ended; `pending` before. */
  started = 'pending';

  constructor(world: FleetWorld, id: string, { shards = 8, process = 'p', placement }: ProcessOptions = {}) {
    const { clock, server } = world;
    this.id = id;
    this.names = { name: 'edge', namespace: 'kube-system', shards };
    const transport = server.transportOf(`${id}${process === 'p' ? '' : `_${process}`}`);
    const shared = { transport, names: this.names, id, process, agent: `process 1 on ${id}` };
    const parts = { clock, random: () => 0, logger: this.lines.logger, sink: this.metrics };
    this.member = new FleetMember(
      {
        ...{ ...shared, ...parts, timing, handOversAtOnce: 4, metrics: metricsOption(this.metrics) },
        ...(placement !== undefined && { placement }),
      },
      this.host,
    );
  }

  /** The shards for which it may write. */
  get owned(): number[] {
    return [...this.host.terms].filter(([, term]) => term.isOwned).map(([shard]) => shard);
  }

  start(): this {
    const say = (how: string): void => {
      this.started = how;
    };
    this.member.start().then(
      () => say('resolved'),
      (error) => say(`rejected: ${error.code}`),
    );
    return this;
  }
}

/** Processes of a fleet that share a server of Leases and a clock. No two of them may ever own a shard, nor count with two numbers of them. */
export class FleetWorld {
  readonly clock = new FakeClock();
  readonly server = new FleetLeaseServer(this.clock);
  readonly processes: FleetProcess[] = [];

  process(id: string, options: ProcessOptions = {}): FleetProcess {
    const process = new FleetProcess(this, id, options);
    this.processes.push(process);
    return process;
  }

  /** Starts several, and lets them share the shards. Resolves to as many processes as there are ids. */
  async fleet<const IDs extends readonly string[]>(...ids: IDs): Promise<{ [Index in keyof IDs]: FleetProcess }> {
    const processes = ids.map((id) => this.process(id).start());
    await this.pass(3000);
    return processes as { [Index in keyof IDs]: FleetProcess };
  }

  async pass(ms: number, stepMs = 100): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(left, stepMs));
      this.judge();
    }
    if (ms === 0) await this.clock.advance(0);
    this.judge();
  }

  /** Waits for what settles in virtual time. */
  async settled<T>(work: Promise<T>, mostMs = 60_000): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    work.then(settle, settle);
    for (let passed = 0; !isSettled && passed <= mostMs; passed += 100) await this.pass(100);
    expect(isSettled).toBe(true);
    return work;
  }

  stop(process: FleetProcess, timeoutMs = 25_000): Promise<StoppedMember> {
    return this.settled(process.member.stop(timeoutMs));
  }

  /** Stops all, and looks that nothing is left. */
  async end(): Promise<void> {
    this.server.fate = () => 'answered';
    await this.settled(Promise.all(this.processes.map(({ member }) => member.stop(0))));
    await this.pass(10_000);
    expect([this.clock.pendingTimers, this.server.watches.size]).toEqual([0, 0]);
    expect(this.processes.flatMap(({ metrics }) => metrics.mistakes)).toEqual([]);
  }

  judge(): void {
    const owners = new Map<number, string>();
    const numbers = new Set<number>();
    for (const { id, owned, names } of this.processes) {
      if (owned.length > 0) numbers.add(names.shards);
      for (const shard of owned) {
        expect(owners.get(shard), `owner of shard ${shard} beside ${id} at ${this.clock.elapsed()}`).toBe(undefined);
        owners.set(shard, id);
      }
    }
    expect(numbers.size, `numbers of shards at ${this.clock.elapsed()}`).toBeLessThan(2);
  }

  /** From now on the process reaches nobody. */
  cutOff(...ids: string[]): void {
    this.server.fate = ({ who }) => (ids.includes(who) ? 'lost' : 'answered');
    this.server.isDeaf = (who) => ids.includes(who);
  }

  /** The number of shards that the fleet says. */
  get saidShards(): string | undefined {
    return this.server.leases.get('fleet-edge')?.metadata?.annotations?.[shardsAnnotation];
  }

  /** Somebody writes a number of shards by hand. */
  writeShards(shards: number): void {
    const lease = this.server.leases.get('fleet-edge');
    const names = { name: 'fleet-edge', labels: leaseLabels('fleet') };
    this.server.put({
      ...lease,
      metadata: { ...lease?.metadata, ...names, annotations: { [shardsAnnotation]: String(shards) } },
    });
  }

  /** A member that does nothing but be there. */
  putMember(id: string, { shards = 8, seconds = 60 } = {}): void {
    const annotations = { [shardsAnnotation]: String(shards) };
    const metadata = { name: this.memberLease(id), labels: leaseLabels('member'), annotations };
    this.server.put({ metadata, spec: { holderIdentity: `${id}_p`, leaseDurationSeconds: seconds } });
  }

  /** Somebody holds a shard, for a minute. */
  putShard(shard: number): void {
    const metadata = { name: this.shardLease(shard), labels: leaseLabels('shard') };
    this.server.put({ metadata, spec: { holderIdentity: 'x_p', leaseDurationSeconds: 60 } });
  }

  memberLease(id: string): string {
    return memberLeaseName({ name: 'edge', namespace: '', shards: 8 }, id);
  }

  shardLease(shard: number): string {
    return shardLeaseName({ name: 'edge', namespace: '', shards: 8 }, shard);
  }
}
