import type { WirePod } from 'pod-status-manager';
import type { FakeRuntime, InMemoryApiServer } from 'pod-status-manager/testing';
import type { RunKind } from '../options.ts';
import type { PodOwners, PodRef } from '../pod-owners.ts';
import type { Random } from '../random.ts';
import type { BrokenCalls } from './breakable-provider.ts';

/** What faults may touch of the nodes of a run. What a kind of run does not have is absent. */
export interface NodeParts {
  readonly provider?: { readonly broken: BrokenCalls; notify(podUID: string): void };
  readonly runtime?: FakeRuntime;
  /** The node of pods that no scheduler places. */
  readonly nodeName?: string;
}

/** What faults may touch. */
export interface Parts extends NodeParts {
  /** Absent where the server is not in memory. */
  readonly server: InMemoryApiServer | undefined;
  readonly owners: PodOwners;
}

/** One fault at its beginning. */
export interface FaultTurn {
  readonly name: string;
  readonly parts: Parts;
  readonly random: Random;
  /** How long it is to be there. */
  readonly forMs: number;
  /** Aborts when the run is over. */
  readonly signal: AbortSignal;
  /** A few of the pods that are there. */
  readonly some: readonly PodRef[];
  /** Their names. */
  readonly names: string;
}

/** A fault that is there. */
export interface FaultOn {
  /** What is wrong now, in words. */
  readonly wrong: string;
  /** Ends it: what it has broken can be well again. */
  end(): unknown;
}

/** Something that can go wrong. */
export interface Fault {
  /** The kinds of run that can have it. */
  readonly kinds: readonly RunKind[];
  /** True for what only a server in memory can do. */
  readonly needsMemory: boolean;
  begin(turn: FaultTurn): FaultOn | Promise<FaultOn>;
}

export type Faults = Readonly<Record<string, Fault>>;

/** The pod is there while the fault is. */
export async function aPod({ parts: { owners }, signal }: FaultTurn, pod: WirePod, wrong: string): Promise<FaultOn> {
  const ref = await owners.add(pod, signal);
  return { wrong: `${ref?.name}: ${wrong}`, end: () => ref && owners.delete(ref) };
}
