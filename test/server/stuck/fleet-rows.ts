import type { NodeFleetOptions } from '../../../src/fleet.ts';
import { refusal } from './node-rows.ts';
import type { StuckFleet } from './stuck-fleet.ts';
import type { StuckRow } from './stuck-row.ts';

/** A way in which a member of a fleet is stuck, with what brings it about. */
export interface FleetRow extends StuckRow {
  readonly options?: Partial<NodeFleetOptions>;
  /** Before the member starts. */
  readonly before?: (stuck: StuckFleet) => Promise<void> | void;
  /** What has to be done so that it is over soon after. */
  readonly mend: (stuck: StuckFleet) => Promise<void> | void;
}

/** A source that tells of one node, and fails once it is let. */
async function* failingSource(): AsyncGenerator<{ type: 'added'; node: string }> {
  yield { type: 'added', node: 'told-before' };
  throw new Error('the database does not answer');
}

/** Fails as often as it is said. */
function providerThatFails(times: number): NodeFleetOptions['provider'] {
  let failures = 0;
  return () => {
    failures += 1;
    if (failures <= times) throw new Error('no credentials for the cloud');
    return { createPod() {}, deletePod() {}, getPodStatus: () => undefined };
  };
}

/** Ways in which a member of a fleet takes no shards, or serves not all of its nodes. */
export const fleetRows: readonly FleetRow[] = [
  {
    id: 'fleet-leases-forbidden',
    title: 'no right to the Leases of the fleet (403)',
    about: 'fleet',
    kind: 'forbidden',
    words: 'cannot create resource "leases"',
    help: "Give this member's user the right that is missing: the message names both. deploy/fleet.yaml has all that a fleet needs for its Leases, in the namespace of its option.",
    before: ({ proxy }) =>
      proxy.fail(
        /POST .*\/leases/,
        refusal(403, 'Forbidden', 'leases.coordination.k8s.io is forbidden: User "agent" cannot create resource "leases"'),
      ),
    mend: ({ proxy }) => proxy.heal(),
  },
  {
    id: 'fleet-id-twice',
    title: 'two processes are members under one id',
    about: 'fleet',
    kind: 'fleet-id',
    words: 'another process has the id of this member',
    log: { message: 'this process takes no shards of the fleet' },
    retried: false,
    help: 'Give each member an id of its own; this one takes shards once the other has left, or its Lease has run out.',
    before: (stuck) => stuck.other({ id: 'member' }),
    mend: (stuck) => stuck.endOther(),
  },
  {
    id: 'fleet-other-shards',
    title: 'the members were told different numbers of shards',
    about: 'fleet',
    kind: 'fleet-shards',
    words: 'has 3 shards, and this process was told 2',
    log: { message: 'this process takes no shards of the fleet' },
    retried: false,
    help: 'Give all members the same number of shards; this one takes shards once no member with another number is left.',
    before: (stuck) => stuck.other({ shards: 3 }),
    mend: (stuck) => stuck.endOther(),
  },
  {
    id: 'fleet-shards-unowned',
    title: 'nobody can take shards of the fleet',
    about: 'fleet',
    kind: 'fleet-unowned',
    words: 'no owner: nobody serves the nodes',
    log: { message: 'shards of the fleet have no owner' },
    retried: false,
    help: 'See what the members say of these shards: their snapshots and logs tell why none takes them.',
    options: { leaseDurationMs: 1000 },
    before: async (stuck) => {
      // the Leases of the shards are there, and may not be taken
      await stuck.other({});
      await stuck.endOther();
      stuck.proxy.fail(/PUT .*\/leases\/[^/]*-shard-/, refusal(403, 'Forbidden', 'User "agent" cannot update resource "leases"'));
    },
    mend: ({ proxy }) => proxy.heal(),
  },
  {
    id: 'fleet-source-failed',
    title: 'the source of the nodes of a fleet has failed',
    about: 'fleet',
    kind: 'fleet-nodes',
    words: 'the database does not answer',
    log: { message: 'the source of the nodes of the fleet has failed: nodes that come or go now are not known' },
    retried: false,
    help: 'Mend the source of the nodes that the fleet was given: what it has told before stays.',
    options: { nodes: failingSource() },
    // a source is not asked again: the process has to be started again
    mend: (stuck) => stuck.startAgain({ nodes: ['told-before'] }),
  },
  {
    id: 'fleet-node-not-started',
    title: 'a node of a fleet cannot be started: its options, or the function that makes its provider',
    about: 'fleet',
    kind: 'fleet-node-start',
    words: 'no credentials for the cloud',
    log: { message: 'a node of the fleet could not be started' },
    help: 'See what the message names: the options of the node, or the function that makes its provider.',
    options: { nodes: ['alone'], provider: providerThatFails(2) },
    mend: () => {},
  },
];
