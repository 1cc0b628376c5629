import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../is-alive.ts';
import type { TcpRelay } from '../tcp-relay.ts';
import type { Departure } from './fleet-record.ts';

/** What a member's process is told on its command line. */
export interface MemberSettings {
  /** The path of a kubeconfig. */
  readonly kubeconfig: string;
  readonly fleet: string;
  readonly id: string;
  readonly nodes: readonly string[];
  readonly shards: number;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** The address of the cloud. */
  readonly cloud: string;
}

/** What a member says on its standard output, a line each. */
export type MemberLine = { /** Milliseconds since the epoch. */ readonly at: number } & (
  | { readonly what: 'started' }
  | { readonly what: 'gained' | 'lost'; readonly shard: number }
  | { readonly what: 'serves' | 'leaves'; readonly node: string }
  | { readonly what: 'stopped'; readonly result: unknown }
);

export interface MemberParts {
  readonly settings: MemberSettings;
  /** Its way to the servers. */
  readonly relay: TcpRelay;
  /** Gets what it writes to its standard error. */
  readonly logFile: string;
  readonly departed: (departure: Departure) => void;
  /** Default: a member of a fleet. */
  readonly script?: string;
}

const memberScript = fileURLToPath(new URL('./member.ts', import.meta.url));

/** One member of a fleet in a process of its own, which ends when this process does. */
export class MemberProcess implements AsyncDisposable {
  readonly id: string;
  readonly relay: TcpRelay;
  readonly lines: MemberLine[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #departed: MemberParts['departed'];
  #isPaused = false;
  #isLeaving = false;

  private constructor({ settings, relay, logFile, departed, script = memberScript }: MemberParts) {
    this.id = settings.id;
    this.relay = relay;
    this.#departed = departed;
    // it ends when its standard input does
    this.#child = spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stderr?.on('data', (chunk: Buffer) => appendFileSync(logFile, chunk));
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => this.lines.push(JSON.parse(line)));
    this.#ended = once(this.#child, 'exit');
  }

  static start(parts: MemberParts): MemberProcess {
    return new MemberProcess(parts);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && isAlive(this.#child.pid ?? 0);
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** It was told to end. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  get hasStarted(): boolean {
    return this.lines.some(({ what }) => what === 'started');
  }

  /** The names of the nodes that it runs, as it says. */
  get serves(): readonly string[] {
    const names = new Set<string>();
    for (const line of this.lines) {
      if (line.what === 'serves') names.add(line.node);
      else if (line.what === 'leaves') names.delete(line.node);
    }
    return [...names];
  }

  /** Ends it in peace. Resolves to what it said of its end; undefined: it said nothing. */
  async stop(): Promise<unknown> {
    this.#leave('stopped');
    this.#child.kill('SIGTERM');
    await this.#ended;
    const last = this.lines.find(({ what }) => what === 'stopped');
    return last?.what === 'stopped' ? last.result : undefined;
  }

  async kill(): Promise<void> {
    this.#leave('killed');
    await this.crash();
  }

  /** As `kill`, where another process of its name follows: nothing is said of a departure. */
  async crash(): Promise<void> {
    this.#isLeaving = true;
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  pause(): void {
    this.#departed({ member: this.id, how: 'paused', at: Date.now() });
    this.#isPaused = true;
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#isPaused = false;
    this.#child.kill('SIGCONT');
  }

  /** Its connections to the servers break, and no new one is made until `mend`. */
  cutOff(): void {
    this.#departed({ member: this.id, how: 'cut off', at: Date.now() });
    this.relay.cut();
  }

  /** It still reaches the other server. */
  cutOffFrom(server: number): void {
    this.relay.cutFrom(server);
  }

  mend(): void {
    this.relay.mend();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    await this.relay[Symbol.asyncDispose]();
  }

  #leave(how: 'stopped' | 'killed'): void {
    this.#isLeaving = true;
    this.#departed({ member: this.id, how, at: Date.now() });
  }
}
