import { isMirrorPod, type Pod, type WirePod } from '../../../../../src/index.ts';
import type { ServedStore } from '../../../../../src/testing/objects/resource-store.ts';
import type { Prng } from '../../../chaos/prng.ts';
import { characterOf, drawSpec, imageOf, staticPodOf } from './pod-shapes.ts';

export interface UsersParts {
  readonly pods: ServedStore;
  readonly nodeName: string;
  readonly prng: Prng;
  readonly count: (what: string) => void;
  /** The manifests of the machine have changed. */
  readonly manifestsChanged: () => void;
  /** The agent is to make room. */
  readonly evict: (podUID: string, gracePeriodSeconds: number) => void;
}

const namespace = 'default';
const podNames = Array.from({ length: 6 }, (_, i) => `pod-${i}`);
const staticNames = Array.from({ length: 3 }, (_, i) => `static-${i}`);

const deeds = {
  create: 10,
  'delete with grace': 5,
  'delete sooner': 3,
  'force delete': 2,
  recreate: 2,
  'change image': 2,
  'change labels': 2,
  evict: 1,
  'set manifest': 3,
  'remove manifest': 2,
  'put manifest back': 3,
  'delete mirror pod': 2,
} as const;

/** Everybody else: people and controllers who change pods on the server, and who edit manifests on the machine. */
export class Users {
  readonly #parts: UsersParts;
  readonly #manifests = new Map<string, Pod>();
  readonly #removed: [string, Pod][] = [];
  #version = 0;

  constructor(parts: UsersParts) {
    this.#parts = parts;
  }

  get statics(): readonly Pod[] {
    return [...this.#manifests.values()];
  }

  act(): void {
    const { prng, count } = this.#parts;
    const isImpatient = prng.chance(0.2) && this.#ordinary().some(isEnding);
    const deed = isImpatient ? 'delete sooner' : prng.weighted<keyof typeof deeds>(deeds);
    if (this.#do(deed)) count(`user: ${deed}`);
  }

  /** False: there was nothing to do it to. */
  #do(deed: keyof typeof deeds): boolean {
    const { prng } = this.#parts;
    if (deed.includes('manifest')) return this.#editManifests(deed);
    if (deed === 'create') {
      const name = podNames.find((each) => this.#named(each) === undefined);
      if (name !== undefined) this.#create(name);
      return name !== undefined;
    }
    if (deed === 'delete mirror pod') {
      const mirror = prng.pick(this.#list().filter(isMirrorPod));
      if (mirror !== undefined) this.#delete(mirror, prng.pick([undefined, 0, 5]));
      return mirror !== undefined;
    }
    const all = this.#ordinary();
    const pod = prng.pick(deed === 'delete sooner' ? all.filter(isEnding) : all);
    return pod !== undefined && this.#doTo(pod, deed);
  }

  #doTo(pod: WirePod, deed: keyof typeof deeds): boolean {
    const { prng, evict } = this.#parts;
    const { uid = '', name = '' } = pod.metadata ?? {};
    if (deed === 'delete with grace') this.#delete(pod, prng.pick([undefined, undefined, 1, 10, 60]));
    else if (deed === 'delete sooner') this.#delete(pod, prng.pick([1, 2, 5]));
    else if (deed === 'force delete') this.#delete(pod, 0);
    else if (deed === 'recreate') {
      this.#delete(pod, 0);
      if (this.#named(name) === undefined) this.#create(name);
    } else if (deed === 'change image' && !isEnding(pod)) this.#changeImage(pod);
    else if (deed === 'change labels')
      this.#update({ ...pod, metadata: { ...pod.metadata, labels: { v: `${++this.#version}` } } });
    else if (deed === 'evict' && !isEnding(pod)) evict(uid, prng.pick([0, 2, 10]) ?? 0);
    else return false;
    return true;
  }

  #editManifests(deed: string): boolean {
    const { prng, nodeName, manifestsChanged } = this.#parts;
    const name = prng.pick(staticNames) ?? '';
    const there = this.#manifests.get(name);
    const back = deed === 'put manifest back' ? prng.pick(this.#removed) : undefined;
    if (deed === 'set manifest') this.#manifests.set(name, staticPodOf(name, drawSpec(prng, ++this.#version), nodeName));
    else if (deed === 'remove manifest') this.#manifests.delete(name);
    else if (back !== undefined) this.#manifests.set(...back);
    else return false;
    // one that does not start again what has ended would be told as it ended: the same uid has had another life
    const startsAnew = there?.spec?.restartPolicy === 'Always';
    if (there !== undefined && startsAnew && deed !== 'put manifest back') this.#removed.push([name, there]);
    if (this.#removed.length > 4) this.#removed.shift();
    manifestsChanged();
    return true;
  }

  #create(name: string): void {
    const { pods, prng, nodeName } = this.#parts;
    pods.create({ metadata: { name, namespace }, spec: { nodeName, ...drawSpec(prng, ++this.#version) } });
  }

  #changeImage(pod: WirePod): void {
    const version = ++this.#version;
    const containers = pod.spec?.containers.map((each) => ({ ...each, image: imageOf(characterOf(each.image ?? ''), version) }));
    this.#update({ ...pod, spec: { ...pod.spec, containers } });
  }

  #update(pod: object): void {
    this.#parts.pods.update(pod);
  }

  #delete({ metadata }: WirePod, gracePeriodSeconds: number | undefined): void {
    const { name = '', uid = '' } = metadata ?? {};
    const request = { preconditions: { uid }, ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) };
    this.#parts.pods.delete({ namespace, name }, request);
  }

  #list(): WirePod[] {
    return this.#parts.pods.list() as WirePod[];
  }

  #ordinary(): WirePod[] {
    return this.#list().filter((pod) => !isMirrorPod(pod));
  }

  #named(name: string): WirePod | undefined {
    return this.#list().find(({ metadata }) => metadata?.name === name);
  }
}

function isEnding({ metadata }: WirePod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}
