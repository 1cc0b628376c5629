import { ApiError, type WirePod } from '../../../src/index.ts';
import { PodStore } from '../../../src/testing.ts';
import type { Prng } from '../chaos/prng.ts';
import type { RunLog } from './run-log.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** A request of the manager that runs on the server right now. The store's own events do not name the writer. */
export interface ManagerWrite {
  readonly id: number;
  readonly verb: 'get' | 'patch' | 'delete';
  /** The uid the request names; empty when it names none. */
  readonly uid: string;
  /** False once its process has an answer, has given it up, or is dead. The request may still run. */
  readonly isAwaited: boolean;
}

/** A list of all pods, and where a watch goes on from it. */
export interface Snapshot {
  readonly pods: readonly WirePod[];
  readonly resourceVersion: string;
}

const snapshotEveryMs = 2000;
const snapshotsKept = 5;

export type ServerMode = 'well' | 'throttling' | 'failing' | 'down';

export const epochMs = Date.UTC(2030, 0, 1);

/** An apiserver: a store, its state of health, and the write under way. Its own clock never jumps. */
export class SimulatedServer {
  readonly store: PodStore;
  mode: ServerMode = 'well';
  /** The chance that a request fails though the server is well. */
  flakiness = 0;
  /** The uids of pods whose every patch it refuses: some rule of its own forbids what the agent says. */
  readonly refuses = new Set<string>();
  readonly #prng: Prng;
  readonly #log: RunLog;
  readonly #snapshots: Snapshot[] = [];
  #writer: ManagerWrite | undefined;

  constructor(clock: SimulatedClock, prng: Prng, log: RunLog) {
    this.#prng = prng;
    this.#log = log;
    this.#takeSnapshots(clock);
    const wall = { now: () => epochMs + clock.elapsedMs, setTimer: () => () => {} };
    this.store = new PodStore({ validate: true, clock: wall, historySize: 10 });
  }

  /** The manager's write under way; undefined while another writer writes. */
  get writer(): ManagerWrite | undefined {
    return this.#writer;
  }

  /** All pods as they were some seconds ago: what a server whose cache lags behind answers. */
  staleList(prng: Prng): Snapshot {
    return prng.pick(this.#snapshots) ?? this.list();
  }

  list(): Snapshot {
    return { pods: this.store.list(), resourceVersion: this.store.resourceVersion };
  }

  find(namespace: string, name: string): WirePod | undefined {
    try {
      return this.store.get(namespace, name);
    } catch {
      return undefined;
    }
  }

  /** Answers one request of a manager, or fails it before or after it took effect. */
  answer<T>(write: ManagerWrite, execute: () => T): T {
    const failure = this.#failure();
    if (failure !== undefined && !failure.afterEffect) throw this.#counted(failure.error);
    if (write.verb === 'patch' && this.refuses.has(write.uid)) throw this.#counted(refusal());
    this.#writer = write;
    try {
      const answer = execute();
      if (failure !== undefined) throw this.#counted(failure.error);
      return answer;
    } finally {
      this.#writer = undefined;
    }
  }

  #takeSnapshots(clock: SimulatedClock): void {
    clock.schedule(() => {
      this.#snapshots.push(this.list());
      if (this.#snapshots.length > snapshotsKept) this.#snapshots.shift();
      this.#takeSnapshots(clock);
    }, snapshotEveryMs);
  }

  #failure(): { error: ApiError; afterEffect: boolean } | undefined {
    const { mode } = this;
    const prng = this.#prng;
    if (mode === 'down') return { error: networkError('connection refused'), afterEffect: false };
    if (mode === 'throttling' && prng.chance(0.7)) return { error: this.#throttled(), afterEffect: false };
    if ((mode === 'failing' && prng.chance(0.6)) || prng.chance(this.flakiness)) {
      const status = prng.pick([500, 502, 503, 504, 429, 401, 403, 408, 409]) ?? 500;
      if (status === 429) return { error: this.#throttled(), afterEffect: false };
      const retryAfterMs = status === 503 && prng.chance(0.5) ? 1000 * prng.int(1, 5) : undefined;
      const error = new ApiError({ status, reason: `Simulated${status}`, message: `a simulated ${status}`, retryAfterMs });
      return { error, afterEffect: status >= 500 && prng.chance(0.4) };
    }
    return undefined;
  }

  #throttled(): ApiError {
    const retryAfterMs = this.#prng.chance(0.7) ? 1000 * this.#prng.int(1, 5) : undefined;
    return new ApiError({ status: 429, reason: 'TooManyRequests', message: 'a simulated 429', retryAfterMs });
  }

  #counted(error: ApiError): ApiError {
    this.#log.fault(error.status === undefined ? 'server down' : `answer ${error.status}`);
    return error;
  }
}

function refusal(): ApiError {
  return new ApiError({ status: 422, reason: 'Invalid', message: 'a simulated 422' });
}

export function networkError(message: string): ApiError {
  return new ApiError({ reason: 'Network', message });
}
