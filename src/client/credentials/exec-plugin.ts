import {
  type CredentialSource,
  type Credentials,
  CredentialsFailure,
  kindOfError,
  type SourceOptions,
  type Waiter,
} from './credentials.ts';
import { type ExecConfig, execInfo } from './exec-config.ts';
import { readExecCredential } from './exec-credential.ts';
import { PluginFailure, type PluginProcess, runPlugin } from './plugin-process.ts';
import { SharedRun } from './shared-run.ts';

/** Credentials are replaced when a tenth of their time is left, at most this long before they expire: a request takes its time. */
const longestMarginMs = 10_000;
const maxHintLength = 500;

/**
 * Credentials from a plugin, kept until they expire or are refused. One process at a time serves all that wait; no
 * process outlives the wait, and none outlives `close`.
 */
export class ExecPlugin implements CredentialSource {
  readonly #config: ExecConfig;
  readonly #options: SourceOptions;
  readonly #name: string;
  #isClosed = false;
  readonly #processes = new Set<PluginProcess>();
  #current: Credentials | undefined;
  /** By the time of day, and by the time that has passed: the clock may have been wrong when the plugin was asked, or be wrong now. */
  #staleAt = { now: 0, elapsed: 0 };
  #run: SharedRun<Credentials> | undefined;

  constructor(config: ExecConfig, options: SourceOptions) {
    this.#config = config;
    this.#options = options;
    this.#name = `credential plugin ${JSON.stringify(config.command.slice(0, 200))}`;
  }

  async get(waiter: Waiter): Promise<Credentials> {
    if (this.#current !== undefined && !this.#isStale()) return this.#current;
    if (this.#run === undefined || this.#run.isOver) this.#run = this.#startRun();
    return this.#run.join(waiter);
  }

  refuse(credentials: Credentials): void {
    // those of an earlier run have been replaced already
    if (credentials === this.#current) this.#current = undefined;
  }

  async close(reason: CredentialsFailure): Promise<void> {
    this.#isClosed = true;
    this.#run?.end(reason);
    await Promise.all(Array.from(this.#processes, ({ ended }) => ended));
  }

  #isStale(): boolean {
    const { clock } = this.#options;
    return clock.now() >= this.#staleAt.now || clock.elapsed() >= this.#staleAt.elapsed;
  }

  #startRun(): SharedRun<Credentials> {
    const { clock, logger } = this.#options;
    return new SharedRun({
      clock,
      name: `the ${this.#name}`,
      start: (signal) => this.#ask(signal),
      onEnded: ({ message: why }) => {
        const fields = { command: this.#config.command, why };
        if (this.#isClosed) logger.debug(fields, 'a credential plugin was ended, because its client is closed');
        else logger.warn(fields, 'a credential plugin was ended');
      },
    });
  }

  async #ask(signal: AbortSignal): Promise<Credentials> {
    try {
      const output = await this.#outputOf(signal);
      const { credentials, expiresAt = Number.POSITIVE_INFINITY } = readExecCredential(output, this.#config.apiVersion);
      const { clock } = this.#options;
      const [now, elapsed] = [clock.now(), clock.elapsed()];
      const servesMs = Math.max(0, expiresAt - now);
      const freshMs = servesMs - Math.min(longestMarginMs, servesMs / 10);
      this.#staleAt = { now: now + freshMs, elapsed: elapsed + freshMs };
      this.#current = credentials;
      return credentials;
    } catch (error) {
      throw error instanceof CredentialsFailure ? error : this.#failureOf(error);
    }
  }

  async #outputOf(signal: AbortSignal): Promise<string> {
    const { command, args, env } = this.#config;
    const info = { KUBERNETES_EXEC_INFO: execInfo(this.#config) };
    const plugin = runPlugin({ command, args, env: { ...env, ...info } }, signal);
    this.#processes.add(plugin);
    void plugin.ended.then(() => this.#processes.delete(plugin));
    return plugin.output;
  }

  #failureOf(error: unknown): CredentialsFailure {
    const what = error instanceof PluginFailure ? error.message : `could not be asked (${kindOfError(error)})`;
    const { installHint } = this.#config;
    const isMissing = error instanceof PluginFailure && error.isMissing;
    const hint = isMissing && installHint ? `. ${installHint.slice(0, maxHintLength)}` : '';
    return new CredentialsFailure('NoCredentials', `The ${this.#name} ${what}${hint}`);
  }
}
