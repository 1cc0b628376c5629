import { isJsonObject, nullIsAbsent, wireEqual } from '../../api/json/json.ts';
import type { Json, JsonObject, WireNode } from '../../api/json/types.ts';
import { nodeSchema } from '../../api/patch/patch-schemas.ts';
import { createStrategicMergePatch } from '../../api/patch/strategic-merge-diff.ts';
import type { Clock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { limitedCall } from '../../client/resources/limited-call.ts';
import type { CallOptions } from '../../client/resources/resource-requests.ts';
import { ApiError } from '../../client/transport/api-error.ts';

/** How much longer than its own limit a request may take before it is given up: a transport ends its requests itself. */
const graceMs = 1000;

export interface NodeRequestsOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** True: a request that was given up holds up none that follow. For writes that the server refuses when they come late. */
  readonly leavesBehind: boolean;
}

/**
 * Requests one after the other. One that was given up, because its transport heeds neither limit nor signal, counts as under
 * way until it has settled: a late write cannot undo a newer one.
 */
export class NodeRequests {
  readonly #options: NodeRequestsOptions;
  readonly #stopping = new AbortController();
  #current: AbortController | undefined;
  #underWay: Promise<void> | undefined;

  constructor(options: NodeRequestsOptions) {
    this.#options = options;
  }

  /** Rejects as the request does, with an `ApiError` of reason `Timeout` when it is given up, and `Aborted` after `stop`. */
  async call<T>(what: string, send: (call: CallOptions) => Promise<T>): Promise<T> {
    const { signal: stopped } = this.#stopping;
    while (this.#underWay !== undefined && !stopped.aborted) {
      await untilAborted(this.#underWay, stopped).catch(ignoreFailure);
    }
    if (stopped.aborted) throw new ApiError({ reason: 'Aborted', message: `${what} was not sent: the node object is stopped` });
    const current = new AbortController();
    const { signal } = current;
    const { clock, timeoutMs, leavesBehind } = this.#options;
    const limits = { clock, timeoutMs: timeoutMs + graceMs, signal };
    const { answer, settled } = limitedCall(what, () => send({ signal, timeoutMs }), limits);
    this.#current = current;
    const underWay = settled.then(() => {
      if (this.#underWay === underWay) this.#underWay = undefined;
    });
    this.#underWay = underWay;
    try {
      return await answer;
    } catch (error) {
      // one that was given up hears of it
      current.abort();
      throw error;
    } finally {
      if (leavesBehind && this.#underWay === underWay) this.#underWay = undefined;
    }
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay;
  }

  /** Gives up what is under way, and sends nothing more. */
  stop(): void {
    this.#stopping.abort();
    this.#current?.abort();
  }
}

// Behaviour of k8s.io/component-helpers/node/util PatchNodeStatus, v0.36.3.

/** The strategic merge patch of the status subresource that makes `next` of `old`: of labels and status. It names the uid. */
export function nodeStatusPatch(old: WireNode, next: WireNode): JsonObject {
  const before = old.status?.addresses ?? [];
  const after = next.status?.addresses ?? [];
  // the published merge key of addresses is their type, of which a node may have two: they are replaced whole
  const replaces = before.length > 0 && !wireEqual(before as unknown as Json, after as unknown as Json, nullIsAbsent);
  const patch = createStrategicMergePatch(
    patchable(old),
    patchable(replaces ? { ...next, status: { ...next.status, addresses: before } } : next),
    nodeSchema,
  );
  const { uid } = old.metadata ?? {};
  const metadata = { ...(isJsonObject(patch.metadata) ? patch.metadata : {}), ...(uid === undefined ? {} : { uid }) };
  const status = isJsonObject(patch.status) ? patch.status : {};
  if (replaces) status.addresses = [...(after as unknown as Json[]), { $patch: 'replace' }];
  return { metadata, status };
}

function patchable({ metadata, status }: WireNode): JsonObject {
  return { metadata: { labels: metadata?.labels ?? {} }, status: (status ?? {}) as unknown as Json };
}
