import type { WireNode } from '../../api/json/types.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { KnownNode } from './known-node.ts';
import type { ResolvedNodeOptions } from './node-object-options.ts';

export interface NodeWatchHandlers {
  /** The node has gone. */
  readonly deleted: () => void;
  /** The node is known as the server has it. */
  readonly synced: () => void;
}

/**
 * A watch of the one node, as the kubelet's: what others change is known without a request. A user that may not watch nodes costs
 * a read of the node before each patch, and nothing else.
 */
export function watchNode(options: ResolvedNodeOptions, known: KnownNode, told: NodeWatchHandlers): Reflector<WireNode> {
  const { transport, nodeName, random, logger, sink } = options;
  const { elapsed, setTimer } = options.clock;
  // what its list was asked for before or after is a question of the time that has passed, and nobody else is told of its times
  const clock = { now: elapsed, elapsed, setTimer };
  const reflector: Reflector<WireNode> = new Reflector<WireNode>({
    transport,
    resource: resources.nodes,
    fieldSelector: `metadata.name=${nodeName}`,
    shareEqualParts: false,
    handlers: {
      added: (node) => known.shown(node),
      updated: (node) => known.shown(node),
      deleted: (node) => {
        if (known.shownDeleted(node)) told.deleted();
      },
      synced: () => {
        known.listed(reflector.lastListedAt());
        told.synced();
      },
    },
    random,
    clock,
    logger,
    ...(sink !== undefined && { metrics: sink }),
  });
  return reflector;
}
