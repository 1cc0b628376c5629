// Behaviour of pkg/kubelet/kubelet_node_status.go syncNodeStatus, v1.36.3, but that a node which was deleted is created again (not with registerNode: false).

import { formatTime } from '../../api/json/time.ts';
import type { WireNode } from '../../api/json/types.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import type { ResourceClient } from '../../client/resources/resource-client.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import { type DesiredNode, type KnownNode, newNode, takenOverNode, type UpdatedNode, updatedNode } from './initial-node.ts';
import { type NodeHealth, nodeHealth } from './node-conditions.ts';
import { NodeEvents } from './node-events.ts';
import type { ResolvedNodeOptions } from './node-object-options.ts';
import { type NodeRequests, nodeStatusPatch } from './node-requests.ts';

/** How often one step reads the node and patches it again, when another writer is always first. */
const patchAttempts = 5;

export interface RegisteredNode {
  readonly nodes: ResourceClient<WireNode>;
  readonly requests: NodeRequests;
  readonly known: KnownNode;
  /** What the node shall say now. */
  readonly desired: () => DesiredNode;
  /** Settles once the node is known as the server has it, or the wait for that has been too long. */
  readonly seen: () => Promise<unknown>;
}

/** Registers the node, and patches its status when something has changed or the time for a report has come. */
export class NodeRegistration {
  readonly #options: ResolvedNodeOptions;
  readonly #node: RegisteredNode;
  readonly #reports: ReportTimes;
  readonly #events: NodeEvents;
  #isRegistered = false;
  #health: NodeHealth | undefined;
  #createdUID: string | undefined;
  /** The newest heartbeat that was sent, in milliseconds since the epoch. */
  #sentHeartbeat: number | undefined;
  /** The node was there before: the next patch takes it over. */
  #takesOver = false;

  constructor(options: ResolvedNodeOptions, node: RegisteredNode) {
    this.#options = options;
    this.#node = node;
    this.#reports = new ReportTimes(options);
    this.#events = new NodeEvents(options);
  }

  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /** What the agent answered last, when it was asked whether the node is ready; undefined before it was asked. */
  get health(): NodeHealth | undefined {
    return this.#health;
  }

  /** The uid of the node that this process has created, and that nobody has replaced. */
  get createdUID(): string | undefined {
    return this.#createdUID;
  }

  /** When the status was last written, in milliseconds since the epoch. */
  get lastReportAt(): number | undefined {
    return this.#reports.lastAt;
  }

  /** True for a node with a heartbeat that is newer than all of ours: another agent has written it. */
  isByAnother(node: WireNode): boolean {
    const heartbeat = heartbeatOf(node);
    return this.#isRegistered && this.#sentHeartbeat !== undefined && heartbeat > this.#sentHeartbeat;
  }

