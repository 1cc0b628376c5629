import type { WireNode } from '../../src/api/json/types.ts';
import { type ImageState, type NodeInfo, NodeState, type Snapshot } from '../../src/scheduler/nodes/node-info.ts';
import { PodIndex } from '../../src/scheduler/nodes/pod-index.ts';
import type { PodInfo } from '../../src/scheduler/nodes/pod-info.ts';

/** A node by itself, with pods on it: its images are on no other node. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function createNodeInfo(node: WireNode, pods: readonly PodInfo[] = []): NodeState {
  const state = new NodeState(node.metadata?.name ?? '');
  const images = new Map<string, ImageState>();
  for (const { names, sizeBytes = 0 } of node.status?.images ?? []) {
    for (const name of names ?? []) images.set(name, { sizeBytes, nodes: 1 });
  }
  state.setNode(node, images);
  for (const pod of pods) state.addPod(pod);
  return state;
}

/** A snapshot of exactly these nodes, in this order. */
export function nodeSnapshotOf(nodes: readonly NodeInfo[]): Snapshot {
  const grouped = new PodIndex();
  for (const { name, pods } of nodes) for (const pod of pods) grouped.add(name, pod);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return {
    nodes,
    nodesWithAffinity: nodes.filter(({ podsWithAffinity }) => podsWithAffinity.length > 0),
    nodesWithRequiredAntiAffinity: nodes.filter(({ podsWithRequiredAntiAffinity }) => podsWithRequiredAntiAffinity.length > 0),
    get: (name) => byName.get(name),
    grouped,
    labelsVersion: 0,
    imagesVersion: 0,
  };
}
