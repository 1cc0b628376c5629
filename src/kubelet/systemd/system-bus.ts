// D-Bus, as far as systemd needs it: the D-Bus specification 0.43, and org.freedesktop.systemd1(5) of systemd 252.

import type { Clock } from '../../base/clock.ts';
import { StatusManagerError } from '../../base/errors.ts';

/** A call of a method. Every type that D-Bus has two of in JavaScript is named by the signature: `t` takes a bigint. */
export interface BusCall {
  /** Who answers, such as `org.freedesktop.systemd1`. */
  readonly destination: string;
  /** The object that is called, such as `/org/freedesktop/systemd1`. */
  readonly path: string;
  /** The interface that the method belongs to. */
  readonly interface: string;
  /** The name of the method. */
  readonly member: string;
  /** The types of the body, such as `ss`. Default: no body. */
  readonly signature?: string;
  /** One value for each type. A variant is a pair of its signature and its value. */
  readonly body?: readonly unknown[];
}

/** Signals of one kind and one sender: every process of the machine may send any signal. */
export interface BusSignal {
  /** The name on the bus that the sender owns, such as `org.freedesktop.systemd1`. */
  readonly sender: string;
  /** The object that sends it. */
  readonly path: string;
  /** The interface that the signal belongs to. */
  readonly interface: string;
  /** The name of the signal. */
  readonly member: string;
}

/** One connection to the system's message bus, or to systemd itself. */
export interface BusConnection {
  /**
   * Resolves with the value that the answer holds; undefined for none. Variants in it are their values, and 64-bit numbers are bigints.
   * Rejects with a {@link SystemBusError}, and when the signal aborts.
   */
  call(call: BusCall, signal: AbortSignal): Promise<unknown>;
  /** From when it resolves on, `listener` gets the body of each such signal, in the order in which they are sent. */
  listen(to: BusSignal, listener: (body: readonly unknown[]) => void, signal: AbortSignal): Promise<void>;
  /** Aborts when the connection is gone; its reason says why. */
  readonly gone: AbortSignal;
  /** Ends the connection. Calls under way reject. */
  close(): void;
}

/** What a connection is opened with. */
export interface SystemBusLimits {
  /** Where the time comes from. */
  readonly clock: Clock;
  /** Ends the opening when it aborts. */
  readonly signal: AbortSignal;
}

/** Opens a connection to the system's message bus. Rejects with a {@link SystemBusError}. */
export type OpenSystemBus = (limits: SystemBusLimits) => Promise<BusConnection>;

/** What a {@link SystemBusError} says beside its message. */
export interface SystemBusErrorOptions extends ErrorOptions {
  /** The name of the error that was answered. Default: there was no answer. */
  readonly refusal?: string | undefined;
  /** True: there was no connection, or it went. Default false. */
  readonly isLost?: boolean;
}

/**
 * systemd, or the message bus, refused a call, or cannot be reached; code ERR_SYSTEMD. The message has its words.
 *
 * @example
 * ```ts
 * import { SystemBusError } from 'pod-status-manager/kubelet';
 *
 * const error = new SystemBusError('Unit a.slice not loaded.', { refusal: 'org.freedesktop.systemd1.NoSuchUnit' });
 * console.log(error.refusal); // org.freedesktop.systemd1.NoSuchUnit
 * ```
 */
export class SystemBusError extends StatusManagerError {
  /** The name of the error that was answered, such as `org.freedesktop.systemd1.NoSuchUnit`; undefined: there was no answer. */
  readonly refusal: string | undefined;
  /** True: there was no connection, or it went while the call was under way. The next call opens another one. */
  readonly isLost: boolean;

  constructor(message: string, { refusal, isLost = false, ...options }: SystemBusErrorOptions = {}) {
    super('ERR_SYSTEMD', message, options);
    this.name = 'SystemBusError';
    this.refusal = refusal;
    this.isLost = isLost;
  }
}