  /** One look: registers the node where it is not, and patches it where that is due. Rejects with what a request rejects with. */
  async step(): Promise<void> {
    let mustRead = false;
    for (let attempt = 1; ; attempt++) {
      const node = await this.#current(mustRead);
      this.#events.saw(node);
      const update = this.#update(node);
      if (!update.changed && !this.#reports.isDue()) {
        this.#events.reached(node, node);
        return;
      }
      try {
        await this.#patch(node, update);
        return;
      } catch (error) {
        if (attempt === patchAttempts || !this.#mayRepeat(error, attempt)) throw error;
        mustRead = true;
      }
    }
  }

  /** The node is not there any more: the next step creates it, or looks for the one that somebody else creates. */
  noteDeleted(): void {
    const { logger, nodeName, registerNode } = this.#options;
    const fields = { node: nodeName };
    if (this.#isRegistered && registerNode) logger.warn(fields, 'the node was deleted; it is created again');
    else if (this.#isRegistered) logger.warn(fields, 'the node was deleted; it is waited for, since registerNode is false');
    this.#isRegistered = false;
    this.#createdUID = undefined;
  }

  /** The node as the next write is made against. */
  async #current(mustRead: boolean): Promise<WireNode> {
    const { known } = this.#node;
    if (this.#isRegistered && known.newest === undefined) this.noteDeleted();
    if (!this.#isRegistered) return this.#register();
    const node = known.newest as WireNode;
    const isSure = known.isWatched && !mustRead;
    if (isSure || (!mustRead && !this.#update(node).changed && !this.#reports.isDue())) return node;
    const read = await this.#read();
    if (read !== undefined) return read;
    this.noteDeleted();
    return this.#register();
  }

  async #register(): Promise<WireNode> {
    const options = this.#options;
    const { nodes, requests, known, seen } = this.#node;
    const { nodeName, logger, clock, registerNode, isSoleAgent } = options;
    // it is there most of the time: what the watch reads in any case spares a creation that would be refused, and a read
    if (registerNode && isSoleAgent) {
      await seen();
      if (known.newest !== undefined) return this.#takeOver(known.newest);
    }
    if (registerNode) {
      const node = newNode(this.#node.desired(), this.#askHealth(), formatTime(clock.now()));
      this.#sentHeartbeat = heartbeatOf(node);
      try {
        const created = await requests.call('the creation of the node', (call) => nodes.create(node, call));
        this.#createdUID = created.metadata?.uid;
        this.#registered(created, false);
        logger.info({ node: nodeName, uid: this.#createdUID }, 'registered the node');
        this.#events.reached(undefined, node);
        this.#reports.reported(true);
        return created;
      } catch (error) {
        // a node that this user may not create may be there all the same
        const errorClass = classifyApiError(error);
        if (errorClass !== 'conflict' && errorClass !== 'forbidden') throw error;
        const existing = await this.#read();
        if (existing === undefined) throw error;
        return this.#takeOver(existing);
      }
    }
    const existing = known.newest ?? (await this.#read());
    if (existing !== undefined) return this.#takeOver(existing);
    throw new ApiError({ reason: 'NoNode', message: `The node ${nodeName} is not there, and registerNode is false` });
  }

  #takeOver(existing: WireNode): WireNode {
    const { logger, nodeName } = this.#options;
    this.#registered(existing, true);
    logger.info({ node: nodeName, uid: existing.metadata?.uid }, 'took over the node, which was registered before');
    const missing = this.#missingTaints(existing);
    if (missing.length > 0) logger.warn({ node: nodeName, taints: missing }, 'the node was registered without these taints');
    return existing;
  }

  /** Taints are an administrator's: an agent gives them to a node that it creates, and to no other. */
  #missingTaints(existing: WireNode): string[] {
    const has = new Set((existing.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`));
    const wanted = this.#node.desired().initial.spec?.taints ?? [];
    return wanted.map(({ key, effect }) => `${key}:${effect}`).filter((taint) => !has.has(taint));
  }

  #registered(node: WireNode, takesOver: boolean): void {
    this.#node.known.answered(node);
    this.#isRegistered = true;
    this.#takesOver = takesOver;
  }

  async #read(): Promise<WireNode | undefined> {
    const options = this.#options;
    const { nodes, requests, known } = this.#node;
    try {
      const node = await requests.call('the read of the node', (call) => nodes.get({ name: options.nodeName }, call));
      known.answered(node);
      return node;
    } catch (error) {
      if (classifyApiError(error) !== 'gone') throw error;
      known.forget();
      return undefined;
    }
  }

  #update(node: WireNode): UpdatedNode {
    const options = this.#options;
    const { desired } = this.#node;
    const update = this.#takesOver ? takenOverNode : updatedNode;
    return update(node, desired(), this.#askHealth(), formatTime(options.clock.now()));
  }

  #askHealth(): NodeHealth {
    this.#health = nodeHealth(this.#options);
    return this.#health;
  }

  async #patch(node: WireNode, { node: next, changed }: UpdatedNode): Promise<void> {
    const options = this.#options;
    const { nodes, requests, known } = this.#node;
    const target = { name: options.nodeName, subresource: 'status' };
    this.#sentHeartbeat = heartbeatOf(next);
    const patch = { type: 'application/strategic-merge-patch+json', body: nodeStatusPatch(node, next) } as const;
    const answer = await requests.call('the patch of the node', (call) => nodes.patch(target, patch, call));
    known.answered(answer);
    this.#takesOver = false;
    this.#reports.reported(changed);
    this.#logReadiness(node, answer);
    this.#events.reached(node, next);
  }

  #logReadiness(before: WireNode, after: WireNode): void {
    const { logger, nodeName } = this.#options;
    const [was, is] = [before, after].map((node) => node.status?.conditions?.find(({ type }) => type === 'Ready'));
    if (is === undefined || was?.status === is.status) return;
    logger.info({ node: nodeName, ready: is.status, reason: is.reason, problem: is.message }, 'the node has another readiness');
  }

  /**
   * Another writer was first, or the node is another one, or gone: the next attempt reads it. A server calls a patch with the
   * uid of another node invalid, as it calls one that will never be taken: that is repeated once.
   */
  #mayRepeat(error: unknown, attempt: number): boolean {
    const errorClass = classifyApiError(error);
    if (errorClass === 'gone') this.#node.known.forget();
    if (errorClass === 'invalid') return attempt === 1;
    return errorClass === 'gone' || errorClass === 'conflict';
  }
}

/** NaN where there is none. */
function heartbeatOf({ status }: WireNode): number {
  return Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime ?? '');
}

/**
 * When the status is written although nothing has changed. After a change the wait is 50 % to 150 % of the frequency, so that
 * nodes which changed at once do not report at once ever after. Behaviour of pkg/kubelet/kubelet_node_status.go
 * isUpdateStatusPeriodExpired and calculateDelay, v1.36.3.
 */
class ReportTimes {
  readonly #options: ResolvedNodeOptions;
  #lastAt: number | undefined;
  /** The same moment by `Clock.elapsed`. */
  #reportedAt = 0;
  #waitMs = 0;

  constructor(options: ResolvedNodeOptions) {
    this.#options = options;
  }

  /** In milliseconds since the epoch. */
  get lastAt(): number | undefined {
    return this.#lastAt;
  }

  isDue(): boolean {
    if (this.#lastAt === undefined) return true;
    return this.#options.clock.elapsed() - this.#reportedAt >= this.#waitMs;
  }

  reported(afterChange: boolean): void {
    const { statusReportFrequencyMs: frequencyMs, random, clock } = this.#options;
    const isFirst = this.#lastAt === undefined;
    this.#lastAt = clock.now();
    this.#reportedAt = clock.elapsed();
    this.#waitMs = afterChange || isFirst ? frequencyMs * (0.5 + random()) : frequencyMs;
  }
}
