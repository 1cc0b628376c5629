import type { WireNode } from '../../api/json/types.ts';
import { withFields } from '../../base/logging/logger.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import type { KnownNode } from './initial-node.ts';
import type { ResolvedNodeOptions } from './node-object-options.ts';
import type { StepFailure } from './steady-loop.ts';

export interface NodeWatchHandlers {
  /** The server has this node. */
  readonly shown: (node: WireNode) => void;
  /** The node has gone. */
  readonly deleted: () => void;
  /** The node is known as the server has it. */
  readonly synced: () => void;
}

/**
 * A watch of the one node, as the kubelet's: what others change is known without a request. A user that may not watch nodes costs
 * a read of the node before each patch, and nothing else.
 */
export class NodeWatch {
  readonly #options: ResolvedNodeOptions;
  readonly #reflector: Reflector<WireNode>;

  constructor(options: ResolvedNodeOptions, known: KnownNode, told: NodeWatchHandlers) {
    this.#options = options;
    const { transport, watchTransport, nodeName, random, logger, sink } = options;
    const { elapsed, setTimer } = options.clock;
    // what its list was asked for before or after is a question of the time that has passed
    const clock = { now: elapsed, elapsed, setTimer };
    const shown = (node: WireNode): void => {
      known.shown(node);
      told.shown(node);
    };
    this.#reflector = new Reflector<WireNode>({
      transport: watchTransport ?? transport,
      streamLists: watchTransport === undefined,
      resource: resources.nodes,
      fieldSelector: `metadata.name=${nodeName}`,
      shareEqualParts: false,
      handlers: {
        added: shown,
        updated: shown,
        deleted: (node) => {
          if (known.shownDeleted(node)) told.deleted();
        },
        synced: () => {
          known.listed(this.#reflector.lastListedAt());
          told.synced();
        },
      },
      random,
      clock,
      logger: withFields(logger, { node: nodeName }),
      ...(sink !== undefined && { metrics: sink }),
    });
  }

  start(): void {
    this.#reflector.start().catch(() => {});
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  /** Why the node cannot be watched; undefined while it can be, and before any failure. */
  failure(): StepFailure | undefined {
    const failed = this.#reflector.lastFailure();
    if (failed === undefined) return undefined;
    const { error, at, retryAt, since = at, attempt = 1 } = failed;
    const { clock } = this.#options;
    // the reflector tells times that have passed
    const wallTime = (elapsed: number): number => Math.round(clock.now() - (clock.elapsed() - elapsed));
    const times = { at: wallTime(at), since: wallTime(since), retryInMs: retryAt - at };
    return { error, errorClass: classifyApiError(error), attempt, ...times };
  }
}
