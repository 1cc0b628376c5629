export {
  type CreateMirrorPodResult,
  type DeleteMirrorPodResult,
  type MirrorCallOptions,
  MirrorPodClient,
  type MirrorPodClientOptions,
} from './mirror/mirror-pod-client.ts';
export type { GetNode, MirrorNode } from './mirror/node-owner.ts';
