import type { WirePod } from '../../../../src/api/json/types.ts';
import { isMirrorPod, isMirrorPodOf, podFullName } from '../../../../src/api/pod/pod-identity.ts';
import { MirrorPodClient } from '../../../../src/node/mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../../../../src/node/mirror/mirror-pod-reconciler.ts';
import type { MirrorPodReconcilerOptions } from '../../../../src/node/mirror/reconciler-options.ts';
import { buildMirrorPodOf, buildPod, buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { Prng } from '../../chaos/prng.ts';
import { LaggingWatch } from './lagging-watch.ts';
import { type Fault, StormServer } from './storm-server.ts';

const nodeName = 'node-1';
const names = ['etcd', 'apiserver', 'scheduler', 'proxy', 'dns'];
/** How long the reconciler has for everything, once nothing breaks any more. */
const calmMs = 60_000;

/** A reconciler broken on purpose: something stands between it and its parts. */
export interface MirrorMutant {
  readonly name: string;
  readonly options: (options: MirrorPodReconcilerOptions) => Partial<MirrorPodReconcilerOptions>;
}

export interface StormResult {
  /** What is wrong in the end; empty when all is well. */
  readonly broken: readonly string[];
  readonly met: ReadonlyMap<Fault, number>;
  readonly requests: number;
}

const deeds = {
  'static pod changes': 6,
  'static pod goes or comes': 4,
  'mirror pod is deleted': 6,
  'mirror pod is deleted with grace': 3,
  'mirror pod is recreated': 6,
  'ordinary pod takes the name': 3,
  'orphan appears': 2,
  'watch lags': 3,
  'watch breaks': 2,
  'node is lost': 1,
} as const;

/** One run: a node's static pods and their mirror pods, while everything breaks that can break; then calm, and a look. */
export async function storm(
  seed: number,
  { steps = 60, mutant }: { steps?: number; mutant?: MirrorMutant } = {},
): Promise<StormResult> {
  const world = new StormWorld(new Prng(seed), mutant);
  return world.run(steps);
}

class StormWorld {
  readonly #clock = new FakeClock();
  readonly #prng: Prng;
  readonly #server: StormServer;
  readonly #watch: LaggingWatch;
  readonly #reconciler: MirrorPodReconciler;
  readonly #statics = new Map<string, WirePod>();
  #node: object | undefined = { metadata: { name: nodeName, uid: 'node-uid' } };
  #hashes = 0;

  constructor(prng: Prng, mutant: MirrorMutant | undefined) {
    this.#prng = prng;
    this.#server = new StormServer(this.#clock, prng.fork('server'), nodeName);
    this.#watch = new LaggingWatch(this.#clock, this.#server.store, prng.fork('watch'), nodeName);
    const { podManager } = this.#watch;
    const getNode = (): object | undefined => this.#node;
    const random = prng.fork('jitter');
    const options: MirrorPodReconcilerOptions = {
      podManager,
      mirrorPodClient: new MirrorPodClient({ transport: this.#server, nodeName, getNode, clock: this.#clock }),
      nodeName,
      podSource: { lastListedAt: () => this.#watch.lastListedAt() },
      random: () => random.next(),
      clock: this.#clock,
    };
    this.#reconciler = new MirrorPodReconciler({ logger: null, ...options, ...mutant?.options(options) });
  }

  async run(steps: number): Promise<StormResult> {
    this.#reconciler.start();
    for (const name of names) if (this.#prng.chance(0.7)) this.#setStatic(name);
    await this.#clock.advance(500);
    const untimely = this.#server.store.list().length > 0 ? ['mirror pods were created before the first list'] : [];
    this.#watch.list();
    for (let step = 0; step < steps; step++) {
      this.#do(this.#prng.weighted(deeds), this.#prng.pick(names) ?? '');
      await this.#clock.advance(this.#prng.weighted({ 0: 3, 20: 4, 300: 3, 3000: 1 }) === '0' ? 0 : this.#prng.int(1, 1500));
    }
    this.#calm();
    await this.#clock.advance(calmMs);
    const broken = [...untimely, ...this.#judge()];
    const stopped = this.#reconciler.stop();
    await this.#clock.advance(1000);
    await stopped;
    if (this.#server.underWay > 0) broken.push('a request was under way after stop()');
    const requests = [...this.#server.met.values()].reduce((sum, count) => sum + count, 0);
    return { broken, met: this.#server.met, requests };
  }

  #do(deed: keyof typeof deeds, name: string): void {
    const { store } = this.#server;
    const held = store.list().find(({ metadata }) => metadata?.name === name);
    switch (deed) {
      case 'static pod changes':
        this.#setStatic(name);
        break;
      case 'static pod goes or comes':
        if (!this.#dropStatic(name)) this.#setStatic(name);
        break;
      case 'mirror pod is deleted':
        if (held !== undefined && isMirrorPod(held)) store.remove('default', name);
        break;
      case 'mirror pod is deleted with grace':
        if (held !== undefined && isMirrorPod(held)) store.delete('default', name);
        break;
      case 'mirror pod is recreated':
        this.#recreate(name, held);
        break;
      case 'ordinary pod takes the name':
        if (held !== undefined) store.remove('default', name);
        store.create(buildPod({ metadata: { name }, spec: { nodeName: this.#prng.chance(0.5) ? nodeName : 'node-2' } }));
        break;
      case 'orphan appears':
        if (held === undefined) store.create(buildMirrorPodOf(this.#staticPod(name)));
        break;
      case 'watch lags':
        this.#watch.lagMs = this.#prng.int(1, 2000);
        break;
      case 'watch breaks':
        this.#watch.cut(this.#prng.int(100, 5000));
        break;
      case 'node is lost':
        this.#node = this.#prng.chance(0.5) ? undefined : { metadata: { name: nodeName, uid: 'node-uid' } };
        break;
    }
  }

  /** Another hand puts a mirror pod in the place of one: of the same version or of another. */
  #recreate(name: string, held: WirePod | undefined): void {
    const { store } = this.#server;
    const staticPod = this.#statics.get(name) ?? this.#staticPod(name);
    if (held !== undefined && !isMirrorPod(held)) return;
    if (held !== undefined) store.remove('default', name);
    const annotations = { ...buildMirrorPodOf(staticPod).metadata?.annotations };
    if (this.#prng.chance(0.5)) annotations['kubernetes.io/config.mirror'] = 'another version';
    store.create(buildMirrorPodOf(staticPod, { metadata: { annotations } }));
  }

  #staticPod(name: string): WirePod {
    const hash = `hash-${++this.#hashes}`;
    const annotations = { 'kubernetes.io/config.hash': hash };
    return buildStaticPod({ metadata: { name, uid: `${name}-${hash}`, annotations } });
  }

  #setStatic(name: string): void {
    this.#dropStatic(name);
    const pod = this.#staticPod(name);
    this.#statics.set(name, pod);
    this.#watch.podManager.addPod(pod);
  }

  #dropStatic(name: string): boolean {
    const pod = this.#statics.get(name);
    if (pod !== undefined) this.#watch.podManager.removePod(pod);
    return this.#statics.delete(name);
  }

  /** Nothing breaks any more, and ordinary pods leave the names of static pods. */
  #calm(): void {
    this.#server.stormy = false;
    this.#node = { metadata: { name: nodeName, uid: 'node-uid' } };
    this.#watch.lagMs = 5;
    for (const pod of this.#server.store.list()) {
      const { name = '' } = pod.metadata ?? {};
      if (!isMirrorPod(pod) && this.#statics.has(name)) this.#server.store.remove('default', name);
    }
  }

  #judge(): string[] {
    const { store, wronglyDeleted } = this.#server;
    const broken = wronglyDeleted.map((pod) => `${pod} was deleted, which is no mirror pod of the node`);
    const mirrors = store.list({ fieldSelector: `spec.nodeName=${nodeName}` }).filter(isMirrorPod);
    for (const mirror of mirrors) {
      const staticPod = this.#statics.get(mirror.metadata?.name ?? '');
      if (staticPod === undefined) broken.push(`${podFullName(mirror)} is an orphan`);
    }
    for (const pod of this.#statics.values()) {
      const mirror = mirrors.find((one) => podFullName(one) === podFullName(pod));
      if (mirror === undefined) broken.push(`${podFullName(pod)} has no mirror pod`);
      else if (!isMirrorPodOf(mirror, pod)) broken.push(`${podFullName(pod)} has an outdated mirror pod`);
      else if (mirror.metadata?.deletionTimestamp) broken.push(`${podFullName(pod)} has a mirror pod that is being deleted`);
    }
    return broken;
  }
}
