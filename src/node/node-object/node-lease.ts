// Behaviour of k8s.io/component-helpers/apimachinery/lease/controller.go, v0.36.3.
import { formatMicroTime } from '../../api/json/time.ts';
import type { WireLease } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { classifyApiError, unlessGone } from '../../client/resources/error-class.ts';
import type { ResourceClient } from '../../client/resources/resource-client.ts';
import type { ResolvedNodeOptions } from './node-object-options.ts';
import type { NodeRequests } from './node-requests.ts';

/** How often one step reads the Lease and renews it again, when another writer is always first. */
const renewAttempts = 5;

export interface NodeLeaseOptions {
  readonly settings: ResolvedNodeOptions;
  readonly leases: ResourceClient<WireLease>;
  readonly requests: NodeRequests;
  /** Undefined while the node is not registered. */
  readonly nodeUID: () => string | undefined;
}

/** Creates the node's Lease, and renews it: one request a renewal, made against the Lease as the last answer showed it. */
export class NodeLease {
  readonly #options: NodeLeaseOptions;
  readonly #rivals = new LeaseRivals();
  /** The newest Lease that we have written or read. */
  #latest: WireLease | undefined;
  #createdUID: string | undefined;
  #lastRenewAt: number | undefined;
  /** The same moment by `Clock.elapsed`. */
  #renewedAt: number | undefined;
  #toldRivalAt = Number.NEGATIVE_INFINITY;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  /** The uid of the Lease that this process has created, and that nobody has replaced. */
  get createdUID(): string | undefined {
    return this.#createdUID;
  }

  /** In milliseconds since the epoch. */
  get lastRenewAt(): number | undefined {
    return this.#lastRenewAt;
  }

  /** How long ago the last renewal was, in milliseconds; undefined before the first. */
  get ageMs(): number | undefined {
    return this.#renewedAt === undefined ? undefined : this.#options.settings.clock.elapsed() - this.#renewedAt;
  }

  get rival(): LeaseRival | undefined {
    return this.#rivals.rival;
  }

  /** See {@link LeaseRivals.isAnotherAlive}; `lease` is the Lease as it is now. */
  isAnotherAlive(lease: WireLease | undefined): boolean {
    const { clock, leaseDurationSeconds } = this.#options.settings;
    return this.#rivals.isAnotherAlive(lease, readClock(clock), leaseDurationSeconds * 1000);
  }

  /** One renewal. Rejects with what a request rejects with. Before the node is registered nothing happens. */
  async step(): Promise<void> {
    if (this.#options.nodeUID() === undefined && this.#latest === undefined) return;
    for (let attempt = 1; ; attempt++) {
      const base = this.#latest ?? (await this.#read());
      try {
        await this.#write(base);
        return;
      } catch (error) {
        const errorClass = classifyApiError(error);
        // whoever was first, the next attempt reads what there is
        if (errorClass === 'conflict' || errorClass === 'gone' || errorClass === 'invalid') this.#latest = undefined;
        if (attempt === renewAttempts || (errorClass !== 'conflict' && errorClass !== 'gone')) throw error;
      }
    }
  }

  async #write(base: WireLease | undefined): Promise<void> {
    const { settings, leases, requests, nodeUID } = this.#options;
    const { nodeName, holderIdentity, leaseDurationSeconds, clock, logger, metrics } = settings;
    const lease = renewedLease(base, { nodeName, nodeUID: nodeUID(), holderIdentity, leaseDurationSeconds, now: clock.now() });
    this.#rivals.sent(lease);
    if (base === undefined) {
      const created = await requests.call('the creation of the Lease', (call) => leases.create(lease, call));
      this.#createdUID = created.metadata?.uid;
      this.#latest = created;
      logger.info({ node: nodeName }, 'created the Lease of the node');
    } else {
      this.#latest = await requests.call('the renewal of the Lease', (call) => leases.update(lease, call));
    }
    this.#lastRenewAt = clock.now();
    this.#renewedAt = clock.elapsed();
    metrics.increment('pod_status_manager_lease_renewals_total', { result: 'ok' });
    logger.debug({ node: nodeName }, 'the Lease of the node is renewed');
  }

  /** Undefined: there is no such Lease. */
  async #read(): Promise<WireLease | undefined> {
    const { settings, leases, requests } = this.#options;
    const { nodeName: name, clock } = settings;
    const target = { namespace: leaseNamespace, name };
    const lease = await unlessGone(requests.call('the read of the Lease', (call) => leases.get(target, call)));
    if (lease?.metadata?.uid !== this.#createdUID) this.#createdUID = undefined;
    if (lease === undefined) return undefined;
    this.#latest = lease;
    this.#noteRival(this.#rivals.read(lease, readClock(clock)));
    return lease;
  }

