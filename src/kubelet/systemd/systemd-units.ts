// Behaviour of systemd/common.go and dbus.go of github.com/opencontainers/cgroups v0.0.6, which the kubelet v1.36.3 uses, and
// org.freedesktop.systemd1(5).

import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin, onAbort, settlesWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { type BusConnection, type OpenSystemBus, SystemBusError } from './system-bus.ts';

/** A property of a unit: its name, and a variant as a pair of signature and value. */
export type UnitProperty = readonly [name: string, value: readonly [signature: string, value: unknown]];

/** What systemd says of a unit. */
export interface UnitState {
  readonly name: string;
  /** Such as `active`, `inactive` or `failed`. */
  readonly activeState: string;
}

export interface SystemdUnitsOptions {
  readonly openBus: OpenSystemBus;
  readonly clock: SteadyClock;
}

const systemd = { destination: 'org.freedesktop.systemd1', path: '/org/freedesktop/systemd1' } as const;
const managerInterface = 'org.freedesktop.systemd1.Manager';
const errorPrefix = 'org.freedesktop.systemd1.';
/** The whole of what is done with a unit, its job included: as long as libcontainer waits for a job. */
const longestMs = 30_000;
/** So long a systemd, or a bus, that was there is tried again: one that is executed anew is back sooner, also on a busy machine. */
const patienceMs = 15_000;
/** And one that has not been there yet, as when the agent starts. */
const firstPatienceMs = 5000;
/** More than the opening of a connection may take. */
const openLimitMs = 10_000;
const waits = { firstMs: 50, longestMs: 500 };
/** How soon a job is asked about whose end was not told: signals are lost where systemd is executed anew. */
const jobLookMs = 1000;
/** Errors of the bus that say no more than that systemd is away. */
const absences = ['NoReply', 'ServiceUnknown', 'NameHasNoOwner', 'Disconnected', 'TimedOut', 'Timeout', 'NoServer'].map(
  (name) => `org.freedesktop.DBus.Error.${name}`,
);
const spawnFailures = 'org.freedesktop.DBus.Error.Spawn.';

/**
 * Starts, changes and stops units of systemd. One connection serves all calls; it is opened when it is needed, and anew when it is
 * gone, as after a restart of the bus. A call that systemd was away for is made again for 15 seconds, and nothing takes longer than 30.
 * All calls may be made twice without harm. They reject with a {@link SystemBusError} that names the unit and has systemd's words.
 */
export class SystemdUnits {
  readonly #options: SystemdUnitsOptions;
  #session: Promise<ManagerSession> | undefined;

  constructor(options: SystemdUnitsOptions) {
    this.#options = options;
  }

  /** The version of systemd, such as 252; undefined where it does not say a number. */
  async version(): Promise<number | undefined> {
    const text = await this.#with('tell its version', (session, signal) => session.version(signal), firstPatienceMs);
    const digits = /^v?(\d+)/.exec(String(text))?.[1];
    return digits === undefined ? undefined : Number(digits);
  }

