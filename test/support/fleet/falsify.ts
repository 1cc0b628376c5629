import { type FleetRule, isAccepted } from './fleet-judge.ts';
import type { FleetRecord, FleetVersion, PodRecord } from './fleet-record.ts';

type PodVersion = Extract<FleetVersion, { kind: 'pod' }> & { readonly pod: PodRecord };

/** A damage that is put into a clean record, and the promise that it breaks. */
export interface Falsification {
  readonly name: string;
  readonly breaks: FleetRule;
  readonly falsify: (record: FleetRecord) => FleetRecord;
}

const stranger = 'nobody-of-this-fleet';

/** The record must have two members that served nodes, a pod whose status changed, and a node that was Ready. */
export const falsifications: readonly Falsification[] = [
  {
    name: 'a status that another member wrote',
    breaks: 'a member writes only what it owns',
    falsify: (record) => writtenBy(record, stranger, (write) => write.resource === 'pods/status'),
  },
  ...(['pods/status', 'nodes/status', 'leases', 'events'] as const).map(
    (resource): Falsification => ({
      name: `a write of ${resource} by somebody who names no member`,
      breaks: 'a member writes only what it owns',
      falsify: (record) => {
        const isOne = (write: FleetRecord['writes'][number]): boolean =>
          write.resource === resource && write.namespace !== 'kube-system';
        return withAgent(record, 'node', isOne);
      },
    }),
  ),
  {
    name: 'a Lease of a node that another member renewed',
    breaks: 'a member writes only what it owns',
    falsify: (record) =>
      writtenBy(record, stranger, (write) => write.resource === 'leases' && write.namespace === 'kube-node-lease'),
  },
  {
    name: 'an event that another member wrote',
    breaks: 'a member writes only what it owns',
    falsify: (record) => writtenBy(record, stranger, (write) => write.resource === 'events'),
  },
  {
    name: 'statuses of an owner whose shards somebody else had held all the time',
    breaks: 'a member writes only what it owns',
    falsify: (record) => ({
      ...record,
      versions: record.versions.map((version) => (version.kind === 'shard lease' ? { ...version, holder: stranger } : version)),
    }),
  },
  {
    name: 'statuses after the Lease was given up',
    breaks: 'a member writes only what it owns',
    falsify: (record) => ({
      ...record,
      versions: record.versions.map((version) => (version.kind === 'shard lease' ? { ...version, holder: '' } : version)),
    }),
  },
  {
    name: 'writes after the Lease had run out',
    breaks: 'a member writes only what it owns',
    falsify: (record) => ({ ...record, leaseDurationMs: 1 }),
  },
  {
    name: 'a pod that was created by a member without the shard',
    breaks: 'a member writes only what it owns',
    falsify: (record) => ({ ...record, ledger: record.ledger.map((call) => ({ ...call, member: stranger })) }),
  },
  { name: 'a phase that went back', breaks: 'no status goes back', falsify: (record) => withLast(record, { phase: 'Pending' }) },
  {
    name: 'an older version of the cloud’s pod after a newer one',
    breaks: 'no status goes back',
    falsify: (record) => withLast(record, { cloudVersion: 0 }),
  },
  {
    name: 'another startTime',
    breaks: 'no status goes back',
    falsify: (record) => withLast(record, { startTime: '2001-01-01T00:00:00Z' }),
  },
  {
    name: 'a restart count that went back',
    breaks: 'no status goes back',
    falsify: (record) => withLast(record, { containers: { app: { restartCount: -1, startedAt: undefined } } }),
  },
  {
    name: 'a container that had started later before',
    breaks: 'no status goes back',
    falsify: (record) => withLast(record, { containers: { app: { restartCount: 99, startedAt: '2001-01-01T00:00:00Z' } } }),
  },
  {
    name: 'a last status that never arrived',
    breaks: 'every status arrives',
    falsify: (record) => ({ ...record, cloudPods: record.cloudPods.map((pod) => ({ ...pod, version: pod.version + 1 })) }),
  },
  {
    name: 'a pod that was created twice',
    breaks: 'no pod is created twice',
    falsify: (record) => ({
      ...record,
      ledger: record.ledger.flatMap((call) => (call.call === 'create' ? [call, call] : [call])),
    }),
  },
  {
    name: 'a node that was not Ready for a while',
    breaks: 'a node stays Ready',
    falsify: (record) => ({ ...record, versions: [...record.versions, nodeVersion(record, { ready: 'False', isThere: true })] }),
  },
  {
    name: 'a node that was removed',
    breaks: 'a node stays Ready',
    falsify: (record) => ({
      ...record,
      versions: [...record.versions, nodeVersion(record, { ready: undefined, isThere: false })],
    }),
  },
  {
    name: 'a pod that the cloud has forgotten',
    breaks: 'what runs is what the server has',
    falsify: (record) => ({ ...record, cloudPods: record.cloudPods.slice(1) }),
  },
  {
    name: 'a pod that outlived its object',
    breaks: 'what runs is what the server has',
    falsify: (record) => ({ ...record, cloudPods: record.cloudPods.flatMap((pod) => [pod, { ...pod, uid: `${pod.uid}-2` }]) }),
  },
];

/** The last accepted write of these has another author. */
function writtenBy(record: FleetRecord, member: string, isOne: (write: FleetRecord['writes'][number]) => boolean): FleetRecord {
  return withAgent(record, `pod-status-manager-fleet/${record.fleet} ${member}`, isOne);
}

/** The last accepted write of these has another user agent. */
function withAgent(
  record: FleetRecord,
  userAgent: string,
  isOne: (write: FleetRecord['writes'][number]) => boolean,
): FleetRecord {
  const chosen = record.writes.findLast((write) => isOne(write) && isAccepted(write));
  if (chosen === undefined) throw new Error('the record has no such write');
  return { ...record, writes: record.writes.map((write) => (write === chosen ? { ...write, userAgent } : write)) };
}

/** After the last version of a pod that runs another one follows, and then the last one again. */
function withLast(record: FleetRecord, change: Partial<PodRecord>): FleetRecord {
  const uids = new Set(record.cloudPods.map(({ uid }) => uid));
  const isOne = (version: FleetVersion): version is PodVersion =>
    version.kind === 'pod' && version.pod?.phase === 'Running' && uids.has(version.pod.uid);
  const last = record.versions.findLast(isOne);
  if (last === undefined) throw new Error('the record has no pod that runs');
  const newest = record.versions.at(-1)?.revision ?? 0;
  const damaged = { ...last, revision: newest + 1, pod: { ...last.pod, ...change } };
  return { ...record, versions: [...record.versions, damaged, { ...last, revision: newest + 2 }] };
}

function nodeVersion(
  { versions }: FleetRecord,
  state: { readonly ready: string | undefined; readonly isThere: boolean },
): FleetVersion {
  const ready = versions.find((version) => version.kind === 'node' && version.ready === 'True');
  if (ready?.kind !== 'node') throw new Error('the record has no node that was Ready');
  return { ...ready, ...state, revision: (versions.at(-1)?.revision ?? 0) + 1 };
}
