// Behaviour of pkg/kubelet/pluginmanager, v1.36.3.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { helped } from '../../node/problem-help.ts';
import type { PluginHandler, PluginInfo, PluginRegistration } from './plugin-registration.ts';
import { findSockets, isSocketPath, type PluginSocket } from './plugin-sockets.ts';

export interface NodePluginRegistryOptions {
  /** The folder that plugins put their registration sockets into. */
  readonly folder: string;
  /** Opens a registration socket. */
  readonly connect: (socketPath: string) => PluginRegistration;
  /** By the type of plugins. */
  readonly handlers: Readonly<Record<string, PluginHandler>>;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** A plugin that could not be registered. */
export interface PluginTrouble extends Failing {
  readonly socketPath: string;
  /** When it is tried again, in milliseconds since the epoch. */
  readonly retryAt: number;
}

const lookPeriodMs = 1000;
const infoTimeoutMs = 10_000;
const notifyTimeoutMs = 5000;
/** A handler asks the plugin and the apiserver, each within limits of its own. */
const handlerTimeoutMs = 180_000;
const retryDelay = { firstMs: 500, longestMs: 122_000 };
/** So many plugins are kept. */
const mostPlugins = 100;
/** So many are registered at once. */
const atOnce = 8;
const longestName = 253;
const mostVersions = 32;
const longestVersion = 128;

interface KnownSocket {
  identity: string;
  plugin: PluginInfo | undefined;
  isBusy: boolean;
  /** By the clock's elapsed time. */
  notBeforeMs: number;
  readonly failures: FailureRun;
}

/**
 * Registers the plugins whose sockets are in one folder, and deregisters those whose sockets are gone or were made anew. One that cannot be
 * registered is told why, and asked again later. Plugins are independent of each other: one that hangs holds up no other.
 */
export class NodePluginRegistry {
  readonly #options: NodePluginRegistryOptions;
  readonly #stopping = new AbortController();
  readonly #sockets = new Map<string, KnownSocket>();
  /** The socket of each plugin that is registered, or about to be, by type and name, and by the endpoint where a name may have several. */
  readonly #claims = new Map<string, string>();
  readonly #room = new Semaphore(atOnce);
  readonly #tasks = new Set<Promise<void>>();
  readonly #looks: FailureRun;
  #run: Promise<void> = Promise.resolve();

  constructor(options: NodePluginRegistryOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#looks = new FailureRun(clock, (ended) => logger.info(ended, 'the sockets of plugins can be looked at again'));
  }

  /** Plugins that are registered. */
  get registered(): readonly PluginInfo[] {
    return [...this.#sockets.values()].flatMap(({ plugin }) => plugin ?? []);
  }

  /** Why the folder cannot be looked at; undefined while it can. */
  get failing(): Failing | undefined {
    return this.#looks.failing;
  }

  /** The plugins that could not be registered. */
  troubles(): readonly PluginTrouble[] {
    const { clock } = this.#options;
    return [...this.#sockets].flatMap(([socketPath, { failures, notBeforeMs }]) => {
      const { failing } = failures;
      return failing === undefined
        ? []
        : [{ socketPath, ...failing, retryAt: clock.now() + Math.max(0, notBeforeMs - clock.elapsed()) }];
    });
  }

  start(): void {
    this.#run = this.#lookOnAndOn();
  }

  /** Leaves the plugins registered: the next start finds them again. Resolves when no call is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#run, ...this.#tasks]);
  }

  async #lookOnAndOn(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#look();
      await sleep(clock, lookPeriodMs, signal);
    }
  }

  async #look(): Promise<void> {
    const { folder, logger, clock } = this.#options;
    try {
      await makeFolders(folder, 0o755);
      this.#compare(await findSockets(folder));
      this.#looks.succeeded();
    } catch (err) {
      // what is registered stays so: nobody knows whether it is gone
      const isFirst = this.#looks.failing === undefined;
      const problem = problemFields({ ...this.#looks.failed(err), ...helped('plugins-folder') }, clock.now());
      if (isFirst) logger.error({ err, ...problem }, 'the sockets of plugins cannot be looked at; plugins stay as they are');
    }
  }

  /** Begins what is due. A socket with something under way is left to the next look. */
  #compare(found: readonly PluginSocket[]): void {
    const { clock, logger } = this.#options;
    const there = new Map(found.map(({ path, identity }) => [path, identity]));
    for (const [path, socket] of this.#sockets) {
      const identity = there.get(path);
      if (socket.isBusy || identity === socket.identity) continue;
      if (socket.plugin !== undefined) this.#begin(path, socket, (known) => this.#deregister(path, known));
      else this.#sockets.delete(path);
    }
    for (const [path, identity] of there) {
      let socket = this.#sockets.get(path);
      if (socket === undefined) {
        if (this.#sockets.size >= mostPlugins) continue;
        const failures = new FailureRun(clock, (ended) =>
          logger.info({ ...ended, path }, 'a plugin that could not be registered is registered'),
        );
        socket = { identity, plugin: undefined, isBusy: false, notBeforeMs: 0, failures };
        this.#sockets.set(path, socket);
      }
      const isDue = socket.plugin === undefined && socket.notBeforeMs <= clock.elapsed();
      if (isDue && !socket.isBusy) this.#begin(path, socket, (known) => this.#register(path, known));
    }
  }

