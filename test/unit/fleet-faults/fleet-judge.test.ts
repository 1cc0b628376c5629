import { describe, expect, it } from 'vitest';
import { AuditLog } from '../../support/fleet/audit-log.ts';
import type { CloudCall, CloudPod } from '../../support/fleet/cloud.ts';
import { falsifications } from '../../support/fleet/falsify.ts';
import { judgeFleet } from '../../support/fleet/fleet-judge.ts';
import { type Departure, type FleetRecord, type FleetVersion, fleetVersion } from '../../support/fleet/fleet-record.ts';
import { shardOfNode } from '../../support/fleet/shard-terms.ts';

const [fleet, shards] = ['edge', 4];
const nodeName = 'north';
const shardLease = `fleet-edge-shard-00${shardOfNode(nodeName, shards)}`;
const began = Date.parse('2026-01-31T12:00:00Z');
const uid = 'uid-of-web';

interface WriteOptions {
  readonly verb?: string;
  readonly code?: number;
  /** False: the server dies before it answers. */
  readonly answers?: boolean;
  /** False: etcd takes no new version. */
  readonly changes?: boolean;
}

/** Writes a story as servers do: lines of an audit log, and versions in etcd. Each write takes 2 ms, and comes 100 ms after the one before. */
class Story {
  readonly log = new AuditLog();
  readonly versions: FleetVersion[] = [];
  readonly ledger: CloudCall[] = [];
  readonly departures: Departure[] = [];
  cloudPods: CloudPod[] = [];
  now = began;
  #revision = 100;

