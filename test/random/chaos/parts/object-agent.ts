import type { WirePod } from '../../../../src/api/json/types.ts';
import type { Prng } from '../prng.ts';
import type { ManagedObjects } from './managed-objects.ts';
import { podNaming } from './naming-pod.ts';
import { type ObjectKind, type ObjectTruth, objectKinds } from './object-truth.ts';
import type { OpenWatch, PartsWorld } from './parts-world.ts';
import type { Reading, Readings } from './readings.ts';
import type { NamedObjects, References } from './references.ts';
import type { RunInProgress } from './run-in-progress.ts';

export interface ObjectAgentParts {
  readonly world: PartsWorld;
  readonly run: RunInProgress;
  readonly truth: ObjectTruth;
  readonly references: References;
  readonly readings: Readings;
  readonly managers: readonly ManagedObjects[];
  readonly prng: Prng;
  readonly names: readonly string[];
  readonly mostPods: number;
}

/** Longer than any request may take. */
const longestReadMs = 60_000;

/** The node agent's side: pods come, change what they name, end and go; readers read all the time. */
export class ObjectAgent {
  readonly #parts: ObjectAgentParts;
  readonly #pods = new Map<string, WirePod>();
  #lastUID = 0;
  /** The names that are read at present: the others lie idle. */
  #inUse: readonly string[];

  constructor(parts: ObjectAgentParts) {
    this.#parts = parts;
    this.#inUse = parts.names;
  }

  /** Registers, updates, ends or unregisters one pod. */
  act(): void {
    const { prng, run, mostPods } = this.#parts;
    const [uid, pod] = prng.pick([...this.#pods]) ?? [];
    const deed = prng.weighted({ register: 40, update: 40, same: 5, end: 5, unregister: 10 });
    if (deed === 'register' && this.#pods.size < mostPods) this.#register(`u${++this.#lastUID}`, this.#drawNames());
    else if (uid === undefined || pod === undefined) return;
    else if (deed === 'update') this.#register(uid, this.#drawNames());
    else if (deed === 'same') this.#tell(pod);
    else this.#letGo(uid, pod, deed === 'end');
    run.count(`pod: ${deed}`);
  }

  /** Registers a pod that names the first three objects of each kind. */
  settleDown(): void {
    const names = new Set(this.#parts.names.slice(0, 3));
    this.#register('settled', { secrets: names, configmaps: names });
  }

  /** Reads without waiting for the answer. */
  read(): void {
    const { prng, managers, readings, references, names } = this.#parts;
    if (prng.chance(0.01)) this.#inUse = names.filter(() => prng.chance(0.6));
    const manager = prng.pick(managers);
    if (manager === undefined) return;
    const named = references.names(manager.kind);
    // now and then what lies idle, and what no pod names
    const name = prng.pick(prng.chance(0.1) ? names : this.#inUse.filter((each) => named.has(each)));
    if (name !== undefined) void readings.read(manager, name);
  }

  /** Objects that are read otherwise than the server has them, after a read of each. */
  async whatIsBehind(): Promise<string[]> {
    const { managers, references, readings, run } = this.#parts;
    const all = managers.flatMap((manager) => [...references.names(manager.kind)].map((name) => ({ manager, name })));
    const wrong = await Promise.all(
      all.map(async ({ manager, name }) => {
        const read = readings.read(manager, name);
        return this.#difference(manager, name, await run.limited(read, longestReadMs, { error: 'no answer' }));
      }),
    );
    return wrong.filter((each) => each !== undefined);
  }

  /** The open watches for one object each that no pod names. */
  unnamedWatches(): string[] {
    const { world, references } = this.#parts;
    return world.openWatches().flatMap(({ resource, name }) => {
      if (name === undefined) return [];
      const period = references.period(resource as ObjectKind, name);
      return period === undefined || period.endedAtMs !== undefined ? [`${resource}/${name}`] : [];
    });
  }

  /** Where the open watches are other than one for each object that is named, and was read; none for an immutable one. */
  wrongWatches(open: readonly OpenWatch[]): string[] {
    const { references } = this.#parts;
    return objectKinds.flatMap((kind) => {
      const wanted = [...references.names(kind)].filter((name) => !references.period(kind, name)?.kept.has('watch'));
      const found = open.flatMap(({ resource, name }) => (resource === kind && name !== undefined ? [name] : []));
      const [is, should] = [found.sort().join(' '), wanted.sort().join(' ')];
      return is === should ? [] : [`${kind}: watched are [${is}], wanted [${should}]`];
    });
  }

  /** Everything is unregistered. */
  letGoOfAll(): void {
    for (const [uid, pod] of [...this.#pods]) this.#letGo(uid, pod, false);
  }

  #register(uid: string, names: NamedObjects): void {
    const { world, references, prng } = this.#parts;
    const pod = podNaming(world.namespace, uid, names, prng);
    this.#pods.set(uid, pod);
    references.set(uid, names);
    this.#tell(pod);
  }

  #letGo(uid: string, pod: WirePod, hasEnded: boolean): void {
    this.#pods.delete(uid);
    this.#parts.references.set(uid, undefined);
    if (hasEnded) this.#tell({ ...pod, status: { phase: 'Succeeded' } });
    else for (const manager of this.#parts.managers) manager.unregisterPod(pod as never);
  }

  #tell(pod: WirePod): void {
    for (const manager of this.#parts.managers) manager.registerPod(pod as never);
  }

  #drawNames(): NamedObjects {
    const { names, prng } = this.#parts;
    const draw = (): Set<string> => new Set(prng.shuffled(names).slice(0, prng.int(0, 3)));
    return { secrets: draw(), configmaps: draw() };
  }

  #difference({ kind, strategy }: ManagedObjects, name: string, reading: Reading): string | undefined {
    const { truth, references } = this.#parts;
    const kept = references.period(kind, name)?.kept.get(strategy);
    const wanted = kept ?? truth.standing(kind, name)?.n ?? 'ERR_NOT_FOUND';
    const found = 'n' in reading ? reading.n : reading.error;
    return found === wanted ? undefined : `${kind}/${name} by ${strategy} is read as ${found}, and is ${wanted}`;
  }
}
