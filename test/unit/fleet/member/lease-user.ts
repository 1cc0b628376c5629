import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { FleetLeaseClient } from '../../../../src/fleet/member/fleet-lease-client.ts';
import { SeenLeases } from '../../../../src/fleet/member/seen-leases.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { FleetLeaseServer } from './fleet-lease-server.ts';
import { names, timing } from './keeper-world.ts';

/** A process that reads and writes Leases of a fleet, and a server. */
export class LeaseUser {
  readonly clock = new FakeClock();
  readonly server = new FleetLeaseServer(this.clock);
  readonly leases: FleetLeaseClient;
  readonly seen: SeenLeases;

  constructor() {
    const { clock, server } = this;
    const transport = server.transportOf('a');
    const { namespace } = names;
    const limits = { requestTimeoutMs: 5000, shardWritesAtOnce: 32 };
    this.leases = new FleetLeaseClient({ transport, namespace, ...limits, clock, metrics: metricsOption(undefined) });
    const { logger } = recordedLines();
    const shared = {
      transport,
      names,
      leaseDurationMs: timing.leaseDurationMs,
      clock,
      logger,
      random: () => 0,
      metrics: undefined,
    };
    this.seen = new SeenLeases({ ...shared, changed: () => {} });
  }

  async start(): Promise<this> {
    await this.seen.start();
    this.took();
    return this;
  }

  /** Nothing comes over the watch any more: only what the process has read and written itself is known. */
  hearNothing(): void {
    this.server.isDeaf = () => true;
  }

  /** The requests since the last call: `VERB NAME`. */
  took(): string[] {
    return this.server.requests.splice(0).map(({ verb, name }) => `${verb} ${name}`);
  }
}
