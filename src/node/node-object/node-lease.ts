// Behaviour of k8s.io/component-helpers/apimachinery/lease/controller.go, v0.36.3.
import { formatMicroTime } from '../../api/json/time.ts';
import type { WireLease } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { capitalized, problemFields } from '../../base/problem.ts';
import { classifyApiError, unlessGone } from '../../client/resources/error-class.ts';
import type { ResourceClient } from '../../client/resources/resource-client.ts';
import { type ClockReading, type LeaseRival, LeaseRivals, leaseAfterEnd, markedLease, rivalProblem } from './lease-rivals.ts';
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
  readonly #rivals: LeaseRivals;
  /** The newest Lease that we have written or read. */
  #latest: WireLease | undefined;
  #createdUID: string | undefined;
  #lastRenewAt: number | undefined;
  /** The same moment by `Clock.elapsed`. */
  #renewedAt: number | undefined;
  #toldRivalAt = Number.NEGATIVE_INFINITY;
  /** The node that the newest Lease names as its owner, or will. */
  #ownerUID: string | undefined;
  #isReading = false;
  /** The last read has found none: the next step creates it without another. */
  #isAbsent = false;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
    const { writer, leaseDurationSeconds, isSoleAgent } = options.settings;
    this.#rivals = new LeaseRivals(writer, leaseDurationSeconds * 1000, isSoleAgent);
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
    return this.#rivals.rival(this.#options.settings.clock.elapsed());
  }

  /** True where the Lease does not name this node as its owner, and no step is under way that will. */
  lacksOwner(uid: string): boolean {
    return !this.#isReading && this.#ownerUID !== uid;
  }

  /** How long to wait after a renewal, in milliseconds: less while another agent is suspected, which the next renewals find. */
  nextRenewalMs(): number {
    const { clock, renewIntervalMs } = this.#options.settings;
    return Math.min(this.#rivals.nextLookMs(clock.elapsed()) ?? renewIntervalMs, renewIntervalMs);
  }

  /** Something else than the Lease has hinted at another agent. Returns true when a renewal now would tell. */
  hint(): boolean {
    return this.#rivals.hint(readClock(this.#options.settings.clock));
  }

  /** See {@link LeaseRivals.isAnotherAlive}; `lease` is the Lease as it is now. */
  isAnotherAlive(lease: WireLease | undefined): boolean {
    return this.#rivals.isAnotherAlive(lease, readClock(this.#options.settings.clock));
  }

  /** Says in the Lease that this agent has ended, whoever has renewed it last, so that no other one suspects it. Never rejects. */
  async sayEnded(requests: NodeRequests): Promise<void> {
    const { settings, leases } = this.#options;
    const { writer, logger, nodeName } = settings;
    if (this.#latest === undefined || this.#lastRenewAt === undefined) return;
    const write = (lease: WireLease): Promise<unknown> =>
      requests.call('the last write of the Lease', (call) => leases.update(leaseAfterEnd(lease, writer), call));
    try {
      const known = this.#latest;
      if (await succeeds(write(known))) return;
      const target = { namespace: leaseNamespace, name: nodeName };
      await write(await requests.call('the last read of the Lease', (call) => leases.get(target, call)));
    } catch (err) {
      const fields = { err, errorClass: classifyApiError(err), node: nodeName };
      logger.debug(fields, 'the Lease does not say that this agent has ended');
    }
  }

  /**
   * One renewal. Rejects with what a request rejects with. Before the node is registered no Lease is created; one that is there is renewed
   * all the same by an agent that is sure to be alone, so that the cluster does not miss the node meanwhile.
   */
  async step(): Promise<void> {
    const { settings, nodeUID } = this.#options;
    if (nodeUID() === undefined && this.#latest === undefined && !settings.isSoleAgent) return;
    for (let attempt = 1; ; attempt++) {
      const base = this.#latest ?? (await this.#readUnlessAbsent());
      if (base === undefined && nodeUID() === undefined) {
        this.#isAbsent = true;
        return;
      }
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
    const { nodeName, holderIdentity, leaseDurationSeconds, clock, writer, logger, metrics } = settings;
    const contents = { nodeName, nodeUID: nodeUID(), holderIdentity, leaseDurationSeconds, now: clock.now() };
    this.#ownerUID = contents.nodeUID ?? this.#ownerUID;
    const lease = markedLease(renewedLease(base, contents), writer);
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
    const gone = this.#rivals.renewed(clock.elapsed());
    if (gone !== undefined)
      logger.info({ node: nodeName, ...leaseFields(gone) }, 'no other agent renews the Lease of this node any more');
  }

  async #readUnlessAbsent(): Promise<WireLease | undefined> {
    const isAbsent = this.#isAbsent;
    this.#isAbsent = false;
    if (isAbsent) return undefined;
    this.#isReading = true;
    try {
      return await this.#read();
    } finally {
      this.#isReading = false;
    }
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
    this.#ownerUID = ownerUIDOf(lease, name);
    this.#noteRival(this.#rivals.read(lease, readClock(clock)));
    return lease;
  }

  /** A certain one is told once in a Lease's duration. */
  #noteRival(rival: LeaseRival | undefined): void {
    if (rival === undefined) return;
    const { clock, logger, nodeName, leaseDurationSeconds, eventRecorder } = this.#options.settings;
    const problem = rivalProblem(rival);
    const fields = { node: nodeName, ...leaseFields(rival), ...problemFields(problem, clock.now()) };
    if (!rival.isCertain) {
      logger.warn(
        fields,
        'another agent may run under the name of this node: it renewed the Lease just now, and did not say that it ended',
      );
      return;
    }
    const now = clock.elapsed();
    if (now - this.#toldRivalAt < leaseDurationSeconds * 1000) return;
    this.#toldRivalAt = now;
    logger.error(fields, 'another agent renews the Lease of this node: two agents run under one name');
    eventRecorder.nodeEvent(nodeName, 'Warning', 'TwoAgents', capitalized(problem.message));
  }
}

/** False where another writer was first. Rejects with every other failure. */
async function succeeds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (classifyApiError(error) !== 'conflict') throw error;
    return false;
  }
}

function leaseFields({
  agent,
  holderIdentity,
  renewTime,
}: LeaseRival): Pick<LeaseRival, 'agent' | 'holderIdentity' | 'renewTime'> {
  return { agent, holderIdentity, renewTime };
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

function ownerUIDOf({ metadata }: WireLease, nodeName: string): string | undefined {
  return metadata?.ownerReferences?.find(({ kind, name }) => kind === 'Node' && name === nodeName)?.uid;
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
