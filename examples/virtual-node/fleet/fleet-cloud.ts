import { Random } from '../random.ts';
import type { CloudCall, CloudPod } from './messages.ts';

/** What runs the pods of all nodes: they run on in it, whichever member asks, and change by themselves. */
export class FleetCloud {
  readonly #pods = new Map<string, CloudPod>();
  /** The uids of all pods that there ever were. */
  readonly #everCreated = new Set<string>();
  readonly #random: Random;
  readonly #changed: (pod: CloudPod) => void;
  /** Creations of a pod that there was already, one sentence each. */
  readonly doubled: string[] = [];
  created = 0;
  deleted = 0;
  changes = 0;

  /** `changed` is told of every pod that is not as it was. */
  constructor(seed: number, changed: (pod: CloudPod) => void) {
    this.#random = new Random(seed);
    this.#changed = changed;
  }

  get(uid: string): CloudPod | undefined {
    return this.#pods.get(uid);
  }

  get pods(): readonly CloudPod[] {
    return [...this.#pods.values()];
  }

  /** Throws for what it refuses. */
  take(asked: CloudCall, member: string): readonly CloudPod[] {
    switch (asked.call) {
      case 'create':
        return [this.#create(asked.pod, member)];
      case 'delete':
        if (this.#pods.delete(asked.uid)) this.deleted += 1;
        return [];
      case 'get':
        return this.pods.filter(({ uid }) => uid === asked.uid);
      case 'list':
        return this.pods.filter(({ nodeName }) => nodeName === asked.nodeName);
    }
  }

  /** Something happens to one pod: it becomes ready or not, or its container starts again. */
  changeOne(): void {
    const pod = this.#random.pick(this.pods);
    if (pod === undefined) return;
    if (this.#random.chance(0.7)) pod.ready = !pod.ready;
    else Object.assign(pod, { restarts: pod.restarts + 1, startedAt: now() });
    pod.version += 1;
    this.changes += 1;
    this.#changed(pod);
  }

  #create(wanted: Pick<CloudPod, 'uid' | 'namespace' | 'name' | 'nodeName'>, member: string): CloudPod {
    if (this.#everCreated.has(wanted.uid)) {
      this.doubled.push(`${member} created ${wanted.name}, which was there before`);
      throw new Error(`there is a pod with the uid ${wanted.uid} already`);
    }
    this.#everCreated.add(wanted.uid);
    const pod: CloudPod = { ...wanted, version: 1, ready: true, restarts: 0, startedAt: now() };
    this.#pods.set(pod.uid, pod);
    this.created += 1;
    this.#changed(pod);
    return pod;
  }
}

/** In whole seconds, as Kubernetes keeps times. */
function now(): string {
  return new Date().toISOString().replace(/\.\d+/, '');
}
