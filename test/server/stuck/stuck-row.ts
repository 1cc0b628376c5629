/** A way to be stuck, slow or wrong, and what people are told of it. The page *When something is wrong* is made from such rows. */
export interface StuckRow {
  /** In lower case with hyphens; no two rows have the same. */
  readonly id: string;
  /** What is the case, as a phrase: `a config map that is not there`. */
  readonly title: string;
  /** Whose problem it is. */
  readonly about: 'pod' | 'node' | 'scheduler' | 'fleet';
  /** The kind of the problem. */
  readonly kind: string;
  /** Words of the one who refused: they are in the log line, the event and the problem. */
  readonly words: string;
  /** False: the event has other words, or the log line has. */
  readonly eventWords?: false;
  readonly logWords?: false;
  /** The log line. Undefined: there is none, because nothing has failed. */
  readonly log?: { readonly message: string };
  /** False: what has failed is not done again once the row is mended, so that no line says that it succeeds. */
  readonly endTold?: false;
  /** The event that `kubectl describe` shows. Undefined: there is none. */
  readonly event?: { readonly reason: string };
  /** False: nothing is tried again. */
  readonly retried?: false;
  /** The help, as a whole; undefined: there is none. */
  readonly help: string | undefined;
}
