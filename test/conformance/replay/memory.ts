import type { Rule } from './replay-rules.ts';

/** An entry that began or ended at different moments on the two sides. */
export interface ApartEntry {
  readonly rule: Rule;
  /**
   * True: more than times may differ until both sides take a whole status. Only one side took an update, or each made it
   * from the status it had.
   */
  content: boolean;
}

/** What is remembered of one pod from step to step: which differences are being excused, and why. */
export class Memory {
  /** Why the servers hold different things of the pod, while they do. */
  apart: Rule | undefined;
  /** Why one side had still to write something when the step before ended, though the servers may have agreed. */
  waited: Rule | undefined;
  /** One side had a write left that no batch finds. The next look for another reason finds it. */
  isQuietLeft = false;
  /** Why the pod manager was last given copies that differ. */
  copy: Rule | undefined;
  /** Why only one of the two copies that the pod managers last got shows a deletion. On that side each status that is set counts as new. */
  deletionOnOne: Rule | undefined;
  /**
   * Only one side holds a terminal phase back, or did when the last batch ran. The other wrote the phase before containers
   * could run.
   */
  heldOnOne = false;
  /** By uid; an entry leaves when it is gone on both sides or the two agree. */
  readonly entries = new Map<string, ApartEntry>();
  /** By uid, why the two sides hold different resize conditions, until nothing shows that any more. */
  readonly resizes = new Map<string, Rule>();
  /** By uid, why our manager had not written the newest status when the pod's object was last on the server. */
  readonly unsent = new Map<string, Rule>();
  /** The uids of the pods whose newest status the apiserver has, from our manager or from before. */
  readonly settled = new Set<string>();
  /**
   * The uids without an entry on our side, because the agent dropped it or a rule says so. Neither side writes such a pod
   * until it has an entry again.
   */
  readonly orphaned = new Set<string>();
  /** The uids of which ours had an entry when the step before ended. */
  ourEntries: ReadonlySet<string> = new Set();
  /** The uids that the pod's name had on the servers when the step before ended. */
  serverUIDs: ReadonlySet<string> = new Set();

  /** Both sides agree in everything. Past excuses end, except for entries that only one side has finished. */
  agreed(isFinishedApart: (podUID: string) => boolean): void {
    this.apart = undefined;
    this.heldOnOne = false;
    this.resizes.clear();
    for (const podUID of this.entries.keys()) if (!isFinishedApart(podUID)) this.entries.delete(podUID);
  }
}
