import type { Prng } from '../prng.ts';
import { type ObjectKind, type ObjectTruth, objectKinds, objectOf } from './object-truth.ts';
import type { PartsWorld } from './parts-world.ts';
import type { RunInProgress } from './run-in-progress.ts';

export interface ObjectHandParts {
  readonly world: PartsWorld;
  readonly run: RunInProgress;
  readonly truth: ObjectTruth;
  readonly prng: Prng;
  /** The names that objects of each kind may have. */
  readonly names: readonly string[];
}

/** The other hand: puts, updates, deletes and recreates secrets and config maps, past all faults. */
export class ObjectHand {
  readonly #parts: ObjectHandParts;

  constructor(parts: ObjectHandParts) {
    this.#parts = parts;
  }

  /** Most of the objects are there at the beginning. */
  async begin(): Promise<void> {
    const { names, prng } = this.#parts;
    for (const kind of objectKinds)
      for (const name of names) if (prng.chance(0.8)) await this.#write(kind, name, prng.chance(0.2));
  }

  async act(): Promise<void> {
    const { names, prng, run, truth } = this.#parts;
    const kind = prng.pick(objectKinds) ?? 'secrets';
    const name = prng.pick(names) ?? '';
    const standing = truth.standing(kind, name);
    if (standing === undefined) {
      run.count('object created');
      await this.#write(kind, name, prng.chance(0.2));
      return;
    }
    const deed = standing.immutable ? 'recreate' : prng.weighted({ update: 70, recreate: 15, delete: 15 });
    run.count(`object ${deed}d`);
    if (deed !== 'update') await this.#delete(kind, name);
    if (deed !== 'delete') await this.#write(kind, name, prng.chance(standing.immutable ? 0.5 : 0.1));
  }

  /** The first three objects of each kind are there, and may change. */
  async settleDown(): Promise<void> {
    for (const kind of objectKinds) {
      for (const name of this.#parts.names.slice(0, 3)) {
        if (this.#parts.truth.standing(kind, name)?.immutable) await this.#delete(kind, name);
        await this.#write(kind, name, false, 'seen');
      }
    }
  }

  /** Updates the first of these three, deletes the second and recreates the third. */
  async changeThose(): Promise<void> {
    for (const kind of objectKinds) {
      const [updated = '', deleted = '', recreated = ''] = this.#parts.names;
      await this.#write(kind, updated, false, 'seen');
      await this.#delete(kind, deleted);
      await this.#delete(kind, recreated);
      await this.#write(kind, recreated, false, 'seen');
    }
  }

  async #write(kind: ObjectKind, name: string, immutable: boolean, wanted?: 'seen'): Promise<void> {
    const { world, truth, prng } = this.#parts;
    const write = truth.begin(kind, name, { immutable, tier: wanted ?? (prng.chance(0.6) ? 'seen' : 'unseen') });
    await world.server.write(kind, objectOf(kind, world.namespace, name, write));
    truth.landed(kind, name, write);
  }

  async #delete(kind: ObjectKind, name: string): Promise<void> {
    const { world, truth } = this.#parts;
    await world.server.delete(kind, name);
    truth.landed(kind, name, undefined);
  }
}