  #begin(path: string, socket: KnownSocket, work: (socket: KnownSocket) => Promise<void>): void {
    const { signal } = this.#stopping;
    socket.isBusy = true;
    const task = this.#room
      .run(() => work(socket), signal)
      .catch((err: unknown) => {
        if (!signal.aborted) this.#failed(path, socket, err);
      })
      .finally(() => {
        socket.isBusy = false;
        this.#tasks.delete(task);
      });
    this.#tasks.add(task);
  }

  #failed(path: string, socket: KnownSocket, err: unknown): void {
    const { clock, logger } = this.#options;
    const failing = socket.failures.failed(err);
    const delayMs = nthDelayMs(failing.attempt, retryDelay);
    socket.notBeforeMs = clock.elapsed() + delayMs;
    const retryAt = clock.now() + delayMs;
    logger.warn(
      { err, path, ...problemFields({ ...failing, retryAt, ...helped('plugin') }, clock.now()) },
      'a plugin could not be registered; it is tried again',
    );
  }

  async #register(path: string, socket: KnownSocket): Promise<void> {
    const { connect, logger } = this.#options;
    const { signal } = this.#stopping;
    const registration = connect(path);
    try {
      const plugin = checkedInfo(await this.#within(infoTimeoutMs, (call) => registration.getInfo(call)), path);
      try {
        await this.#use(path, socket, plugin);
      } catch (error) {
        signal.throwIfAborted();
        await this.#notify(registration, errorText(error)).catch(ignoreFailure);
        throw error;
      }
      try {
        await this.#notify(registration, '');
      } catch (error) {
        await this.#release(socket).catch(ignoreFailure);
        throw new Error(`the plugin ${plugin.name} did not take its registration: ${errorText(error)}`, { cause: error });
      }
      socket.failures.succeeded();
      logger.info({ path, plugin: plugin.name, type: plugin.type }, 'a plugin is registered');
    } finally {
      callGuarded(() => registration.close(), ignoreFailure);
    }
  }

  async #use(path: string, socket: KnownSocket, plugin: PluginInfo): Promise<void> {
    const handler = this.#handlerOf(plugin);
    if (handler === undefined) throw new Error(`no handler registered for plugin type: ${plugin.type} at socket ${path}`);
    handler.validate(plugin);
    const claim = this.#claimOf(plugin);
    const owner = this.#claims.get(claim);
    if (owner !== undefined) {
      throw new Error(
        handler.takesInstances === true
          ? `endpoint ${plugin.endpoint} is already registered for the plugin ${plugin.name}`
          : `another plugin with the name ${plugin.name} is registered at socket ${owner}`,
      );
    }
    this.#claims.set(claim, path);
    try {
      await this.#within(handlerTimeoutMs, ({ signal }) => handler.register(plugin, signal));
      socket.plugin = plugin;
    } catch (error) {
      this.#claims.delete(claim);
      throw error;
    }
  }

  async #deregister(path: string, socket: KnownSocket): Promise<void> {
    const { logger } = this.#options;
    const { name, type } = socket.plugin ?? { name: '', type: '' };
    try {
      await this.#release(socket);
      logger.info({ path, plugin: name, type }, 'a plugin is gone');
    } catch (err) {
      if (!this.#stopping.signal.aborted)
        logger.warn({ err, path, plugin: name, type }, 'a plugin that is gone could not be deregistered');
    } finally {
      // the socket that is there now, if any, is another one
      this.#sockets.delete(path);
    }
  }

  async #release(socket: KnownSocket): Promise<void> {
    const { plugin } = socket;
    if (plugin === undefined) return;
    socket.plugin = undefined;
    try {
      await this.#within(handlerTimeoutMs, async ({ signal }) => this.#handlerOf(plugin)?.deregister(plugin, signal));
    } finally {
      this.#claims.delete(this.#claimOf(plugin));
    }
  }

  /** What no two plugins may have. */
  #claimOf(plugin: PluginInfo): string {
    const { type, name, endpoint } = plugin;
    return this.#handlerOf(plugin)?.takesInstances === true ? `${type}/${name} ${endpoint}` : `${type}/${name}`;
  }

  #handlerOf({ type }: PluginInfo): PluginHandler | undefined {
    const { handlers } = this.#options;
    return Object.hasOwn(handlers, type) ? handlers[type] : undefined;
  }

  async #notify(registration: PluginRegistration, error: string): Promise<void> {
    const status = { registered: error === '', error };
    await this.#within(notifyTimeoutMs, (call) => registration.notify(status, call));
  }

  #within<T>(
    timeoutMs: number,
    call: (limits: { readonly signal: AbortSignal; readonly timeoutMs: number }) => Promise<T>,
  ): Promise<T> {
    const late = () => new Error(`no answer within ${timeoutMs / 1000} s`);
    const limits = { clock: this.#options.clock, timeoutMs, signal: this.#stopping.signal, late };
    return callWithin((signal) => call({ signal, timeoutMs }), limits);
  }
}

/** Whatever a plugin says becomes short text. */
function checkedInfo({ type, name, endpoint, supportedVersions }: PluginInfo, socketPath: string): PluginInfo {
  const shown = (text: string): string => JSON.stringify(textBeginning(text, 100));
  if (name === '' || name.length > longestName) throw new Error(`the plugin has no name that is one: ${shown(name)}`);
  const path = endpoint === '' ? socketPath : endpoint;
  if (!isSocketPath(path)) throw new Error(`the plugin names no path of a socket as its endpoint: ${shown(path)}`);
  if (supportedVersions.length > mostVersions || supportedVersions.some(({ length }) => length > longestVersion)) {
    throw new Error('the plugin names more versions, or longer ones, than any plugin has');
  }
  return { type: textBeginning(type, 100), name, endpoint: path, supportedVersions };
}
