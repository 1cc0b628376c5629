/** An image that the runtime has. */
export interface RuntimeImage {
  /** The image's id. */
  readonly id: string;
  /** Its names with a tag. */
  readonly repoTags: readonly string[];
  /** Its names with a digest. */
  readonly repoDigests: readonly string[];
  /** Its size in bytes. */
  readonly sizeBytes: number;
  /** The numeric user that the image names. */
  readonly uid?: number;
  /** The user that the image names, where it is no number; else empty. */
  readonly username: string;
  /** True: the runtime needs the image, so nobody may remove it. */
  readonly pinned: boolean;
}

/** Who pulls an image. */
export interface ImageAuth {
  /** The user. */
  readonly username?: string;
  /** The password. */
  readonly password?: string;
  /** User and password in one, in Base64. */
  readonly auth?: string;
  /** A token that stands for the user at the registry. */
  readonly identityToken?: string;
  /** A token that is sent to the registry as it is. */
  readonly registryToken?: string;
}

/** What a file system of the runtime holds. */
export interface FilesystemUsage {
  /** Where it is mounted, or a path on it. */
  readonly mountpoint: string;
  /** What is used, in bytes. */
  readonly usedBytes: number;
  /** The inodes that are used. */
  readonly inodesUsed: number;
  /** When it was measured, in milliseconds since the epoch. */
  readonly at: number;
}
