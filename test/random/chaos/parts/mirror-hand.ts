import type { WirePod } from '../../../../src/api/json/types.ts';
import { buildMirrorPodOf, buildPod, buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import type { Prng } from '../prng.ts';
import { mirrorAnnotation } from './mirror-agent.ts';
import type { PartsWorld } from './parts-world.ts';
import type { RunInProgress } from './run-in-progress.ts';

export interface MirrorHandParts {
  readonly world: PartsWorld;
  readonly run: RunInProgress;
  readonly prng: Prng;
  /** The names that static pods may have. */
  readonly names: readonly string[];
}

/** Somebody who deletes mirror pods, puts others in their place, and has pods of their own on the same node. */
export class MirrorHand {
  readonly #parts: MirrorHandParts;
  /** The pods of their own, by name: uids. */
  readonly #own = new Map<string, string>();

  constructor(parts: MirrorHandParts) {
    this.#parts = parts;
  }

  /** True for a pod that the agent must not touch. */
  owns(uid: string): boolean {
    return [...this.#own.values()].includes(uid);
  }

  async begin(): Promise<void> {
    for (const name of ['foreign-0', 'foreign-1']) await this.#createOwn(name);
  }

  async act(): Promise<void> {
    const { world, names, prng, run } = this.#parts;
    const name = prng.pick(names) ?? '';
    const own = this.#own.get(name);
    if (own !== undefined) return this.#deleteOwn(name, own);
    const pod = await this.#podNamed(name);
    if (pod === undefined) {
      const deed = prng.pick(['orphan', 'occupant'] as const);
      run.count(`pod created: ${deed}`);
      return deed === 'orphan' ? this.#createMirror(name) : this.#createOwn(name);
    }
    const deed = prng.weighted({ 'by force': 40, 'with grace': 20, 'for another mirror': 15, 'for a foreign pod': 25 });
    run.count(`mirror deleted: ${deed}`);
    if (pod.metadata?.annotations?.[mirrorAnnotation] === undefined) return;
    await world.server.deletePod(name, { uid: pod.metadata.uid ?? '', force: deed !== 'with grace' });
    if (deed === 'for another mirror') await this.#createMirror(name);
    if (deed === 'for a foreign pod') await this.#createOwn(name);
  }

  /** Deletes the pod of this name by force, and creates a foreign pod in its place. */
  async takePlaceOf(name: string): Promise<void> {
    const pod = await this.#podNamed(name);
    if (pod !== undefined) await this.#parts.world.server.deletePod(name, { uid: pod.metadata?.uid ?? '', force: true });
    await this.#createOwn(name);
  }

  /** Takes away the pods that stand in the way of mirror pods. */
  async makeWay(): Promise<void> {
    for (const name of this.#parts.names) {
      const uid = this.#own.get(name);
      if (uid !== undefined) await this.#deleteOwn(name, uid);
    }
  }

  /** Pods of their own that are gone, or are being deleted. */
  async whatIsMissing(): Promise<string[]> {
    const pods = await this.#parts.world.server.pods();
    const isWell = (uid: string): boolean =>
      pods.some(({ metadata }) => metadata?.uid === uid && metadata.deletionTimestamp === undefined);
    return [...this.#own].filter(([, uid]) => !isWell(uid)).map(([name, uid]) => `the foreign pod ${name} (${uid}) is gone`);
  }

  async #podNamed(name: string): Promise<WirePod | undefined> {
    return (await this.#parts.world.server.pods()).find(({ metadata }) => metadata?.name === name);
  }

  async #createOwn(name: string): Promise<void> {
    const { namespace, nodeName } = this.#parts.world;
    const { uid: _, ...metadata } = buildPod({ metadata: { name, namespace } }).metadata ?? {};
    const pod = await this.#parts.world.server.createPod({ ...buildPod({ spec: { nodeName } }), metadata });
    if (pod !== undefined) this.#own.set(name, pod.metadata?.uid ?? '');
  }

  async #deleteOwn(name: string, uid: string): Promise<void> {
    const { world, run } = this.#parts;
    run.count('foreign pod deleted');
    if (!(await world.server.deletePod(name, { uid, force: true })))
      run.found('no other pod is touched', `the foreign pod ${name} (${uid}) was deleted`);
    this.#own.delete(name);
  }

  async #createMirror(name: string): Promise<void> {
    const { world, prng } = this.#parts;
    const { namespace, nodeName } = world;
    const pod = buildStaticPod({ metadata: { name, namespace, uid: `another-${prng.int(0, 9)}` }, spec: { nodeName } });
    const { uid: _, ...metadata } = buildMirrorPodOf(pod).metadata ?? {};
    await world.server.createPod({ ...buildMirrorPodOf(pod), metadata } as WirePod);
  }
}
