import type { WireLease } from '../../../../src/api/json/types.ts';
import type { FleetMemberOptions } from '../../../../src/fleet/member/fleet-member.ts';
import type { FleetTiming, ShardHost } from '../../../../src/fleet/member/shard-keeper-options.ts';
import { placementOf } from '../../../../src/fleet/placement.ts';
import {
  type LeaseView,
  notGivingUp,
  type RequestChange,
  requesting,
  roleOfLease,
  seeing,
  takingAnyVersion,
} from './broken-leases.ts';
import { countingFromAnswers, lookingNowAndThen } from './broken-terms.ts';
import type { FleetRule } from './fleet-rules.ts';
import { weightOf } from './placed-shares.ts';

/** What a member is made of. */
export interface MemberMaking {
  readonly options: FleetMemberOptions;
  readonly host: ShardHost;
}

/** Where a fleet is broken. */
export interface FleetBreakage {
  readonly member?: (making: MemberMaking) => MemberMaking;
  readonly nodes?: NodesBreakage;
}

/** How nodes are broken. */
export interface NodesBreakage {
  /** The guard is asked when a write gets into the queue. */
  readonly asksEarly?: boolean;
  /** The guard is not asked before a pod is created. */
  readonly createsUnasked?: boolean;
  /** A pod without a status is created: the cloud is not asked whether it is there. */
  readonly trustsStatuses?: boolean;
  /** A status is written whatever the revision of its pod. */
  readonly takesAnyRevision?: boolean;
  /** A write of whose answer nobody knows counts as done. */
  readonly forgetsFailed?: boolean;
  /** What changed before the pods were listed is not looked at. */
  readonly forgetsEarly?: boolean;
}

/** A fleet broken on purpose. */
export interface FleetMutant {
  readonly name: string;
  /** The promises it breaks: one of them must be the first that is found broken. */
  readonly breaks: readonly FleetRule[];
  readonly breakage: FleetBreakage;
  /** True: it takes calm weather to see it, with members that come and go. */
  readonly isSeenInCalm?: boolean;
  /** The seed with which the tests begin, where the first ones do not show it. Default 1. */
  readonly firstSeed?: number;
}

const alone: FleetRule = 'no two members may write for one shard at one moment';
const sent: FleetRule = 'a write is sent only by the member that the Lease names';
const gained: FleetRule = 'what a member gains is its own on the server';
const share: FleetRule = 'every member ends with its share';
const inTime: FleetRule = 'a shard is owned again in time';
const moves: FleetRule = 'a member that comes or goes moves only its share';
const noMoves: FleetRule = 'in calm weather no shard moves';
const givenUp: FleetRule = 'a shard is given up only when nothing of it runs';
const leftBehind: FleetRule = 'nothing is left after stop';
const inOrder: FleetRule = 'a host is told in order';

