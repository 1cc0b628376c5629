import type { ImageState, Snapshot } from './node-info.ts';

/** What is known of images over all nodes of a snapshot: an image is of one size and on so many nodes, whichever node is asked. */
export interface ImageAccount {
  /** By the place of a node: another number whenever other images are on it. Changed in place. */
  readonly generations: Float64Array;
  /** Undefined for an image that no node has. */
  stateOf(name: string): ImageState | undefined;
}

interface SnapshotWithImages extends Snapshot {
  /** Undefined where nodes may say different things of one image. */
  readonly images: ImageAccount | undefined;
}

/** Undefined where each node is to be asked about its images. */
export function imageAccountOf(snapshot: Snapshot): ImageAccount | undefined {
  return (snapshot as Partial<SnapshotWithImages>).images;
}
