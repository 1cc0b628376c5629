import type { FilesystemUsage, RuntimeImage } from '../../runtime/runtime-images.ts';
import type { FilesystemUsage as FilesystemUsageAnswer, Image } from '../proto/api_pb.ts';
import { msOf, numberIn } from './numbers.ts';

/** An image that the runtime has. */
export function imageOf(answer: Image): RuntimeImage {
  const { id, repoTags, repoDigests, size, username, pinned } = answer;
  const uid = numberIn(answer.uid);
  return { id, repoTags, repoDigests, sizeBytes: Number(size), username, pinned, ...(uid !== undefined && { uid }) };
}

/** What a file system holds. */
export function filesystemOf(answer: FilesystemUsageAnswer): FilesystemUsage {
  return {
    mountpoint: answer.fsId?.mountpoint ?? '',
    usedBytes: numberIn(answer.usedBytes) ?? 0,
    inodesUsed: numberIn(answer.inodesUsed) ?? 0,
    at: msOf(answer.timestamp),
  };
}
