import { type ChildProcess, spawn } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Cluster } from '@kubernetes/client-node';
import { HeldBytes } from '../../api/json/bytes.ts';
import { isJsonObject } from '../../api/json/json.ts';
import { canonicalTime } from '../../api/json/time.ts';
import type { JsonObject } from '../../api/json/types.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { invalidOption, StatusManagerError } from '../../base/errors.ts';
import { oneOfOption } from '../../base/options.ts';
import { readCredentialFile } from '../kubeconfig/bounded-file.ts';
import {
  type CredentialSource,
  type Credentials,
  CredentialsFailure,
  kindOfError,
  type SourceOptions,
  type Waiter,
} from './credentials.ts';
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
      onEnded: ({ message: reason }) => {
        const fields = { plugin: this.#config.command, reason };
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

const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

/** The `exec` part of a kubeconfig's user, checked. */
export interface ExecConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: (typeof apiVersions)[number];
  readonly installHint: string | undefined;
  /** The cluster to tell the plugin of; undefined unless `provideClusterInfo` is set. */
  readonly cluster: Cluster | undefined;
}

type Members = { readonly [key: string]: unknown };

/** Reads an `exec` part. Throws `ERR_INVALID_OPTION` for one that no plugin can be run by. Arguments and variables are never shown: they may be secret. */
export function readExecConfig(exec: unknown, cluster: Cluster): ExecConfig {
  if (typeof exec !== 'object' || exec === null) throw invalidOption('exec', 'an object', exec);
  const { command, apiVersion, args, env, installHint, interactiveMode, provideClusterInfo } = exec as Members;
  if (typeof command !== 'string' || command === '') throw invalidOption('exec.command', 'a non-empty string', command);
  oneOfOption('exec.interactiveMode', (interactiveMode ?? 'Never') as string, ['Never', 'IfAvailable']);
  return {
    command,
    apiVersion: oneOfOption('exec.apiVersion', apiVersion as ExecConfig['apiVersion'], apiVersions),
    args: readArgs(args ?? []),
    env: readEnv(env ?? []),
    installHint: typeof installHint === 'string' ? installHint : undefined,
    cluster: provideClusterInfo === true ? cluster : undefined,
  };
}

function readArgs(args: unknown): readonly string[] {
  if (Array.isArray(args) && args.every((arg) => typeof arg === 'string')) return args;
  throw secretOption('exec.args', 'a list of strings', args);
}

function readEnv(env: unknown): Readonly<Record<string, string>> {
  const isVariable = (item: unknown): item is { name: string; value: string } => {
    const { name, value } = (item ?? {}) as Members;
    return typeof name === 'string' && typeof value === 'string';
  };
  if (!Array.isArray(env) || !env.every(isVariable)) throw secretOption('exec.env', 'a list of names and values', env);
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

/** The error names the type alone: a value that stands where a list should may hold a secret. */
function secretOption(name: string, rule: string, value: unknown): StatusManagerError {
  const type = Array.isArray(value) ? 'array' : typeof value;
  return new StatusManagerError('ERR_INVALID_OPTION', `Expected \`${name}\` to be ${rule}, got (${type})`);
}

/** The value of `KUBERNETES_EXEC_INFO`: what a plugin is told of its task. Reads the CA's file, and throws what that throws. */
export function execInfo({ apiVersion, cluster }: ExecConfig): string {
  const spec = { interactive: false, ...(cluster !== undefined && { cluster: clusterInfo(cluster) }) };
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
}

function clusterInfo({ server, tlsServerName, skipTLSVerify, caFile, caData, proxyUrl }: Cluster): object {
  return {
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...((caFile || caData) && { 'certificate-authority-data': caFile ? readCredentialFile(caFile).toString('base64') : caData }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
  };
}

/** What a plugin's answer holds. */
export interface ExecCredential {
  readonly credentials: Credentials;
  /** In milliseconds since the epoch; undefined: they serve until they are refused. */
  readonly expiresAt: number | undefined;
}

/** Reads what a plugin wrote. Throws a {@link PluginFailure}, which quotes nothing of it. */
export function readExecCredential(output: string, expectedVersion: string): ExecCredential {
  const { kind, apiVersion, status } = parseObject(output);
  if (kind !== 'ExecCredential') throw new PluginFailure('wrote no ExecCredential');
  if (apiVersion !== expectedVersion) throw new PluginFailure(`gave an answer that is not of the apiVersion ${expectedVersion}`);
  if (!isJsonObject(status)) throw new PluginFailure('gave an answer without a status');
  const token = textOf(status, 'token');
  const cert = textOf(status, 'clientCertificateData');
  const key = textOf(status, 'clientKeyData');
  if ((cert === undefined) !== (key === undefined)) throw new PluginFailure('gave a certificate or a key without the other');
  if (cert !== undefined && key !== undefined) requirePair(cert, key);
  if (token === undefined && cert === undefined) throw new PluginFailure('gave neither a token nor a certificate');
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  return { credentials: { authorization, cert, key }, expiresAt: expiryOf(status) };
}

function parseObject(output: string): JsonObject {
  try {
    const value: unknown = JSON.parse(output);
    if (isJsonObject(value)) return value;
  } catch {
    // the parser's message quotes the output, so it is not kept
  }
  throw new PluginFailure('wrote no JSON object');
}

/** A member that is text; the empty text counts as absent. */
function textOf(status: JsonObject, name: string): string | undefined {
  const value = status[name] ?? '';
  if (typeof value !== 'string') throw new PluginFailure(`gave a ${name} that is not a string`);
  return value === '' ? undefined : value;
}

function requirePair(cert: string, key: string): void {
  let isPair = false;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    // one of them is not PEM
  }
  if (!isPair) throw new PluginFailure('gave a certificate and a key that do not belong together');
}

function expiryOf({ expirationTimestamp }: JsonObject): number | undefined {
  try {
    const time = canonicalTime(expirationTimestamp, 'expirationTimestamp');
    return time === undefined ? undefined : Date.parse(time);
  } catch {
    throw new PluginFailure('gave an expirationTimestamp that is not a time');
  }
}

export interface PluginCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the variables of this process. */
  readonly env: Readonly<Record<string, string>>;
}

interface PluginProcess {
  /** What it wrote to its standard output, once it has ended with exit code 0. Rejects with {@link PluginFailure}, or with the signal's reason. */
  readonly output: Promise<string>;
  /** Resolves when the plugin has ended and Node.js holds nothing of it any more. Never rejects. */
  readonly ended: Promise<void>;
}

/** How a plugin failed, as what follows its name in a sentence. Holds nothing of what it wrote, nor of its arguments. */
class PluginFailure extends Error {
  /** True when there is no such program. */
  readonly isMissing: boolean;

  constructor(message: string, isMissing = false) {
    super(message);
    this.name = 'PluginFailure';
    this.isMissing = isMissing;
  }
}

/** More than any token or chain of certificates has. */
const maxOutputBytes = 1024 * 1024;
/** Windows has no process groups. */
const hasGroups = process.platform !== 'win32';

/**
 * Runs a plugin, in a process group of its own. The plugin has no input and no terminal, and what it writes to standard
 * error is dropped. When the plugin has ended, and when the signal aborts, every process left of its group is killed.
 */
export function runPlugin({ command, args, env }: PluginCommand, signal: AbortSignal): PluginProcess {
  const output = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  const written = new HeldBytes();
  const child = start({ command, args, env });
  if (child instanceof PluginFailure) {
    output.reject(child);
    ended.resolve();
    return { output: output.promise, ended: ended.promise };
  }
  const group = new ProcessGroup(child);
  const fail = (error: unknown): void => {
    output.reject(error);
    group.kill();
    // a process that has left the group may still hold the other end
    child.stdout?.destroy();
  };
  const leave = onAbort(signal, () => fail(signal.reason));
  child.stdout?.on('data', (chunk: Buffer) => {
    if (written.length + chunk.length <= maxOutputBytes) written.add(chunk);
    else fail(new PluginFailure(`wrote more than ${maxOutputBytes} bytes`));
  });
  child.on('error', (error) => {
    fail(startFailure(error));
    if (child.pid === undefined) ended.resolve();
  });
  child.once('exit', (code, killedBy) => {
    // a child that it left behind may hold its output open, and there would be no end of it to wait for
    group.leaderHasExited();
    if (code !== 0) fail(new PluginFailure(code === null ? `was ended by ${killedBy}` : `ended with exit code ${code}`));
  });
  // after the exit, once everything it wrote has been read or is no longer wanted
  child.once('close', () => {
    leave();
    output.resolve(written.take().toString('utf8'));
    // Node.js lets go of its handle in the next turn of the event loop
    setImmediate(() => setImmediate(ended.resolve));
  });
  return { output: output.promise, ended: ended.promise };
}

/** An error of the system names the command with its arguments, so it is not kept. */
function start({ command, args, env }: PluginCommand): ChildProcess | PluginFailure {
  try {
    return spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: hasGroups,
      windowsHide: true,
    });
  } catch (error) {
    return startFailure(error);
  }
}

function startFailure(error: unknown): PluginFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return code === 'ENOENT' ? new PluginFailure('was not found', true) : new PluginFailure(`could not be started (${code})`);
}

/** A child and the processes it has made, as far as they have not left its group. */
class ProcessGroup {
  readonly #child: ChildProcess;
  #isEmpty = false;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Kills what is left of the group. From now on the child's number could be another process's: nothing is signalled any more. */
  leaderHasExited(): void {
    if (hasGroups) this.#signal();
    this.#isEmpty = true;
  }

  kill(): void {
    if (this.#isEmpty) return;
    if (hasGroups) this.#signal();
    else this.#child.kill('SIGKILL');
  }

  #signal(): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // no process is left to signal
    }
  }
}
