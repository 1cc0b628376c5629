/** The statuses that count as written without a request, because the server showed them already. */
export class UnrequestedStatuses {
  /** By the pod's uid: when that was, by whatever rises with each write on the server. */
  readonly #since = new Map<string, number>();

  /** The manager has told that the newest status of a pod is there. `patched`: a request was sent for it. */
  note(podUID: string, patched: boolean, now: number): void {
    if (patched) this.#since.delete(podUID);
    else this.#since.set(podUID, now);
  }

  /**
   * True where a PATCH that nobody waited for landed since. It may land much later, if nothing was written to its pod meanwhile. No request
   * was needed when the agent set the status before it again: that status was there when it counted as written, and comes again as a repair.
   */
  isOverwritten(podUID: string, lateWriteAt: number | undefined): boolean {
    return lateWriteAt !== undefined && lateWriteAt > (this.#since.get(podUID) ?? Number.POSITIVE_INFINITY);
  }
}
