/** Full names that several pods have had at once, neither of them a mirror pod, with the uids of those that are still there. */
export class SharedNames {
  readonly #uids = new Map<string, Set<string>>();

  add(fullName: string, ...uids: readonly string[]): void {
    const known = this.#uids.get(fullName) ?? new Set();
    this.#uids.set(fullName, known);
    for (const uid of uids) known.add(uid);
  }

  /** The pod is gone. */
  drop(fullName: string, uid: string): void {
    const known = this.#uids.get(fullName);
    if (known?.delete(uid) && known.size === 0) this.#uids.delete(fullName);
  }

  /** The uids, in the order in which they came; the name counts as no longer shared. */
  take(fullName: string): Iterable<string> {
    const known = this.#uids.get(fullName) ?? [];
    this.#uids.delete(fullName);
    return known;
  }

  clear(): void {
    this.#uids.clear();
  }
}