export const fleetMutants: readonly FleetMutant[] = [
  {
    name: 'the guard is asked before the queue',
    breaks: [sent, alone],
    firstSeed: 21,
    breakage: { nodes: { asksEarly: true } },
  },
  {
    name: 'the guard is not asked before a pod is created',
    breaks: [sent, alone, 'no pod is created twice'],
    breakage: { nodes: { createsUnasked: true } },
  },
  {
    name: 'a new owner goes by the statuses alone',
    breaks: ['no pod is created twice'],
    breakage: { nodes: { trustsStatuses: true } },
  },
  {
    name: 'a status is written whatever the revision of its pod',
    breaks: ['no status goes back'],
    breakage: { nodes: { takesAnyRevision: true } },
  },
  {
    name: 'a status whose write has failed counts as written',
    breaks: ['no status is lost', 'no status goes back'],
    breakage: { nodes: { forgetsFailed: true } },
  },
  {
    name: 'a new owner does not look at what has changed while nobody wrote',
    breaks: ['no status is lost'],
    breakage: { nodes: { forgetsEarly: true } },
  },
  {
    name: 'a term counts from the answer in place of the sending',
    breaks: [gained, sent, alone],
    breakage: { member: countingFromAnswers },
  },
  {
    name: 'a timer looks now and then whether a term goes on',
    breaks: [sent, alone],
    breakage: { member: lookingNowAndThen },
  },
  {
    name: 'a term is a little longer than its Lease',
    breaks: [gained, sent, alone, 'what is lost runs no more'],
    breakage: { member: timed({ renewDeadlineMs: 16_500 }) },
  },
  {
    name: 'time is counted by the wall clock',
    breaks: [gained, sent, alone, inTime],
    breakage: {
      member: ({ options, host }) => {
        const { clock } = options;
        const began = clock.now();
        return { options: { ...options, clock: { ...clock, elapsed: () => clock.now() - began } }, host };
      },
    },
  },
  {
    name: 'a Lease is taken whatever its version',
    breaks: [alone, gained, sent, givenUp],
    breakage: { member: sending(takingAnyVersion) },
  },
  {
    name: 'a Lease of a living owner counts as run out',
    breaks: [alone, sent, gained],
    breakage: { member: viewing((lease) => (roleOfLease(lease) === 'shard' ? lasting(lease, 3) : undefined)) },
  },
  {
    name: 'a shard is given up before its nodes have ended',
    breaks: [givenUp],
    breakage: {
      member: hosting((host) => ({
        handOver: async (shard) => {
          host.handOver(shard).catch(() => {});
        },
      })),
    },
  },
  {
    name: 'the nodes of a lost shard go on',
    breaks: ['what is lost runs no more', inOrder, leftBehind],
    breakage: { member: hosting(() => ({ lost: async () => {} })) },
  },
  {
    name: 'the placement depends on who asks',
    breaks: [share],
    isSeenInCalm: true,
    breakage: {
      member: placing((id, line) => (line.includes(id) ? [id, ...line.filter((member) => member !== id)] : line)),
    },
  },
  {
    name: 'a shard is offered again and again',
    breaks: [noMoves, inTime, share, moves],
    isSeenInCalm: true,
    breakage: {
      member: placing((id, line) => {
        const others = line.filter((member) => member !== id);
        return line[0] === id && others.length > 0 ? [...others, id] : line;
      }),
    },
  },
  {
    name: 'a member has room for every shard',
    breaks: [share, 'loads are bounded'],
    isSeenInCalm: true,
    breakage: {
      member: placing((_, line, shard) => line.toSorted((a, b) => weightOf(`${b}/${shard}`) - weightOf(`${a}/${shard}`))),
    },
  },
  {
    name: 'a shard that was taken in the place of another member is kept for ever',
    breaks: [share],
    isSeenInCalm: true,
    breakage: { member: keepingForEver },
  },
  {
    name: 'a member that has ended is never left out',
    breaks: [inTime, share, moves],
    isSeenInCalm: true,
    breakage: { member: viewing((lease) => (roleOfLease(lease) === 'member' ? lasting(lease, 86_400) : undefined)) },
  },
  {
    name: 'another number of shards is accepted',
    breaks: ['the number of shards is that of the fleet'],
    isSeenInCalm: true,
    breakage: {
      member: ({ options, host }) => {
        const view: LeaseView = (lease) => annotated(lease, 'fleet-shards', String(options.names.shards));
        return { options: { ...options, transport: seeing(options.transport, view) }, host };
      },
    },
  },
  {
    name: 'a member that stops leaves its Leases to run out',
    breaks: [leftBehind, inTime],
    breakage: { member: sending(notGivingUp) },
  },
];

function timed(timing: Partial<FleetTiming>): (making: MemberMaking) => MemberMaking {
  return ({ options, host }) => ({ options: { ...options, timing: { ...options.timing, ...timing } }, host });
}

function viewing(view: LeaseView): (making: MemberMaking) => MemberMaking {
  return ({ options, host }) => ({ options: { ...options, transport: seeing(options.transport, view) }, host });
}

function sending(change: RequestChange): (making: MemberMaking) => MemberMaking {
  return ({ options, host }) => ({ options: { ...options, transport: requesting(options.transport, change) }, host });
}

function hosting(change: (host: ShardHost) => Partial<ShardHost>): (making: MemberMaking) => MemberMaking {
  return ({ options, host }) => {
    const whole: ShardHost = {
      gained: (shard, term) => host.gained(shard, term),
      handOver: (shard) => host.handOver(shard),
      lost: (shard) => host.lost(shard),
    };
    return { options, host: { ...whole, ...change(host) } };
  };
}

/** The line of each shard is another one. */
function placing(
  change: (id: string, line: readonly string[], shard: number) => readonly string[],
): (making: MemberMaking) => MemberMaking {
  return ({ options, host }) => {
    const placement: typeof placementOf = (...given) =>
      placementOf(...given).map((line, shard) => change(options.id, line, shard));
    return { options: { ...options, placement }, host };
  };
}

/** Whoever has taken a shard in the place of another is the first in its line from then on. */
function keepingForEver({ options, host }: MemberMaking): MemberMaking {
  let lines: string[][] = [];
  const placement: typeof placementOf = (...given) => {
    lines = placementOf(...given).map((line) => [...line]);
    return lines;
  };
  const broken = hosting(() => ({
    gained: (shard, term) => {
      const line = lines[shard] ?? [];
      line.splice(0, line.length, options.id, ...line.filter((id) => id !== options.id));
      return host.gained(shard, term);
    },
  }));
  return broken({ options: { ...options, placement }, host });
}

function lasting(lease: WireLease, seconds: number): WireLease {
  return { ...lease, spec: { ...lease.spec, leaseDurationSeconds: seconds } };
}

/** Undefined where the Lease has no such annotation. */
function annotated(lease: WireLease, name: string, value: string): WireLease | undefined {
  const key = `pod-status-manager/${name}`;
  const { metadata } = lease;
  if (metadata?.annotations?.[key] === undefined) return undefined;
  return { ...lease, metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: value } } };
}
