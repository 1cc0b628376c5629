import type { WirePod } from '../../../../src/api/json/types.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { MirrorPodClient } from '../../../../src/node/mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../../../../src/node/mirror/mirror-pod-reconciler.ts';
import type { MirrorPodReconcilerOptions } from '../../../../src/node/mirror/reconciler-options.ts';
import { ApiServerPodSource } from '../../../../src/node/sources/api-server-pod-source.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import type { Prng } from '../prng.ts';
import type { ManagerParts } from './managed-objects.ts';
import type { PartsWorld } from './parts-world.ts';
import type { RunInProgress } from './run-in-progress.ts';

export interface MirrorAgentParts extends Omit<ManagerParts, 'transport'> {
  readonly transport: ResourceTransport;
  readonly world: PartsWorld;
  readonly run: RunInProgress;
  readonly prng: Prng;
  readonly names: readonly string[];
  /** How a reconciler that is broken on purpose differs. */
  readonly broken?: ((options: MirrorPodReconcilerOptions) => MirrorPodReconcilerOptions) | undefined;
}

const hashAnnotation = 'kubernetes.io/config.hash';
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** A node agent's static pods, which come, change and go; a pod source, and the reconciler that keeps their mirrors. */
export class MirrorAgent {
  readonly #parts: MirrorAgentParts;
  readonly #podManager = new BasicPodManager();
  readonly #source: ApiServerPodSource;
  readonly #reconciler: MirrorPodReconciler;
  readonly #static = new Map<string, WirePod>();
  #lastHash = 0;

  constructor(parts: MirrorAgentParts) {
    this.#parts = parts;
    const { world, clock, random, logger, streamLists, broken = (options) => options } = parts;
    const { nodeName, namespace } = world;
    // a reflector needs of a transport no more than its two methods
    const transport = parts.transport as KubeTransport;
    const reading = { transport, nodeName, namespace, clock, random, logger, streamLists };
    this.#source = new ApiServerPodSource({ ...reading, podManager: this.#podManager });
    const getNode = (name: string): object => ({ metadata: { name, uid: `uid-of-${name}` } });
    const mirrorPodClient = new MirrorPodClient({ transport, nodeName, getNode, clock });
    const options = { podManager: this.#podManager, mirrorPodClient, nodeName, podSource: this.#source, random, clock, logger };
    this.#reconciler = new MirrorPodReconciler(broken(options));
  }

  /** The names of the three static pods that are there in the end: see `settleDown`. */
  get settled(): readonly string[] {
    return this.#parts.names.slice(0, 3);
  }

  start(): void {
    this.#source.start().catch(() => {});
    this.#reconciler.start();
  }

  /** Adds, changes or removes one static pod. */
  act(): void {
    const { prng, names, run } = this.#parts;
    const name = prng.pick(names) ?? '';
    const isThere = this.#static.has(name);
    const isGoing = isThere && prng.chance(0.35);
    run.count(isGoing ? 'static pod removed' : isThere ? 'static pod changed' : 'static pod added');
    if (isGoing) this.#remove(name);
    else this.#set(name);
  }

  /** Sees to it that the settled static pods are there. */
  settleDown(): void {
    for (const name of this.settled) if (!this.#static.has(name)) this.#set(name);
  }

  /** Removes the first of the settled static pods, and changes the others. */
  changeThose(): void {
    const [removed = '', ...changed] = this.settled;
    this.#remove(removed);
    for (const name of changed) this.#set(name);
  }

  /** Where the pods of the server are other than one mirror pod for each static pod, as it is now. */
  async whatIsBehind(): Promise<string[]> {
    const pods = await this.#parts.world.server.pods();
    const mirrors = pods.filter(({ metadata }) => metadata?.annotations?.[mirrorAnnotation] !== undefined);
    const orphans = mirrors.filter(({ metadata }) => !this.#static.has(metadata?.name ?? ''));
    const wrong = orphans.map(({ metadata }) => `${metadata?.name} is the mirror pod of no static pod`);
    for (const [name, { metadata }] of this.#static) {
      const found = mirrors.find((pod) => pod.metadata?.name === name)?.metadata;
      const [wanted, hash] = [metadata?.annotations?.[hashAnnotation], found?.annotations?.[mirrorAnnotation]];
      if (hash !== wanted) wrong.push(`the mirror pod of ${name} has the hash ${hash}, wanted is ${wanted}`);
      else if (found?.deletionTimestamp !== undefined) wrong.push(`the mirror pod of ${name} is being deleted`);
    }
    return wrong;
  }

  #remove(name: string): void {
    const held = this.#static.get(name);
    if (held !== undefined) this.#podManager.removePod(held);
    this.#static.delete(name);
  }

  /** Another pod of this name, with a hash of its own. */
  #set(name: string): void {
    this.#remove(name);
    const { namespace, nodeName } = this.#parts.world;
    const uid = `hash-${++this.#lastHash}`;
    const containers = [{ name: 'app', image: `example.test/app:${this.#lastHash}` }];
    const pod = buildStaticPod({ metadata: { name, namespace, uid }, spec: { nodeName, containers } });
    this.#static.set(name, pod);
    this.#podManager.addPod(pod);
  }

  async stop(): Promise<void> {
    await this.#reconciler.stop();
    await this.#source.stop();
  }
}
