import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { SupervisorMessage } from './supervisor.ts';

export interface SupervisedProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Gets the process's output; the folder must exist. */
  readonly logFile: string;
  /** Removed after this process has died without stopping its child; nothing when absent. */
  readonly removeDirWhenOrphaned?: string | undefined;
}

/** How a process ended, in words: `code 1`, `signal SIGKILL`. */
export type ExitReport = string;

const supervisorFile = fileURLToPath(new URL('./supervisor.ts', import.meta.url));

/** A child process that ends when this process does, even by SIGKILL. */
export class SupervisedProcess {
  readonly pid: number;
  readonly logFile: string;
  /** Resolves once the process has ended; never rejects. */
  readonly exited: Promise<ExitReport>;
  #running = true;

  private constructor(supervisor: ChildProcess, pid: number, logFile: string) {
    this.pid = pid;
    this.logFile = logFile;
    this.exited = new Promise((resolve) => {
      supervisor.on('message', (message: SupervisorMessage) => {
        if (!('exit' in message)) return;
        this.#running = false;
        resolve(message.exit.signal === null ? `code ${message.exit.code}` : `signal ${message.exit.signal}`);
      });
      // The channel closes after its last message. Without an `exit` message the supervisor was killed, and its child runs unwatched.
      supervisor.on('disconnect', () => {
        if (!this.#running) return;
        this.kill('SIGKILL');
        this.#running = false;
        resolve('its supervisor');
      });
    });
  }

  /** Resolves once the process runs; rejects when it cannot be run at all. */
  static start({ command, args, logFile, removeDirWhenOrphaned = '' }: SupervisedProcessOptions): Promise<SupervisedProcess> {
    return new Promise((resolve, reject) => {
      const supervisor = fork(supervisorFile, [logFile, removeDirWhenOrphaned, command, ...args], {
        execArgv: [],
        // A group of its own: Ctrl-C in a terminal reaches the starter alone, which then stops its servers in order.
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      supervisor.once('error', reject);
      supervisor.once('exit', () => reject(new Error(`The supervisor of ${command} ended before it said anything`)));
      supervisor.once('message', (message: SupervisorMessage) => {
        if ('pid' in message) resolve(new SupervisedProcess(supervisor, message.pid, logFile));
        else reject(new Error(`Could not run ${command}: ${'error' in message ? message.error : 'it ended at once'}`));
      });
    });
  }

  get running(): boolean {
    return this.#running;
  }

  /** Sends a signal; nothing when the process has ended. */
  kill(signal: NodeJS.Signals): void {
    if (!this.#running) return;
    try {
      process.kill(this.pid, signal);
    } catch {
      // It has just ended; the supervisor's word on that is under way.
    }
  }

  /** Asks with `signal`, insists with SIGKILL after `graceMs`; resolves once the process has ended. */
  async stop({ signal = 'SIGTERM', graceMs = 5000 }: { signal?: NodeJS.Signals; graceMs?: number } = {}): Promise<void> {
    // A paused process (SIGSTOP) would sit on every signal but SIGKILL.
    this.kill('SIGCONT');
    this.kill(signal);
    const insist = setTimeout(() => this.kill('SIGKILL'), graceMs);
    await this.exited;
    clearTimeout(insist);
  }

  /** The last lines of its output, for error messages. */
  async logTail(lines = 20): Promise<string> {
    const text = await readFile(this.logFile, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }
}
