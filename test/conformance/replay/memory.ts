import type { Rule } from './rules.ts';

/** An entry that began or ended at different moments on the two sides. */
export interface ApartEntry {
  readonly rule: Rule;
  /** An update was taken by one side alone, or made from what each side had: more than times may differ until both take a whole status. */
  content: boolean;
}

/** What is remembered of one pod from step to step: which differences are being excused, and why. */
export class Memory {
  /** Why the servers hold different things of the pod, while they do. */
  apart: Rule | undefined;
  /** Why one side had still to write something when the step before ended, though the servers may have agreed. */
  waited: Rule | undefined;
  /** One side had a write left that no batch looks at: it comes with the next look. */
  isQuietLeft = false;
  /** Why the pod manager was last given copies that differ. */
  copy: Rule | undefined;
  /** Why the pod manager was last given copies of which one alone shows a deletion: each status set for that one counts as new. */
  deletionOnOne: Rule | undefined;
  /** One side alone holds a terminal phase back, or did when the last batch ran: the other wrote it before containers could run. */
  heldOnOne = false;
  /** By uid; an entry leaves when it is gone on both sides or the two agree. */
  readonly entries = new Map<string, ApartEntry>();
  /** uid of a pod whose newest status ours had not written when its object was last on the server, and why not. */
  readonly unsent = new Map<string, Rule>();
  /** uids whose newest status the apiserver has had from ours, or had already. */
  readonly settled = new Set<string>();
  /** uids of which ours has no entry because the agent dropped it, or a rule says so, until there is another: neither side writes the pod. */
  readonly orphaned = new Set<string>();
  /** The uids of which ours had an entry when the step before ended. */
  ourEntries: ReadonlySet<string> = new Set();
  /** The uids that the pod's name had on the servers when the step before ended. */
  serverUIDs: ReadonlySet<string> = new Set();

  /** The two agree in everything: what was excused is behind them, but for entries that only one side has finished. */
  agreed(isFinishedApart: (podUID: string) => boolean): void {
    this.apart = undefined;
    this.heldOnOne = false;
    for (const podUID of this.entries.keys()) if (!isFinishedApart(podUID)) this.entries.delete(podUID);
  }
}
