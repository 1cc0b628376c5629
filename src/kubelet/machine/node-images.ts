// Behaviour of pkg/kubelet/nodestatus/setters.go Images, v1.36.3.

import type { WireContainerImage } from '../../api/json/types.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';

/** More names of one image are left out. */
const mostNames = 5;

/** The images that a node names in its status: the largest `most` of them, the largest first. -1: all. */
export function nodeImages(images: readonly RuntimeImage[], most: number): WireContainerImage[] {
  const sorted = images.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  const shown = most < 0 ? sorted : sorted.slice(0, most);
  return shown.map(({ repoDigests, repoTags, sizeBytes }) => ({
    names: [...repoDigests, ...repoTags].slice(0, mostNames),
    sizeBytes,
  }));
}
