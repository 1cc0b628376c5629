/** What a plugin keeps for one pod's cycle. `clone` is called before what-if questions change it. */
export interface StateData<Data> {
  /** A copy: a change of it does not change this one. Data that nobody changes may answer itself. */
  clone(): Data;
}

/** Names one plugin's data; made once by `stateKey`, so that no two plugins share one. */
export interface StateKey<Data extends StateData<Data>> {
  /** For people. Two keys with one name are still two keys. */
  readonly name: string;
  /** Never set: it ties the key to the type of its data. */
  readonly data?: Data;
}

/**
 * A key of its own for a plugin's data. `name` is for people.
 *
 * @example
 * ```ts
 * import { CycleState, stateKey } from 'pod-status-manager/scheduler';
 *
 * class Wanted {
 *   readonly zone: string;
 *   constructor(zone: string) {
 *     this.zone = zone;
 *   }
 *   clone(): Wanted {
 *     return this; // nobody changes it
 *   }
 * }
 * const key = stateKey<Wanted>('MyPlugin');
 * const state = new CycleState();
 * state.write(key, new Wanted('z1'));
 * console.log(state.read(key)?.zone, state.read(stateKey<Wanted>('MyPlugin'))); // z1 undefined
 * ```
 */
export function stateKey<Data extends StateData<Data>>(name: string): StateKey<Data> {
  return { name };
}

/**
 * What the plugins keep while one pod is scheduled. Each plugin reads and writes under its own key, see {@link stateKey}.
 *
 * @example
 * ```ts
 * import { CycleState, stateKey } from 'pod-status-manager/scheduler';
 *
 * interface Count {
 *   pods: number;
 *   clone(): Count;
 * }
 * const count = (pods: number): Count => ({ pods, clone: () => count(pods) });
 * const key = stateKey<Count>('Counting');
 * const state = new CycleState();
 * state.write(key, count(1));
 * const trial = state.clone();
 * trial.write(key, count(2));
 * console.log(state.read(key)?.pods, trial.read(key)?.pods); // 1 2
 * ```
 */
export class CycleState {
  readonly #data: Map<StateKey<never>, StateData<unknown>>;
  /** Plugins that had nothing to say in preFilter; their filters are left out. */
  readonly skippedFilters: Set<string>;
  /** Plugins that had nothing to say in preScore; their scores are left out. */
  readonly skippedScores: Set<string>;

  constructor(from?: CycleState) {
    this.#data = new Map(
      from === undefined ? [] : [...from.#data].map(([key, data]) => [key, data.clone() as StateData<unknown>]),
    );
    this.skippedFilters = new Set(from?.skippedFilters);
    this.skippedScores = new Set(from?.skippedScores);
  }

  /** What was written under this key; undefined where nothing was. */
  read<Data extends StateData<Data>>(key: StateKey<Data>): Data | undefined {
    return this.#data.get(key as StateKey<never>) as Data | undefined;
  }

  /** Keeps the data under this key, in place of what was there. */
  write<Data extends StateData<Data>>(key: StateKey<Data>, data: Data): void {
    this.#data.set(key as StateKey<never>, data);
  }

  /** A state of its own, with a clone of what each plugin keeps. */
  clone(): CycleState {
    return new CycleState(this);
  }
}