  /** The log says it once in a Lease's duration. */
  #noteRival(rival: LeaseRival | undefined): void {
    if (rival === undefined) return;
    const { clock, logger, nodeName, leaseDurationSeconds } = this.#options.settings;
    const now = clock.elapsed();
    if (now - this.#toldRivalAt < leaseDurationSeconds * 1000) return;
    this.#toldRivalAt = now;
    logger.error({ node: nodeName, ...rival }, 'another agent renews the Lease of this node: two agents run under one name');
  }
}

function readClock(clock: SteadyClock): ClockReading {
  return { now: clock.now(), elapsed: clock.elapsed() };
}

// Behaviour of k8s.io/component-helpers/apimachinery/lease newLease and pkg/kubelet/util SetNodeOwnerFunc, v0.36.3.

export const leaseNamespace = 'kube-node-lease';

export interface LeaseContents {
  readonly nodeName: string;
  readonly nodeUID: string | undefined;
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The Lease to write: a new one, or `base` renewed. What others put into it stays, owners but the node included. */
function renewedLease(base: WireLease | undefined, contents: LeaseContents): WireLease {
  const { nodeName, nodeUID, holderIdentity, leaseDurationSeconds, now } = contents;
  const { metadata, spec } = base ?? {};
  return {
    ...base,
    metadata: {
      ...metadata,
      name: nodeName,
      namespace: leaseNamespace,
      ...ownerReferences(metadata?.ownerReferences ?? [], nodeName, nodeUID),
    },
    spec: { ...spec, holderIdentity, leaseDurationSeconds, renewTime: formatMicroTime(now) },
  };
}

/** A node that was created again is another owner: by the old one the garbage collector would remove the Lease. */
function ownerReferences(
  owners: NonNullable<WireLease['metadata']>['ownerReferences'] & object,
  nodeName: string,
  uid: string | undefined,
): Pick<NonNullable<WireLease['metadata']>, 'ownerReferences'> {
  if (uid === undefined) return {};
  const others = owners.filter(({ kind, name }) => kind !== 'Node' || name !== nodeName);
  return { ownerReferences: [...others, { apiVersion: 'v1', kind: 'Node', name: nodeName, uid }] };
}

/** Another agent that renews the Lease of this node: two agents run under one name. */
export interface LeaseRival {
  /** Who holds the Lease, by its own word. */
  readonly holderIdentity: string;
  /** As the Lease says. */
  readonly renewTime: string;
  /** When it was noticed, in milliseconds since the epoch. */
  readonly seenAt: number;
}

/** What a clock says: in milliseconds since the epoch, and by `Clock.elapsed`. */
interface ClockReading {
  readonly now: number;
  readonly elapsed: number;
}

/** Renewals of ours that the server may still tell of: the answer to one may have been lost. */
const remembered = 8;

/** Tells our renewals from those of another agent. */
class LeaseRivals {
  readonly #sent: string[] = [];
  /** The renewal that was there before our first. */
  #found: string | undefined;
  #rival: LeaseRival | undefined;
  /** When the last was noticed, by `Clock.elapsed`. */
  #rivalAt = 0;

  /** The last that was noticed. */
  get rival(): LeaseRival | undefined {
    return this.#rival;
  }

  sent(lease: WireLease): void {
    this.#sent.push(renewalOf(lease));
    if (this.#sent.length > remembered) this.#sent.shift();
  }

  /** A Lease that was read. Returns the rival whose renewal it shows. */
  read(lease: WireLease, { now, elapsed }: ClockReading): LeaseRival | undefined {
    const { renewTime = '', holderIdentity = '' } = lease.spec ?? {};
    if (this.#sent.length === 0) {
      // that of an agent before us, perhaps of ourselves before a restart
      this.#found = renewTime;
      return undefined;
    }
    if (renewTime === '' || renewTime === this.#found || this.#sent.includes(renewalOf(lease))) return undefined;
    this.#rivalAt = elapsed;
    this.#rival = { holderIdentity, renewTime, seenAt: now };
    return this.#rival;
  }

  /**
   * True when another agent lives under the name of this node, as far as this Lease and those that were read before say. A
   * renewal that is none of ours is one of another agent; that of an agent before us counts while its Lease has not run out.
   */
  isAnotherAlive(lease: WireLease | undefined, { now, elapsed }: ClockReading, durationMs: number): boolean {
    if (this.#rival !== undefined && elapsed - this.#rivalAt < durationMs) return true;
    const { renewTime = '' } = lease?.spec ?? {};
    if (lease === undefined || renewTime === '' || this.#sent.includes(renewalOf(lease))) return false;
    const isOfBefore = this.#sent.length === 0 || renewTime === this.#found;
    return !isOfBefore || Math.abs(now - Date.parse(renewTime)) < durationMs;
  }
}

/** Tells one renewal from another: by its time, and by its holder where each process has a `holderIdentity` of its own. */
function renewalOf({ spec }: WireLease): string {
  return `${spec?.renewTime ?? ''} ${spec?.holderIdentity ?? ''}`;
}
