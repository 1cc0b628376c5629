// Which sockets, and in which order: as dbus.NewWithContext of github.com/coreos/go-systemd v22, which the kubelet v1.36.3 uses.

import { connect, type Socket } from 'node:net';
import { ConnectionClosedError, createClient, DBusError, type MessageBus } from 'dbus-native';
import { callWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { type BusCall, type BusConnection, type BusSignal, SystemBusError, type SystemBusLimits } from './system-bus.ts';

/** Where the bus listens, and where systemd itself does. */
export interface SystemSockets {
  /** The socket of the system's message bus. Default `/run/dbus/system_bus_socket`. */
  readonly bus?: string;
  /** The socket of systemd itself, which needs no bus, and the rights of root. Default `/run/systemd/private`. */
  readonly systemd?: string;
}

const openLimitMs = 5000;
/** The longest message that is read, in bytes: a list of all units of a large node is far smaller. */
const longestMessageBytes = 16 * 1024 * 1024;
const busName = 'org.freedesktop.DBus';
const systemdName = 'org.freedesktop.systemd1';

/**
 * Opens a connection to the system's message bus, or else to systemd itself, within 5 seconds. Rejects with a
 * {@link SystemBusError} that says what each socket has against it. The connection keeps no process alive.
 *
 * @example
 * ```ts no-run
 * import { NodeAgent } from 'pod-status-manager/kubelet';
 * import { openSystemBus } from 'pod-status-manager/systemd';
 *
 * declare const options: ConstructorParameters<typeof NodeAgent>[0];
 * const agent = new NodeAgent({ ...options, openSystemBus });
 * ```
 */
export async function openSystemBus(limits: SystemBusLimits, sockets: SystemSockets = {}): Promise<BusConnection> {
  const { bus = '/run/dbus/system_bus_socket', systemd = '/run/systemd/private' } = sockets;
  const refused: string[] = [];
  let cause: unknown;
  for (const [path, isDirect] of [[bus, false] as const, [systemd, true] as const]) {
    try {
      return await openAt(path, isDirect, limits);
    } catch (error) {
      limits.signal.throwIfAborted();
      refused.push(`${path}: ${errorText(error)}`);
      cause ??= error;
    }
  }
  throw new SystemBusError(`no connection to systemd (${refused.join('; ')})`, { cause, isLost: true });
}

function openAt(path: string, isDirect: boolean, { clock, signal }: SystemBusLimits): Promise<BusConnection> {
  const late = () => new SystemBusError(`it took no connection in ${openLimitMs / 1000} s`);
  const open = async (ended: AbortSignal): Promise<BusConnection> => {
    const connection = new SocketConnection(connect({ path }), isDirect);
    try {
      await connection.ready(ended);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  };
  return callWithin(open, { clock, signal, timeoutMs: openLimitMs, late });
}

class SocketConnection implements BusConnection {
  readonly #socket: Socket;
  readonly #bus: MessageBus;
  /** True: systemd is at the other end, and no bus in between. */
  readonly #isDirect: boolean;
  readonly #gone = new AbortController();
  readonly #authenticated: Promise<void>;
  /** The connection that each name belongs to, as far as signals of it have come. */
  readonly #owners = new Map<string, string>();
  readonly #lookups = new Map<string, Promise<void>>();

  constructor(socket: Socket, isDirect: boolean) {
    this.#socket = socket;
    this.#isDirect = isDirect;
    // `direct`: it is said here when the bus is greeted, so that a refusal comes here too
    this.#bus = createClient({
      stream: socket,
      direct: true,
      authMethods: ['EXTERNAL'],
      timeout: 0,
      maxMessageSize: longestMessageBytes,
    });
    const { connection } = this.#bus;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(ignoreFailure);
    this.#authenticated = promise;
    connection.on('connect', resolve);
    const end = (error?: Error): void => {
      const reason = new SystemBusError(error === undefined ? 'the connection was ended' : errorText(error), {
        cause: error,
        isLost: true,
      });
      reject(reason);
      this.#gone.abort(reason);
      socket.destroy();
    };
    connection.on('error', end);
    connection.on('handlerError', end);
    connection.on('end', () => end());
    connection.on('close', end);
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  async ready(signal: AbortSignal): Promise<void> {
    await untilAborted(this.#authenticated, signal);
    if (!this.#isDirect) await this.#callBus('Hello', undefined, signal);
    // what waits for an answer has a timer of its own
    this.#socket.unref();
  }

  async call(call: BusCall, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    this.#gone.signal.throwIfAborted();
    const { destination, body, ...others } = call;
    if (this.#isDirect && destination !== systemdName) {
      throw new SystemBusError(`${destination} cannot be reached without the message bus`);
    }
    const message = { ...others, ...(body && { body: [...body] }), ...(!this.#isDirect && { destination }) };
    try {
      // the library takes any number of values for one; what is called here answers one or none
      return await untilAborted(this.#bus.invoke(message, { signal, timeout: 0 }), signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#gone.signal.throwIfAborted();
      throw refusalOf(error);
    }
  }

  async listen(
    { sender, path, interface: of, member }: BusSignal,
    listener: (body: readonly unknown[]) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.#bus.connection.on('message', (message) => {
      const isIt = message.type === signalType && message.path === path && message.interface === of && message.member === member;
      if (!isIt) return;
      const from = message.sender ?? '';
      const isSender = (): boolean => this.#isDirect || this.#owners.get(sender) === from;
      const hear = (): void => {
        if (isSender()) listener(message.body ?? []);
      };
      if (isSender()) hear();
      else void this.#lookUp(sender).then(hear, ignoreFailure);
    });
    if (this.#isDirect) return;
    const kind = `type='signal',sender='${sender}',path='${path}',interface='${of}',member='${member}'`;
    await this.#callBus('AddMatch', kind, signal);
  }

  /** A name has another owner after its process was started anew. */
  #lookUp(name: string): Promise<void> {
    const lookup = this.#lookups.get(name) ?? this.#findOwner(name).finally(() => this.#lookups.delete(name));
    this.#lookups.set(name, lookup);
    return lookup;
  }

  async #findOwner(name: string): Promise<void> {
    const owner = await this.#callBus('GetNameOwner', name, this.#gone.signal);
    if (typeof owner === 'string') this.#owners.set(name, owner);
  }

  close(): void {
    this.#gone.abort(new SystemBusError('the connection was closed', { isLost: true }));
    this.#socket.destroy();
  }

  #callBus(member: string, argument: string | undefined, signal: AbortSignal): Promise<unknown> {
    const values = argument === undefined ? {} : { signature: 's', body: [argument] };
    return this.call({ destination: busName, path: '/org/freedesktop/DBus', interface: busName, member, ...values }, signal);
  }
}

const signalType = 4;

/** What the library rejects with, in our words: an answer has a name, and what had no answer has none. */
function refusalOf(error: unknown): SystemBusError {
  const isLost = error instanceof ConnectionClosedError;
  const refusal = !isLost && error instanceof DBusError ? error.dbusName : undefined;
  return new SystemBusError(errorText(error), { cause: error, refusal, isLost });
}
