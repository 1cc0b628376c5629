import type { Pod, WirePod, WirePodCondition } from 'pod-status-manager';
import type { CountingPodClient } from './counting-pod-client.ts';
import { findDifferences } from './differences.ts';
import { describeError, type Journal } from './journal.ts';
import { Meter } from './meter.ts';
import type { PodRef } from './pod-owners.ts';
import { podWords } from './pod-words.ts';
import type { DemoNode } from './run.ts';
import { ms, type Piece, type Row, type Style } from './view.ts';

const bad = /Err|BackOff|Error|OOM|Failed|OutOf/;

/** What all nodes of a run have set and written, by the events of their managers alone. */
export class Statuses {
  readonly podClient: CountingPodClient;
  readonly meter = new Meter();
  readonly #nodes: DemoNode[] = [];
  readonly #journal: Journal;

  constructor(podClient: CountingPodClient, journal: Journal) {
    this.podClient = podClient;
    this.#journal = journal;
  }

  watch(node: DemoNode): void {
    this.#nodes.push(node);
    this.meter.watch(node.statusManager);
    node.podManager.subscribe((podUID) => {
      const pod = node.podManager.getPodByUID(podUID);
      if (pod === undefined) this.meter.forget(podUID);
      this.#journal.note(podUID, pod);
    });
  }

  pods(): Pod[] {
    return this.#nodes.flatMap(({ podManager }) => podManager.getPods());
  }

  get podsDeleting(): number {
    return this.pods().filter(({ metadata }) => metadata?.deletionTimestamp !== undefined).length;
  }

  /** What the nodes say of themselves; on a run of several each says its name. */
  notes(): string[] {
    return this.#nodes.flatMap((node) => {
      const { nodeName, notes } = node.snapshot({ pods: false });
      return this.#nodes.length === 1 ? notes : notes.map((note) => `${nodeName}: ${note}`);
    });
  }

  rows(): Row[] {
    const { versions, syncErrors } = this.meter;
    const { requests, total } = this.podClient;
    const pods = this.pods();
    const words = [...Map.groupBy(pods, podWords)].sort(([, one], [, other]) => other.length - one.length);
    const change = versions === 0 ? '-' : (total / versions).toFixed(2);
    return [
      ['pods', [{ text: String(pods.length), style: 'bold' }, ...words.map(([word, { length }]) => wordPiece(word, length))]],
      [
        'requests',
        [
          { text: `${total} for ${versions} changes`, style: 'bold' },
          { text: `${change} a change`, style: 'bold' },
          { text: `patch ${requests.patch}` },
          { text: `get ${requests.get}` },
          { text: `delete ${requests.delete}` },
          { text: `errors ${syncErrors}`, ...(syncErrors > 0 && { style: 'red' }) },
        ],
      ],
      [
        'delay',
        [
          { text: `p50 ${ms(this.meter.delayMs(50))}`, style: 'bold' },
          { text: `p99 ${ms(this.meter.delayMs(99))}`, style: 'bold' },
          { text: 'from set to synced' },
        ],
      ],
    ];
  }

  /** Where the server's pods and the managers do not agree, one sentence each. */
  differences(
    serverPods: readonly WirePod[],
    alive: ReadonlyMap<string, PodRef>,
    foreignConditions: ReadonlyMap<string, WirePodCondition>,
  ): string[] {
    // a pod without a node is no manager's
    const { placed = [], waiting = [] } = Object.groupBy(serverPods, ({ spec }) => (spec?.nodeName ? 'placed' : 'waiting'));
    const unplaced = new Set(waiting.map(({ metadata }) => metadata?.uid));
    return findDifferences({
      serverPods: placed,
      agentUIDs: new Set(this.pods().map(({ metadata }) => metadata?.uid ?? '')),
      getPodStatus: (podUID) => {
        const node = this.#nodes.find(({ podManager }) => podManager.getPodByUID(podUID) !== undefined);
        return node?.statusManager.getPodStatus(podUID);
      },
      alive: new Map([...alive].filter(([uid]) => !unplaced.has(uid))),
      foreignConditions,
    });
  }

  /** What must not be at the end, one sentence each. */
  problems(): string[] {
    const { illegalTransitions } = this.meter;
    const refused = illegalTransitions === 0 ? [] : [`${illegalTransitions} statuses of the agent were refused as illegal`];
    return [...refused, ...this.#nodes.flatMap(problemsOfNode)];
  }

  /** Resolves when every status that was set is on the server. Rejects with an error that says which is not, after a second. */
  async flush(): Promise<void> {
    await Promise.all(this.#nodes.map(({ statusManager }) => statusManager.flush({ timeoutMs: 1000 })));
  }
}

/** A node that is not kept up loses its pods sooner or later. */
function problemsOfNode({ nodeObject }: DemoNode): string[] {
  const { leaseFailure, nodeFailure, rival } = nodeObject.explain();
  const found: string[] = [];
  if (nodeFailure !== undefined) found.push(`the node could not be kept in step: ${describeError(nodeFailure.error)}`);
  if (leaseFailure !== undefined) found.push(`the Lease of the node could not be renewed: ${describeError(leaseFailure.error)}`);
  if (rival !== undefined) found.push('another agent has used the name of the node');
  return found;
}

function wordPiece(word: string, count: number): Piece {
  return { text: `${count} ${word}`, style: styleOf(word) };
}

function styleOf(word: string): Style {
  if (bad.test(word)) return 'red';
  if (word === 'Running') return 'green';
  if (word === 'Completed' || word === 'Succeeded') return 'cyan';
  return word === 'Terminating' ? 'dim' : 'yellow';
}
