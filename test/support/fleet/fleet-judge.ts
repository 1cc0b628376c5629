import type { AuditedWrite } from './audit-log.ts';
import type { FleetRecord, FleetVersion } from './fleet-record.ts';
import { type HandOver, handOvers } from './hand-overs.ts';
import { ShardTerms } from './shard-terms.ts';
import { StatusOrder } from './status-order.ts';

export const fleetRules = [
  'a member writes only what it owns',
  'no status goes back',
  'every status arrives',
  'no pod is created twice',
  'a node stays Ready',
  'what runs is what the server has',
] as const;

export type FleetRule = (typeof fleetRules)[number];

export interface FleetFinding {
  readonly rule: FleetRule;
  readonly detail: string;
}

export interface Verdict {
  readonly findings: readonly FleetFinding[];
  readonly handOvers: readonly HandOver[];
  /** Accepted writes of members. */
  readonly memberWrites: number;
  /**
   * Versions that a member asked for while it held the shard, and that etcd took only once another one held it. Nobody was told that they
   * were accepted: the server, or etcd, stood still meanwhile, and the member had given up.
   */
  readonly takenLate: number;
  /** Versions of what members write, of which no log says who wrote them: a server died before it had answered. */
  readonly unattributed: number;
}

/** The cluster calls a node NotReady after so long a silence, by default. */
const graceMs = 50_000;

/** A write's target among the versions. */
const kindOf: Readonly<Record<string, FleetVersion['kind']>> = {
  pods: 'pod',
  'pods/status': 'pod',
  nodes: 'node',
  'nodes/status': 'node',
  leases: 'node lease',
  events: 'event',
};

export function isAccepted({ code }: AuditedWrite): boolean {
  return code >= 200 && code < 300;
}

/** It may have taken effect, though nobody was told so. */
function isInDoubt({ code }: AuditedWrite): boolean {
  return code === 0 || code >= 500;
}

/** Users create and delete pods; nobody but the members writes anything else of a node. */
function isOfMembersAlone({ resource }: AuditedWrite): boolean {
  return resource !== 'pods';
}

/** Looks through what a run of a fleet has left behind. Reads nothing else, and keeps no state. */
export function judgeFleet(record: FleetRecord): Verdict {
  return new FleetJudge(record).verdict();
}

class FleetJudge {
  readonly #record: FleetRecord;
  readonly #findings: FleetFinding[] = [];
  /** Accepted writes by the revision that they led to: one made it, the others changed nothing. */
  readonly #byRevision: ReadonlyMap<number, readonly AuditedWrite[]>;
  readonly #inDoubt: ReadonlyMap<string, readonly AuditedWrite[]>;
  readonly #acceptedDeletes: ReadonlyMap<string, readonly AuditedWrite[]>;
  readonly #terms: ShardTerms;
  readonly #nodes: ReadonlySet<string>;
  readonly #nodeOfPod = new Map<string, string>();
  readonly #nodeOfObject = new Map<string, string>();
  #unattributed = 0;
  #takenLate = 0;
  #memberWrites = 0;

  constructor(record: FleetRecord) {
    this.#record = record;
    const accepted = record.writes.filter(isAccepted);
    this.#byRevision = Map.groupBy(accepted, ({ revision = 0 }) => revision);
    this.#inDoubt = Map.groupBy(record.writes.filter(isInDoubt), targetOf);
    const deletes = accepted.filter(({ verb }) => verb === 'delete');
    this.#acceptedDeletes = Map.groupBy(deletes, targetOf);
    this.#nodes = new Set(record.versions.flatMap(({ kind, name }) => (kind === 'node' ? [name] : [])));
    this.#terms = new ShardTerms(record, (revision) => this.#byRevision.get(revision) ?? []);
    for (const version of record.versions) this.#learn(version);
  }

