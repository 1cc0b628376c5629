import { Semaphore } from '../../../../src/base/concurrency/semaphore.ts';
import { ShardTerm, sentNow } from '../../../../src/fleet/member/shard-term.ts';
import type { ServedNodeOptions } from '../../../../src/fleet/nodes/served-node.ts';
import type { ProviderNode, StopProviderNodeOptions } from '../../../../src/node.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

/** What the agents of a test do, and what was asked of them, in order. */
export class FakeAgents {
  readonly clock = new FakeClock();
  readonly lines = recordedLines();
  readonly told: string[] = [];
  readonly limits: StopProviderNodeOptions[] = [];
  /** The most agents of one name that ran at once. */
  mostOfOneName = 0;
  starts: (name: string) => Promise<void> = () => Promise.resolve();
  stops: (name: string) => Promise<void> = () => Promise.resolve();
  makes: (name: string) => void = () => {};
  readonly #running = new Map<string, number>();

  term(shard = 0): ShardTerm {
    const { clock } = this;
    return new ShardTerm({ shard, leaseDurationMs: 15_000, renewDeadlineMs: 10_000, clock }, sentNow(clock));
  }

  options(startsAtOnce = 64): ServedNodeOptions {
    const { clock, lines } = this;
    const startTurns = new Semaphore(startsAtOnce);
    return { make: ({ name }) => this.#make(name), startTurns, handOverTimeoutMs: 8000, clock, logger: lines.logger };
  }

  /** How many agents of this name run. */
  running(name: string): number {
    return this.#running.get(name) ?? 0;
  }

  took(): string[] {
    return this.told.splice(0);
  }

  /** Settles after this time. */
  after(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimer(resolve, ms));
  }

  #count(name: string, by: number): void {
    const running = (this.#running.get(name) ?? 0) + by;
    this.#running.set(name, running);
    this.mostOfOneName = Math.max(this.mostOfOneName, running);
  }

  #make(name: string): ProviderNode {
    this.makes(name);
    let stopped: Promise<void> | undefined;
    const agent = {
      start: async () => {
        this.told.push(`start ${name}`);
        this.#count(name, 1);
        await this.starts(name);
      },
      stop: (limits: StopProviderNodeOptions) => {
        this.limits.push(limits);
        stopped ??= this.#stop(name);
        return stopped;
      },
    };
    return agent as unknown as ProviderNode;
  }

  async #stop(name: string): Promise<void> {
    this.told.push(`stop ${name}`);
    try {
      await this.stops(name);
    } finally {
      this.#count(name, -1);
    }
  }
}