  /**
   * Starts a unit that lives in memory only. One that is there already, as after a restart of the agent, gets `changed` instead, and
   * is started if it is not running.
   */
  async start(unit: string, properties: readonly UnitProperty[], changed: readonly UnitProperty[]): Promise<void> {
    await this.#with(`start ${unit}`, async (session, signal) => {
      try {
        await session.job(unit, 'StartTransientUnit', 'ssa(sv)a(sa(sv))', [unit, 'replace', properties, []], signal);
      } catch (error) {
        if (!isRefusal(error, 'UnitExists')) throw error;
        await session.job(unit, 'StartUnit', 'ss', [unit, 'replace'], signal);
        await session.manager('SetUnitProperties', 'sba(sv)', [unit, true, changed], signal);
      }
    });
  }

  /** Changes properties until the machine is booted anew: a reload of systemd keeps them. */
  async change(unit: string, properties: readonly UnitProperty[]): Promise<void> {
    await this.#with(`change ${unit}`, (session, signal) =>
      session.manager('SetUnitProperties', 'sba(sv)', [unit, true, properties], signal),
    );
  }

  /** Stops a unit, and has systemd forget it, also where it failed. One that is not there is no error. */
  async stop(unit: string): Promise<void> {
    await this.#with(`stop ${unit}`, async (session, signal) => {
      try {
        await session.job(unit, 'StopUnit', 'ss', [unit, 'replace'], signal);
      } catch (error) {
        if (!isRefusal(error, 'NoSuchUnit')) throw error;
      }
    });
    await this.forget(unit);
  }

  /** Has systemd forget that a unit failed. One that did not, or is not there, is no error. */
  async forget(unit: string): Promise<void> {
    await this.#with(`reset ${unit}`, async (session, signal) => {
      try {
        await session.manager('ResetFailedUnit', 's', [unit], signal);
      } catch (error) {
        if (!isRefusal(error, 'NoSuchUnit')) throw error;
      }
    });
  }

  /** The units that systemd knows by names such as `kubepods-*.slice`. */
  async list(pattern: string): Promise<readonly UnitState[]> {
    const units = await this.#with(`list ${pattern}`, (session, signal) =>
      session.manager('ListUnitsByPatterns', 'asas', [[], [pattern]], signal),
    );
    const rows: readonly unknown[] = Array.isArray(units) ? units : [];
    return rows.flatMap((row) => {
      const [name, , , activeState]: readonly unknown[] = Array.isArray(row) ? row : [];
      return typeof name === 'string' && typeof activeState === 'string' ? [{ name, activeState }] : [];
    });
  }

  /** Ends the connection; the next call opens one anew. */
  close(): void {
    this.#session?.then((session) => session.close()).catch(ignoreFailure);
    this.#session = undefined;
  }

  async #with<T>(
    what: string,
    work: (session: ManagerSession, signal: AbortSignal) => Promise<T>,
    patience = patienceMs,
  ): Promise<T> {
    const { clock } = this.#options;
    const begunAt = clock.elapsed();
    const late = () => new SystemBusError(`no answer in ${longestMs / 1000} s`);
    let awaySince: number | undefined;
    for (let tries = 1; ; tries += 1) {
      const limits = { clock, timeoutMs: Math.max(0, begunAt + longestMs - clock.elapsed()), late };
      try {
        return await callWithin(async (signal) => work(await this.#open(signal), signal), limits);
      } catch (error) {
        awaySince ??= clock.elapsed();
        if (!isAbsence(error) || clock.elapsed() - awaySince >= patience) throw named(what, error);
        await sleep(clock, nthDelayMs(tries, waits), new AbortController().signal);
      }
    }
  }

  /** All who call meanwhile wait for the same connection, which has a limit of its own, so that no caller's end takes it away. */
  #open(signal: AbortSignal): Promise<ManagerSession> {
    signal.throwIfAborted();
    if (this.#session !== undefined) return this.#session;
    const session = ManagerSession.open(this.#options);
    this.#session = session;
    const forget = (): void => {
      if (this.#session === session) this.#session = undefined;
    };
    session.then(({ gone }) => onAbort(gone, forget), forget);
    return session;
  }
}

/** How the jobs of one unit ended, by the path of the job. */
interface WatchedUnit {
  readonly ended: Map<string, string>;
  tell: () => void;
}

/** One connection, on which systemd tells of the jobs that end. */
class ManagerSession {
  readonly #connection: BusConnection;
  readonly #clock: SteadyClock;
  readonly #watched = new Map<string, Set<WatchedUnit>>();

  private constructor(connection: BusConnection, clock: SteadyClock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  static async open({ openBus, clock }: SystemdUnitsOptions): Promise<ManagerSession> {
    const late = () => new SystemBusError(`no answer in ${openLimitMs / 1000} s`, { isLost: true });
    return callWithin(
      async (signal) => {
        const session = new ManagerSession(await openBus({ clock, signal }), clock);
        try {
          await session.#subscribe(signal);
          return session;
        } catch (error) {
          session.close();
          throw error;
        }
      },
      { clock, timeoutMs: openLimitMs, late },
    );
  }

  get gone(): AbortSignal {
    return this.#connection.gone;
  }

  close(): void {
    this.#connection.close();
  }

  manager(member: string, signature: string, body: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    return this.#connection.call({ ...systemd, interface: managerInterface, member, signature, body }, signal);
  }

  version(signal: AbortSignal): Promise<unknown> {
    const get = { interface: 'org.freedesktop.DBus.Properties', member: 'Get', signature: 'ss' };
    return this.#connection.call({ ...systemd, ...get, body: [managerInterface, 'Version'] }, signal);
  }

  /** Makes a call that begins a job of the unit, and waits for the job's end. Rejects where the job did not do its work. */
  async job(unit: string, member: string, signature: string, body: readonly unknown[], signal: AbortSignal): Promise<void> {
    const watched: WatchedUnit = { ended: new Map(), tell: () => {} };
    const ofUnit = this.#watched.get(unit) ?? new Set();
    this.#watched.set(unit, ofUnit.add(watched));
    try {
      const job = String(await this.manager(member, signature, body, signal));
      const result = await this.#endOf(job, watched, signal);
      if (result === 'done') return;
      await this.manager('ResetFailedUnit', 's', [unit], signal).catch(ignoreFailure);
      throw new SystemBusError(`the job ended with "${result}"`);
    } finally {
      ofUnit.delete(watched);
      if (ofUnit.size === 0 && this.#watched.get(unit) === ofUnit) this.#watched.delete(unit);
    }
  }

  async #subscribe(signal: AbortSignal): Promise<void> {
    const removed = { sender: systemd.destination, path: systemd.path, interface: managerInterface, member: 'JobRemoved' };
    await this.#connection.listen(removed, (body) => this.#onJobRemoved(body), signal);
    const subscribe = { ...systemd, interface: managerInterface, member: 'Subscribe' };
    await this.#connection.call(subscribe, signal);
  }

  #onJobRemoved([, job, unit, result]: readonly unknown[]): void {
    if (typeof job !== 'string' || typeof unit !== 'string' || typeof result !== 'string') return;
    for (const watched of this.#watched.get(unit) ?? []) {
      watched.ended.set(job, result);
      watched.tell();
    }
  }

  async #endOf(job: string, watched: WatchedUnit, signal: AbortSignal): Promise<string> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      watched.tell = resolve;
      const result = watched.ended.get(job);
      if (result !== undefined) return result;
      this.gone.throwIfAborted();
      const leave = onAbort(this.gone, resolve);
      const isTold = await settlesWithin(promise, { clock: this.#clock, timeoutMs: jobLookMs, signal });
      leave();
      signal.throwIfAborted();
      // a job that is no more has done what it could; whether the unit is there shows in its group
      if (!isTold && !(await this.#isThere(job, signal))) return watched.ended.get(job) ?? 'done';
    }
  }

  async #isThere(job: string, signal: AbortSignal): Promise<boolean> {
    const id = Number(job.slice(job.lastIndexOf('/') + 1));
    try {
      await this.manager('GetJob', 'u', [id], signal);
      return true;
    } catch (error) {
      if (isRefusal(error, 'NoSuchJob')) return false;
      throw error;
    }
  }
}

/** True for systemd's own refusal of that name, such as `NoSuchUnit`. */
function isRefusal(error: unknown, name: string): boolean {
  return error instanceof SystemBusError && error.refusal === `${errorPrefix}${name}`;
}

/** True where nobody has answered: the connection is gone, or systemd is not on the bus now. */
function isAbsence(error: unknown): boolean {
  if (!(error instanceof SystemBusError)) return false;
  const { refusal = '', isLost } = error;
  return isLost || absences.includes(refusal) || refusal.startsWith(spawnFailures);
}

function named(what: string, error: unknown): SystemBusError {
  if (!(error instanceof SystemBusError)) throw error;
  const { refusal, isLost, message } = error;
  return new SystemBusError(`systemd did not ${what}: ${message}`, { cause: error, refusal, isLost });
}