  verdict(): Verdict {
    for (const version of this.#record.versions) this.#judgeAuthor(version);
    for (const write of this.#record.writes) this.#judgeWrite(write);
    this.#judgeLedger();
    this.#judgeStatuses();
    this.#judgeNodes();
    const { writes, departures } = this.#record;
    const accepted = writes.flatMap((write) => {
      const [member, nodeName] = [this.#memberOf(write), this.#nodeOfObject.get(targetOf(write))];
      const isService = isAccepted(write) && member !== undefined && nodeName !== undefined;
      return isService ? [{ member, nodeName, at: write.answeredAt ?? write.receivedAt }] : [];
    });
    return {
      findings: this.#findings,
      handOvers: handOvers(departures, accepted, (nodeName, at) => this.#terms.holderAtTime(nodeName, at)),
      memberWrites: this.#memberWrites,
      takenLate: this.#takenLate,
      unattributed: this.#unattributed,
    };
  }

  #find(rule: FleetRule, detail: string): void {
    this.#findings.push({ rule, detail });
  }

  #learn(version: FleetVersion): void {
    if (version.kind === 'pod' && version.pod !== undefined) this.#nodeOfPod.set(version.pod.uid, version.pod.nodeName);
    const nodeName = this.#nodeOf(version);
    if (nodeName !== undefined && nodeName !== '') this.#nodeOfObject.set(objectOf(version), nodeName);
  }

  /** The node whose affair a version is; undefined: no node's, or a deleted object's. */
  #nodeOf(version: FleetVersion): string | undefined {
    switch (version.kind) {
      case 'pod':
        return version.pod?.nodeName;
      case 'node':
      case 'node lease':
        return version.name;
      case 'event':
        // the apiserver writes events of its own about the Service `kubernetes`
        return this.#nodeOfPod.get(version.about) ?? (this.#nodes.has(version.about) ? version.about : undefined);
      default:
        return undefined;
    }
  }

  /** The id of the member that wrote; undefined: somebody else did. */
  #memberOf({ userAgent }: AuditedWrite): string | undefined {
    const words = `pod-status-manager-fleet/${this.#record.fleet} `;
    return userAgent.startsWith(words) ? userAgent.slice(words.length) : undefined;
  }

  /** By the order of etcd: whoever made this version held the shard when it was made. */
  #judgeAuthor(version: FleetVersion): void {
    const nodeName = this.#nodeOfObject.get(objectOf(version));
    if (nodeName === undefined) return;
    const authors = this.#authorsOf(version);
    if (authors.length === 0) this.#unattributed += 1;
    const members = authors.map((write) => this.#memberOf(write));
    if (authors.length === 0 || members.includes(undefined)) return;
    const holder = this.#terms.holderAtRevision(nodeName, version.revision);
    if (members.includes(holder)) return;
    if (authors.some((write) => this.#wasAskedInTime(write, nodeName))) {
      this.#takenLate += 1;
      return;
    }
    const who = [...new Set(members)].join(' or ');
    const detail = `${who} wrote ${objectOf(version)} of ${nodeName} at ${version.revision}, while ${holder || 'nobody'} held its shard`;
    this.#find('a member writes only what it owns', detail);
  }

  /** True for a write that nobody was told to be accepted, and that the server had before its member had lost the shard. */
  #wasAskedInTime(write: AuditedWrite, nodeName: string): boolean {
    const act = { receivedAt: write.receivedAt, answeredAt: write.receivedAt };
    return isInDoubt(write) && this.#terms.trespass(nodeName, this.#memberOf(write) ?? '', act) === undefined;
  }

