import { isStatusManagerError } from '../../../../src/base/errors.ts';
import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import type { ManagedObjects } from './managed-objects.ts';
import { type ObjectTruth, showsValue } from './object-truth.ts';
import type { Period, References } from './references.ts';
import type { RunInProgress } from './run-in-progress.ts';

export interface ReadingParts {
  readonly namespace: string;
  readonly run: RunInProgress;
  readonly truth: ObjectTruth;
  readonly references: References;
  /** How long a value may be on its way to its reader after the last reference went. */
  readonly slackMs: number;
}

/** The number of the version that was read, or why there was none. */
export type Reading = { readonly n: number } | { readonly error: string };

const foreseen = new Set(['ERR_NOT_REGISTERED', 'ERR_NOT_FOUND', 'ERR_SYNC_TIMEOUT', 'ERR_STOPPED', 'ERR_API']);

/** Reads, and checks what comes back: whatever is given out is the server's, named by a pod, and never older than before. */
export class Readings {
  readonly #parts: ReadingParts;
  readonly #underWay = new Map<number, string>();
  #last = 0;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
  }

  /** Reads that have not settled. */
  get underWay(): readonly string[] {
    return [...this.#underWay.values()];
  }

  async read(manager: ManagedObjects, name: string): Promise<Reading> {
    const { namespace, references, run } = this.#parts;
    const { kind, strategy } = manager;
    const id = ++this.#last;
    const where = `${kind}/${name} by ${strategy}`;
    this.#underWay.set(id, where);
    const before = references.period(kind, name);
    const wasNamed = before !== undefined && before.endedAtMs === undefined;
    try {
      const object = await manager.read(namespace, name);
      return { n: this.#given(manager, name, object) };
    } catch (error) {
      const code = isStatusManagerError(error) ? error.code : 'another error';
      run.count(foreseen.has(code) ? `read: ${code}` : 'read: another error');
      if (error instanceof Error && showsValue(`${error.message} ${JSON.stringify(error)}`))
        run.found('no value is in a log or an error', where);
      else if (!foreseen.has(code))
        run.found('nothing unforeseen happens', `${where}: ${error instanceof Error ? error.stack : error}`);
      if (code === 'ERR_NOT_REGISTERED' && wasNamed && before.endedAtMs === undefined && references.period(kind, name) === before)
        run.found('what a pod names can be read', `${where} is not registered`);
      return { error: code };
    } finally {
      this.#underWay.delete(id);
    }
  }

  #given({ kind, strategy }: ManagedObjects, name: string, object: ApiObject): number {
    const { truth, references, run } = this.#parts;
    const where = `${kind}/${name} by ${strategy}`;
    run.count('read: a value');
    const version = truth.versionOf(kind, name, object);
    if (version === undefined) {
      run.found('what is given out is what the server had', where);
      return Number.NaN;
    }
    const period = references.period(kind, name);
    if (period === undefined || this.#hasEnded(period)) {
      run.found('nothing is given out that no pod names', `${where}, ${this.#ago(period?.endedAtMs)}`);
      return version.n;
    }
    const resourceVersion = Number(object.metadata?.resourceVersion);
    const newest = period.newest.get(strategy) ?? 0;
    if (resourceVersion < newest)
      run.found('nothing older is given out after something newer', `${where}: ${resourceVersion} after ${newest}`);
    period.newest.set(strategy, Math.max(resourceVersion, newest));
    if (strategy === 'watch' && version.immutable && period.endedAtMs === undefined) period.kept.set(strategy, version.n);
    return version.n;
  }

  #hasEnded({ endedAtMs }: Period): boolean {
    return endedAtMs !== undefined && this.#parts.run.clock.now() - endedAtMs > this.#parts.slackMs;
  }

  #ago(atMs: number | undefined): string {
    return atMs === undefined ? 'which no pod has named' : `let go ${this.#parts.run.clock.now() - atMs} ms ago`;
  }
}
