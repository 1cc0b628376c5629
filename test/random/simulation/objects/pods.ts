import type { BasicPodManager, Pod } from '../../../../src/index.ts';
import { podPullingWith } from '../../../support/pods.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { Checker } from './checker.ts';

export const namespaces = ['d', 'e'] as const;
export const secretNames = ['a', 'b', 'c', 'f', 'g', 'h'] as const;
const mostPods = 10;

interface LivingPod {
  readonly namespace: string;
  readonly uid: string;
  /** The secrets it holds. */
  names: ReadonlySet<string>;
  version: number;
}

/** Pods that come, change what they name, end and go. */
export class Pods {
  readonly #podManager: BasicPodManager;
  readonly #checker: Checker;
  readonly #prng: Prng;
  readonly #pods = new Map<string, LivingPod>();
  #made = 0;

  constructor(podManager: BasicPodManager, checker: Checker, prng: Prng) {
    this.#podManager = podManager;
    this.#checker = checker;
    this.#prng = prng;
  }

  act(): void {
    const pod = this.#prng.pick([...this.#pods.values()]);
    const what = this.#prng.weighted({ add: this.#pods.size < mostPods ? 4 : 0, update: 4, same: 1, end: 1, remove: 2 });
    if (what === 'add' || pod === undefined) this.#add();
    else if (what === 'update') this.#give(pod, this.#someNames());
    else if (what === 'same') this.#give(pod, pod.names);
    else if (what === 'end') this.#give(pod, new Set(), 'Succeeded');
    else this.#remove(pod);
  }

  removeAll(): void {
    for (const pod of this.#pods.values()) this.#remove(pod);
  }

  #add(): void {
    this.#made += 1;
    const pod = { namespace: this.#prng.pick(namespaces) ?? 'd', uid: `u${this.#made}`, names: new Set<string>(), version: 0 };
    this.#pods.set(pod.uid, pod);
    this.#give(pod, this.#someNames());
  }

  /** The references of the model change before the manager hears of it where they grow, and afterwards where they shrink. */
  #give(pod: LivingPod, names: ReadonlySet<string>, phase = 'Running'): void {
    const before = pod.names;
    pod.names = names;
    pod.version += 1;
    for (const name of names) if (!before.has(name)) this.#checker.refer(`${pod.namespace}/${name}`);
    this.#podManager.updatePod(podOf(pod, phase));
    for (const name of before) if (!names.has(name)) this.#checker.letGo(`${pod.namespace}/${name}`);
  }

  #remove(pod: LivingPod): void {
    this.#pods.delete(pod.uid);
    this.#podManager.removePod(podOf(pod, 'Running'));
    for (const name of pod.names) this.#checker.letGo(`${pod.namespace}/${name}`);
    pod.names = new Set();
  }

  #someNames(): Set<string> {
    return new Set(this.#prng.shuffled(secretNames).slice(0, this.#prng.int(0, 3)));
  }
}

function podOf({ namespace, uid, names, version }: LivingPod, phase: string): Pod {
  return podPullingWith(names, { uid, namespace, resourceVersion: String(version) }, phase);
}