  write(who: string, key: string, object: object | undefined, options: WriteOptions = {}): void {
    const { verb = 'update', code = 200, answers = true, changes = true } = options;
    this.now += 100;
    if (changes) {
      this.#revision += 1;
      const version = fleetVersion(fleet, { revision: this.#revision, key, object });
      if (version !== undefined) this.versions.push(version);
    }
    const [kind = '', ...path] = key.split('/');
    const resource = kind === 'minions' ? 'nodes' : kind;
    const objectRef = { resource, name: path.at(-1), ...(path.length > 1 && { namespace: path[0] }) };
    const subresource = verb === 'patch' ? { subresource: 'status' } : {};
    const userAgent = who === 'admin' ? 'kubectl' : `pod-status-manager-fleet/${fleet} ${who}`;
    const [received, answered] = [this.now, this.now + 2].map((at) => new Date(at).toISOString().replace('Z', '123Z'));
    const event = { auditID: `id-${this.now}`, verb, userAgent, objectRef: { ...objectRef, ...subresource } };
    const first = { ...event, stage: 'RequestReceived', requestReceivedTimestamp: received, stageTimestamp: received };
    this.log.take(JSON.stringify(first));
    const responseObject = { metadata: { name: objectRef.name, resourceVersion: String(this.#revision) } };
    const second = { ...first, stage: 'ResponseComplete', stageTimestamp: answered, responseStatus: { code }, responseObject };
    if (answers) this.log.take(JSON.stringify(second));
  }

  lease(who: string, holderIdentity = who, options: WriteOptions = {}): void {
    this.write(who, `leases/kube-system/${shardLease}`, { spec: { holderIdentity } }, options);
  }

  node(who: string, ready = 'True'): void {
    this.write(who, `minions/${nodeName}`, { status: { conditions: [{ type: 'Ready', status: ready }] } }, { verb: 'patch' });
  }

  nodeLease(who: string): void {
    this.write(who, `leases/kube-node-lease/${nodeName}`, { spec: { holderIdentity: nodeName } });
  }

  event(who: string): void {
    this.write(
      who,
      'events/default/north.1',
      { involvedObject: { kind: 'Node', name: nodeName } },
      { verb: 'create', code: 201 },
    );
  }

  /** A status of the pod, by the cloud's version. */
  status(who: string, version: number, options: WriteOptions = {}): void {
    const second = String(version).padStart(2, '0');
    const containerStatuses = [
      { name: 'app', restartCount: version, state: { running: { startedAt: `2026-01-31T12:00:${second}Z` } } },
    ];
    const status = {
      phase: 'Running',
      startTime: '2026-01-31T12:00:00Z',
      message: `cloud version ${version}`,
      containerStatuses,
    };
    this.write(who, 'pods/default/web', { metadata: { uid }, spec: { nodeName }, status }, { verb: 'patch', ...options });
  }

  create(member: string): void {
    this.now += 100;
    this.ledger.push({ at: this.now, member, call: 'create', uid, nodeName, wasThere: false });
  }

  departs(member: string, how: Departure['how']): void {
    this.departures.push({ member, how, at: this.now });
  }

  record(): FleetRecord {
    const { versions, departures, ledger, cloudPods } = this;
    return { fleet, shards, leaseDurationMs: 3000, versions, writes: this.log.writes, departures, ledger, cloudPods };
  }
}

function cloudPod(version: number): CloudPod {
  return { uid, namespace: 'default', name: 'web', nodeName, runsOnce: false, containers: [], version };
}

/** Member a serves the node, stops, and b takes it. */
function clean(): Story {
  const story = new Story();
  story.lease('a', 'a', { verb: 'create', code: 201 });
  story.node('a');
  story.nodeLease('a');
  story.event('a');
  story.write('admin', 'pods/default/web', { metadata: { uid }, spec: { nodeName } }, { verb: 'create', code: 201 });
  story.create('a');
  story.status('a', 1);
  story.lease('a');
  story.departs('a', 'stopped');
  story.status('a', 2);
  story.lease('a', '');
  story.lease('b');
  story.nodeLease('b');
  story.status('b', 3);
  story.cloudPods = [cloudPod(3)];
  return story;
}

describe('the judge of a fleet', () => {
  it('leaves the events to the apiserver that it writes of its own Service', () => {
    const story = clean();
    const involvedObject = { kind: 'Service', name: 'kubernetes', uid: 'uid-of-service' };
    story.write('admin', 'events/default/kubernetes.1', { involvedObject }, { verb: 'create', code: 201 });
    expect(judgeFleet(story.record()).findings).toEqual([]);
  });

  it('finds nothing in a clean record, and says how long the node waited for its new owner', () => {
    expect(judgeFleet(clean().record())).toEqual({
      findings: [],
      handOvers: [{ nodeName, from: 'a', how: 'stopped', to: 'b', gapMs: expect.closeTo(402.123, 3) }],
      memberWrites: 11,
      takenLate: 0,
      unattributed: 0,
    });
  });

  it.each(falsifications)('finds $name', ({ breaks, falsify }) => {
    const { findings } = judgeFleet(falsify(clean().record()));
    expect(new Set(findings.map(({ rule }) => rule))).toEqual(new Set([breaks]));
  });

  it('goes by the order of etcd where clocks say otherwise: the old owner’s write came in before the new one’s, and was taken after it', () => {
    const story = clean();
    const [late] = story.record().writes.slice(-1);
    story.status('a', 4);
    story.cloudPods = [cloudPod(4)];
    const record = story.record();
    const writes = record.writes.map((write, index, { length }) =>
      index === length - 1 ? { ...write, receivedAt: (late?.receivedAt ?? 0) - 350 } : write,
    );
    const { findings } = judgeFleet({ ...record, writes });
    expect(findings).toEqual([
      {
        rule: 'a member writes only what it owns',
        detail: 'a wrote pod default/web of north at 113, while b held its shard',
      },
    ]);
  });

  it('finds a write that changed nothing, of which etcd knows nothing', () => {
    const story = clean();
    story.status('a', 3, { changes: false });
    expect(judgeFleet(story.record()).findings).toMatchObject([
      { detail: expect.stringMatching(/^a wrote pod .* b held the shard$/) },
    ]);
  });

  it('knows by its request who made a version that the dying server told nobody of', () => {
    const story = clean();
    story.status('a', 4, { answers: false });
    story.cloudPods = [cloudPod(4)];
    expect(judgeFleet(story.record())).toMatchObject({
      findings: [{ detail: expect.stringContaining('a wrote pod') }],
      unattributed: 0,
    });
  });

  it('counts a write apart that came in while its member held the shard, was answered to nobody, and was taken later', () => {
    const story = clean();
    const inTime = began + 850;
    story.status('a', 4, { code: 504 });
    story.cloudPods = [cloudPod(4)];
    const record = story.record();
    const writes = record.writes.map((write) => (write.code === 504 ? { ...write, receivedAt: inTime } : write));
    expect(judgeFleet({ ...record, writes })).toMatchObject({ findings: [], takenLate: 1 });
    const accepted = writes.map((write) => (write.code === 504 ? { ...write, code: 200 } : write));
    expect(judgeFleet({ ...record, writes: accepted })).toMatchObject({ findings: [{}], takenLate: 0 });
  });

  it('says of a member that was hindered and wrote for its node again that it kept the node', () => {
    const story = clean();
    story.departs('b', 'paused');
    story.nodeLease('b');
    story.lease('b', '');
    story.lease('a');
    story.nodeLease('a');
    expect(judgeFleet(story.record()).handOvers.at(-1)).toMatchObject({ from: 'b', how: 'paused', to: undefined });
  });

  it('counts a version that nobody asked for', () => {
    const story = clean();
    story.write('b', 'minions/north', { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const record = story.record();
    expect(judgeFleet({ ...record, writes: record.writes.slice(0, -1) })).toMatchObject({ findings: [], unattributed: 1 });
  });

  it('takes a Lease that was taken again for held, also where a write came in while that was answered', () => {
    const story = clean();
    story.lease('b', '');
    story.lease('b');
    const at = story.now;
    story.status('b', 4);
    story.cloudPods = [cloudPod(4)];
    const record = story.record();
    const writes = record.writes.map((write) => (write.receivedAt > at + 1 ? { ...write, receivedAt: at + 1 } : write));
    expect(judgeFleet({ ...record, writes }).findings).toEqual([]);
  });

  it('finds a node of which nothing was heard for 50 s', () => {
    const story = clean();
    story.now += 50_000;
    story.lease('b');
    story.nodeLease('b');
    story.status('b', 3);
    expect(judgeFleet(story.record()).findings).toMatchObject([
      { rule: 'a node stays Ready', detail: 'north was silent for 50300 ms' },
    ]);
  });

  it('says of a node that nobody served after its owner was killed', () => {
    const story = clean();
    story.departs('b', 'killed');
    expect(judgeFleet(story.record()).handOvers.at(-1)).toEqual({
      nodeName,
      from: 'b',
      how: 'killed',
      to: undefined,
      gapMs: undefined,
    });
  });

  it('counts lines that a dying server has cut off', () => {
    const log = new AuditLog();
    log.take('{"stage":"RequestRec');
    log.take('');
    expect([log.brokenLines, log.writes]).toEqual([1, []]);
  });
});
