import { Buffer } from 'node:buffer';
import { isStatusManagerError } from '../../../../src/index.ts';
import type { FrozenSecret } from '../../../../src/object-managers.ts';
import type { ObjectServer } from '../../../support/object-server.ts';
import type { Rule, Violation } from './rules.ts';

/** What is known of one referenced object. A new one is made when it is referenced anew. */
interface Reference {
  pods: number;
  /** The newest version that was given out. */
  given: number;
  /** Set once an immutable version was given out: with strategy watch it stays. */
  immutable: number | undefined;
}

/** A read under way. */
export interface Reading {
  readonly key: string;
  readonly reference: Reference | undefined;
  readonly beganAt: number;
}

export interface CheckerOptions {
  readonly server: ObjectServer;
  readonly strategy: 'watch' | 'cache';
  readonly now: () => number;
}

/** The longest that a read may take: a request that hangs, on top of the way of another. */
const longestReadMs = 30_000;

/** Compares what the manager does with what pods refer to, and with what the server has had. */
export class Checker {
  readonly #options: CheckerOptions;
  readonly #references = new Map<string, Reference>();
  readonly #readings = new Set<Reading>();
  #violation: Violation | undefined;
  #checked = 0;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** The first rule that was found broken. */
  get violation(): Violation | undefined {
    return this.#violation;
  }

  /** How many reads gave a value. */
  get checked(): number {
    return this.#checked;
  }

  get referenced(): string[] {
    return [...this.#references.keys()];
  }

  break(rule: Rule, detail: string): void {
    this.#violation ??= { rule, detail, atMs: this.#options.now() };
  }

  refer(key: string): void {
    const held = this.#references.get(key);
    if (held !== undefined) held.pods += 1;
    else this.#references.set(key, { pods: 1, given: 0, immutable: undefined });
  }

  letGo(key: string): void {
    const held = this.#references.get(key);
    if (held === undefined) return;
    held.pods -= 1;
    if (held.pods === 0) this.#references.delete(key);
  }

  begin(key: string): Reading {
    const reading = { key, reference: this.#references.get(key), beganAt: this.#options.now() };
    this.#readings.add(reading);
    return reading;
  }

  gave(reading: Reading, secret: FrozenSecret): void {
    this.#ended(reading);
    const { key, reference } = reading;
    const [namespace = '', name = ''] = key.split('/');
    const version = Number(secret.metadata?.resourceVersion);
    const value = Buffer.from(secret.data?.v ?? '', 'base64').toString();
    const real = this.#options.server.versionAt(namespace, name, version);
    if (real?.version !== version || real.value !== value)
      this.break('real value', `${key}: version ${version} never said ${value}`);
    if (reference === undefined || this.#references.get(key) !== reference) {
      this.break('registered', `${key} was given out, and nobody refers to it since the read began`);
      return;
    }
    if (version < reference.given) this.break('never older', `${key}: version ${version} after ${reference.given}`);
    reference.given = Math.max(reference.given, version);
    if (secret.immutable === true) reference.immutable ??= version;
    this.#checked += 1;
  }

  failed(reading: Reading, error: unknown): void {
    this.#ended(reading);
    const { key, reference } = reading;
    const isReferenced = reference !== undefined && this.#references.get(key) === reference;
    if (isReferenced && isStatusManagerError(error, 'ERR_NOT_REGISTERED')) this.break('registered', `${key} is not registered`);
    if (reference === undefined && !isStatusManagerError(error, 'ERR_NOT_REGISTERED'))
      this.break('registered', `nobody refers to ${key}, and the read failed with ${error}`);
  }

  /** Called again and again. */
  look(referencedGauge: number): void {
    const { server, strategy, now } = this.#options;
    const open = server.openWatches;
    for (const key of open)
      if (!this.#references.has(key)) this.break('no stray watch', `${key} is watched, and nobody refers to it`);
    if (new Set(open).size < open.length) this.break('no stray watch', `one object is watched twice: ${open.join(', ')}`);
    for (const { key, beganAt } of this.#readings)
      if (now() - beganAt > longestReadMs) this.break('in time', `a read of ${key} takes longer than ${longestReadMs} ms`);
    if (strategy === 'watch' && referencedGauge !== this.#references.size)
      this.break('bounded', `${referencedGauge} objects are kept, ${this.#references.size} are referenced`);
  }

  /** What a read in the end must give; undefined: there is no such object. */
  newest(key: string): number | undefined {
    const { server, strategy } = this.#options;
    const [namespace = '', name = ''] = key.split('/');
    const immutable = this.#references.get(key)?.immutable;
    if (strategy === 'watch' && immutable !== undefined) return immutable;
    const newest = server.versionAt(namespace, name);
    return newest?.value === undefined ? undefined : newest.version;
  }

  #ended(reading: Reading): void {
    this.#readings.delete(reading);
  }
}
