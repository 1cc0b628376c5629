import type { FleetMember, FleetMemberOptions } from '../../../../src/fleet/member/fleet-member.ts';
import type { ShardHost } from '../../../../src/fleet/member/shard-keeper-options.ts';
import type { FleetRule } from './fleet-rules.ts';
import type { MemberProcess } from './member-process.ts';

/** What a member is made of. */
export interface MemberMaking {
  readonly options: FleetMemberOptions;
  readonly host: ShardHost;
  readonly make: (options: FleetMemberOptions, host: ShardHost) => FleetMember;
  readonly process: MemberProcess;
}

/** Where a fleet is broken. */
export interface FleetBreakage {
  readonly member?: (making: MemberMaking) => FleetMember;
  /** The nodes ask the guard when a write gets into the queue. */
  readonly asksEarly?: boolean;
}

/** A fleet broken on purpose. */
export interface FleetMutant {
  readonly name: string;
  /** The promises it breaks: one of them must be the first that is found broken. */
  readonly breaks: readonly FleetRule[];
  readonly breakage: FleetBreakage;
}

export const fleetMutants: readonly FleetMutant[] = [
  {
    name: 'the guard is asked before the queue',
    breaks: ['a write is sent only by the member that the Lease names', 'no two members may write for one shard at one moment'],
    breakage: { asksEarly: true },
  },
];