  #authorsOf(version: FleetVersion): readonly AuditedWrite[] {
    const target = objectOf(version);
    const made = (this.#byRevision.get(version.revision) ?? []).filter((write) => targetOf(write) === target);
    if (made.length > 0) return made;
    // a deletion first makes a version that says so, of which no answer tells
    const deleted = this.#acceptedDeletes.get(target)?.filter(({ revision = 0 }) => revision > version.revision) ?? [];
    return [...deleted, ...(this.#inDoubt.get(target) ?? [])];
  }

  /** By time: also a write that changed nothing is its owner's alone, and nobody writes once its Lease has run out. */
  #judgeWrite(write: AuditedWrite): void {
    if (!isAccepted(write)) return;
    const member = this.#memberOf(write);
    const nodeName = this.#nodeOfObject.get(targetOf(write));
    if (member !== undefined) this.#memberWrites += 1;
    if (nodeName === undefined) return;
    if (member === undefined) {
      if (!isOfMembersAlone(write)) return;
      const who = `somebody who names no member ("${write.userAgent}")`;
      this.#find('a member writes only what it owns', `${who} wrote ${targetOf(write)} of ${nodeName} at ${write.revision}`);
      return;
    }
    const { receivedAt, answeredAt = receivedAt } = write;
    const why = this.#terms.trespass(nodeName, member, { receivedAt, answeredAt });
    if (why === undefined) return;
    const detail = `${member} wrote ${targetOf(write)} of ${nodeName} at ${new Date(receivedAt).toISOString()}: ${why}`;
    this.#find('a member writes only what it owns', detail);
  }

  #judgeLedger(): void {
    const created = new Set<string>();
    for (const { at, member, call, uid, nodeName, wasThere } of this.#record.ledger) {
      const why = this.#terms.trespass(nodeName, member, { receivedAt: at, answeredAt: at });
      const act = `${member} asked the cloud to ${call} the pod ${uid} of ${nodeName} at ${new Date(at).toISOString()}`;
      if (why !== undefined) this.#find('a member writes only what it owns', `${act}: ${why}`);
      if (call !== 'create') continue;
      if (wasThere || created.has(uid)) this.#find('no pod is created twice', `${act}, which it had created before`);
      created.add(uid);
    }
  }

  #judgeStatuses(): void {
    const { versions, cloudPods } = this.#record;
    const order = new StatusOrder();
    for (const version of versions) {
      if (version.kind !== 'pod') continue;
      for (const detail of order.take(version)) this.#find('no status goes back', detail);
    }
    const inCloud = new Map(cloudPods.map((pod) => [pod.uid, pod]));
    for (const { pod, name } of order.last()) {
      const found = inCloud.get(pod.uid);
      if (found === undefined) {
        this.#find('what runs is what the server has', `the server has the pod ${name} of ${pod.nodeName}, the cloud does not`);
      } else if (pod.cloudVersion !== found.version) {
        const detail = `${name} of ${pod.nodeName} shows version ${pod.cloudVersion}, the cloud has ${found.version}`;
        this.#find('every status arrives', detail);
      }
      inCloud.delete(pod.uid);
    }
    for (const { uid, name, nodeName } of inCloud.values()) {
      this.#find(
        'what runs is what the server has',
        `${name} (${uid}) of ${nodeName} runs in the cloud, the server does not have it`,
      );
    }
  }

  #judgeNodes(): void {
    const wasReady = new Set<string>();
    const heardAt = new Map<string, number>();
    for (const version of this.#record.versions) {
      const { kind, name, revision } = version;
      if (kind !== 'node' && kind !== 'node lease') continue;
      const at = this.#byRevision.get(revision)?.[0]?.answeredAt;
      const silentMs = (at ?? 0) - (heardAt.get(name) ?? Number.POSITIVE_INFINITY);
      if (silentMs > graceMs) this.#find('a node stays Ready', `${name} was silent for ${Math.round(silentMs)} ms`);
      if (at !== undefined) heardAt.set(name, at);
      if (kind === 'node lease') continue;
      if (version.ready === 'True') wasReady.add(name);
      else if (wasReady.has(name)) this.#find('a node stays Ready', `${name} was ${readinessOf(version)} at ${revision}`);
    }
  }
}

function readinessOf({ isThere, ready }: { readonly isThere: boolean; readonly ready: string | undefined }): string {
  return isThere ? `Ready=${ready}` : 'removed';
}

function objectOf({ kind, namespace, name }: FleetVersion): string {
  return `${kind} ${namespace}/${name}`;
}

/** The object of a write, as `objectOf` names it. A shard's Lease is named as a node's: no version of a node has its name. */
function targetOf({ resource, namespace, name }: AuditedWrite): string {
  return `${kindOf[resource] ?? resource} ${namespace}/${name}`;
}
