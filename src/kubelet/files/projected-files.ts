/** One file of a volume. */
export interface ProjectedFile {
  /** What stands in it. */
  readonly data: Uint8Array;
  /** Its mode, such as `0o644`. */
  readonly mode: number;
  /** The numeric user that owns it. Absent: that of the agent. */
  readonly fsUser?: number | undefined;
}

/** Files by their path inside the volume. */
export type ProjectedFiles = ReadonlyMap<string, ProjectedFile>;
