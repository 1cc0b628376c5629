import type { WireLease } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError, unlessGone } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import type { LeaseRole } from './lease-documents.ts';

export interface FleetLeaseClientOptions {
  readonly transport: ResourceTransport;
  readonly namespace: string;
  /** How long one request may take. */
  readonly requestTimeoutMs: number;
  /** So many Leases of shards are written at once. The others wait, and their time begins with their turn. */
  readonly shardWritesAtOnce: number;
  readonly clock: SteadyClock;
  readonly metrics: Metrics;
}

/** The requests for Leases of a fleet. Each settles within its limit, whatever the transport does; that begins with its turn. */
export class FleetLeaseClient {
  readonly #options: FleetLeaseClientOptions;
  readonly #leases: ResourceClient<WireLease>;
  readonly #shardTurns: Semaphore;
  readonly #stopping = new AbortController();

  constructor(options: FleetLeaseClientOptions) {
    this.#options = options;
    this.#leases = new ResourceClient<WireLease>(options.transport, resources.leases);
    this.#shardTurns = new Semaphore(options.shardWritesAtOnce);
  }

  /** Undefined: there is no such Lease. */
  read(name: string): Promise<WireLease | undefined> {
    const target = { namespace: this.#options.namespace, name };
    return this.#within(`GET of the Lease ${name}`, (call) => unlessGone(this.#leases.get(target, call)));
  }

  /** All Leases with these labels, as they are now. */
  list(labelSelector: string): Promise<readonly WireLease[]> {
    const { namespace } = this.#options;
    return this.#within('GET of the Leases of the fleet', async (call) => {
      const { items } = await this.#leases.list({ namespace, labelSelector, ...call });
      return items;
    });
  }

  /** Creates the Lease, or replaces it where `lease` has the version of one that was read. The server refuses where another was first. */
  async write(lease: WireLease, role: LeaseRole): Promise<WireLease> {
    const { metadata } = lease;
    const isNew = metadata?.resourceVersion === undefined;
    const what = `${isNew ? 'POST' : 'PUT'} of the Lease ${metadata?.name}`;
    const { metrics } = this.#options;
    const kind = role === 'shard' ? 'shard' : 'member';
    const send = (): Promise<WireLease> =>
      this.#within(what, (call) => (isNew ? this.#leases.create(lease, call) : this.#leases.update(lease, call)));
    try {
      const written = await (role === 'shard' ? this.#shardTurns.run(send, this.#stopping.signal) : send());
      metrics.increment('pod_status_manager_fleet_lease_writes_total', { kind, result: 'ok' });
      return written;
    } catch (error) {
      metrics.increment('pod_status_manager_fleet_lease_writes_total', { kind, result: classifyApiError(error) });
      throw error;
    }
  }

  /** Deletes the Lease, unless it has changed since it was read. */
  async remove({ metadata }: WireLease): Promise<void> {
    const { name = '', uid, resourceVersion } = metadata ?? {};
    const target = { namespace: this.#options.namespace, name };
    await this.#within(`DELETE of the Lease ${name}`, (call) =>
      unlessGone(this.#leases.delete(target, { uid, resourceVersion, ...call })),
    );
  }

  /** Ends the requests under way, and refuses every later one. */
  stop(): void {
    this.#stopping.abort(new ApiError({ reason: 'Aborted', message: 'The member of the fleet was stopped' }));
  }

  #within<T>(what: string, call: (limits: { signal: AbortSignal; timeoutMs: number }) => Promise<T>): Promise<T> {
    const { clock, requestTimeoutMs: timeoutMs } = this.#options;
    const late = (): ApiError => new ApiError({ reason: 'Timeout', message: `${what}: no answer within ${timeoutMs} ms` });
    return callWithin((signal) => call({ signal, timeoutMs }), { clock, timeoutMs, signal: this.#stopping.signal, late });
  }
}

/** Another writer was first, or the Lease is gone. */
export function isWriteRefused(error: unknown): boolean {
  const errorClass = classifyApiError(error);
  return errorClass === 'conflict' || errorClass === 'gone';
}
