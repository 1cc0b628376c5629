import type { WirePod } from '../../../../src/index.ts';
import type { Prng } from '../prng.ts';
import { type Ledger, rivalMessage } from '../said/ledger.ts';

/** A strategic merge patch that is to be sent, and is in the ledger already. */
export interface RivalWrite {
  readonly kind: 'condition' | 'condition taken away' | 'condition of the agent' | 'label' | 'finalizer' | 'finalizer taken away';
  readonly subresource: 'status' | undefined;
  /** Names the pod's uid: a pod of the same name is another pod. */
  readonly body: object;
  /** To be called when the server has refused it. */
  readonly takeBack: () => void;
}

/**
 * Another writer of pods: conditions of its own, labels and finalizers of its own, and at times Ready, which is the
 * agent's. Each write has the same effect when it is sent twice.
 */
export class Controller {
  readonly #name: string;
  readonly #types: readonly string[];
  readonly #prng: Prng;
  readonly #ledger: Ledger;
  #step = 0;

  /** `types` are the condition types that it alone writes. */
  constructor(name: string, types: readonly string[], prng: Prng, ledger: Ledger) {
    this.#name = `rivals.example/${name}`;
    this.#types = types;
    this.#prng = prng;
    this.#ledger = ledger;
  }

  /** The next write to this pod. */
  write(pod: WirePod): RivalWrite {
    if (this.holds(pod) && (pod.metadata?.deletionTimestamp !== undefined || this.#prng.chance(0.2))) return this.letGo(pod);
    const deed = this.#prng.weighted({ condition: 45, drop: 10, ready: 12, label: 20, finalizer: 6 });
    switch (deed) {
      case 'condition':
      case 'drop':
        return this.#condition(pod, this.#prng.pick(this.#types) ?? '', deed === 'drop');
      case 'ready':
        return this.takeReadyAway(pod);
      case 'finalizer':
        return pod.metadata?.deletionTimestamp === undefined && !this.holds(pod) ? this.#hold(pod) : this.label(pod);
      case 'label':
        return this.label(pod);
    }
  }

  /** True when its finalizer is on the pod. */
  holds({ metadata }: WirePod): boolean {
    return metadata?.finalizers?.includes(this.#name) === true;
  }

  letGo(pod: WirePod): RivalWrite {
    const metadata = { '$deleteFromPrimitiveList/finalizers': [this.#name] };
    return this.#write(pod, 'finalizer taken away', { metadata }, `finalizer ${this.#name}`, undefined);
  }

  #hold(pod: WirePod): RivalWrite {
    return this.#write(pod, 'finalizer', { metadata: { finalizers: [this.#name] } }, `finalizer ${this.#name}`, 'held');
  }

  /** Changes a label of its own, and nothing else. */
  label(pod: WirePod): RivalWrite {
    const value = `step-${++this.#step}`;
    return this.#write(pod, 'label', { metadata: { labels: { [this.#name]: value } } }, `label ${this.#name}`, value);
  }

  #condition(pod: WirePod, type: string, drop: boolean): RivalWrite {
    const key = `condition ${type}`;
    const isThere = this.#ledger.foreign.of(pod.metadata?.uid ?? '', key).at(-1) !== undefined;
    if (drop && isThere) {
      return this.#write(pod, 'condition taken away', { status: { conditions: [{ type, $patch: 'delete' }] } }, key, undefined);
    }
    const message = `${rivalMessage}${++this.#step}`;
    const status = this.#prng.chance(0.5) ? 'True' : 'False';
    const body = { status: { conditions: [{ type, status, reason: 'Rival', message }] } };
    return this.#write(pod, 'condition', body, key, `${status} Rival ${message}`);
  }

  /** As the node lifecycle controller does when a node has not been heard from. */
  takeReadyAway({ metadata }: WirePod): RivalWrite {
    const condition = { type: 'Ready', status: 'False', reason: 'NodeNotReady', message: `${rivalMessage}${++this.#step}` };
    const body = { metadata: { uid: metadata?.uid }, status: { conditions: [condition] } };
    return { kind: 'condition of the agent', subresource: 'status', body, takeBack: () => {} };
  }

  #write(pod: WirePod, kind: RivalWrite['kind'], body: object, key: string, content: string | undefined): RivalWrite {
    const uid = pod.metadata?.uid ?? '';
    const takeBack = this.#ledger.foreign.add(uid, key, content);
    const metadata = { uid, ...('metadata' in body ? (body.metadata as object) : {}) };
    return { kind, subresource: 'status' in body ? 'status' : undefined, body: { ...body, metadata }, takeBack };
  }
}
