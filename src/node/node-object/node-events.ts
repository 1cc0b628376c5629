// Behaviour of pkg/kubelet/nodestatus/setters.go and recordNodeSchedulableEvent in pkg/kubelet/kubelet_node_status.go, v1.36.3: events.

import type { WireNode } from '../../api/json/types.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';

interface ConditionEvents {
  readonly type: string;
  /** The reasons of the events, by the condition's status. */
  readonly reasons: Readonly<Record<string, string>>;
}

const pressures: readonly ConditionEvents[] = [
  { type: 'MemoryPressure', reasons: { True: 'NodeHasInsufficientMemory', False: 'NodeHasSufficientMemory' } },
  { type: 'DiskPressure', reasons: { True: 'NodeHasDiskPressure', False: 'NodeHasNoDiskPressure' } },
  { type: 'PIDPressure', reasons: { True: 'NodeHasInsufficientPID', False: 'NodeHasSufficientPID' } },
];
const readiness: ConditionEvents = { type: 'Ready', reasons: { True: 'NodeReady', False: 'NodeNotReady' } };

/**
 * Tells of changes of a node, once each. A change counts when the server has it: between what the server had and what it has, or
 * between what was told last and what it has, since the answer to a write may have been lost.
 */
export class NodeEvents {
  readonly #nodeName: string;
  readonly #recorder: Required<EventRecorder>;
  /** What is known to be told: the status of each condition, and the id of the machine's start. */
  readonly #told = new LateMap<string, string | undefined>();
  #isUnschedulable = false;

  constructor({ nodeName, eventRecorder }: { readonly nodeName: string; readonly eventRecorder: Required<EventRecorder> }) {
    this.#nodeName = nodeName;
    this.#recorder = eventRecorder;
  }

  /** The server has this node, before it is written. */
  saw(node: WireNode): void {
    for (const { type } of [...pressures, readiness]) this.#note(type, statusOf(node, type));
    this.#note('bootID', node.status?.nodeInfo?.bootID);
    const isUnschedulable = node.spec?.unschedulable === true;
    if (isUnschedulable === this.#isUnschedulable) return;
    this.#isUnschedulable = isUnschedulable;
    this.#tellStatus(isUnschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
  }

  /** The server has the node as the agent wants it. `before`: as it was; undefined for a node that was created. */
  reached(before: WireNode | undefined, node: WireNode): void {
    const bootID = node.status?.nodeInfo?.bootID;
    const formerID = this.#replaced('bootID', before?.status?.nodeInfo?.bootID, bootID);
    if (bootID && formerID && bootID !== formerID) {
      const message = `Node ${this.#nodeName} has been rebooted, boot id: ${bootID}`;
      this.#recorder.nodeEvent(this.#nodeName, 'Warning', 'Rebooted', message);
    }
    for (const { type, reasons } of pressures) this.#reachedCondition(before, node, type, reasons);
    // that a new node is not ready yet is no news
    const { type, reasons } = readiness;
    const isNews = before !== undefined || statusOf(node, type) === 'True';
    this.#reachedCondition(before, node, type, isNews ? reasons : {});
  }

  #reachedCondition(before: WireNode | undefined, node: WireNode, type: string, reasons: ConditionEvents['reasons']): void {
    const status = statusOf(node, type);
    const former = this.#replaced(type, before && statusOf(before, type), status);
    const reason = status === undefined ? undefined : reasons[status];
    if (former !== status && reason !== undefined) this.#tellStatus(reason);
  }

  /** What the value has taken the place of; the value itself where it is no news. */
  #replaced(name: string, before: string | undefined, value: string | undefined): string | undefined {
    const told = this.#told.has(name) ? this.#told.get(name) : before;
    this.#told.set(name, value);
    return before === value ? told : before;
  }

  #note(name: string, value: string | undefined): void {
    if (!this.#told.has(name)) this.#told.set(name, value);
  }

  #tellStatus(reason: string): void {
    const name = this.#nodeName;
    this.#recorder.nodeEvent(name, 'Normal', reason, `Node ${name} status is now: ${reason}`);
  }
}

function statusOf({ status }: WireNode, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.status;
}
