import type { WireNode } from '../../../api/json/types.ts';
import type { Snapshot } from '../../nodes/node-info.ts';
import type { PodsByNode } from '../../nodes/pod-index.ts';

/** The nodes of the snapshot that have some of these pods, and how many. */
export function* nodesOf(pods: PodsByNode, snapshot: Snapshot): Generator<readonly [WireNode, number]> {
  for (const [nodeName, count] of pods) {
    const node = snapshot.get(nodeName)?.node;
    if (node !== undefined) yield [node, count];
  }
}
