import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { type Clock, systemClock } from '../../base/clock.ts';
import { watchLimits } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';

/** How long a program may take, and what ends it earlier. */
export interface RunLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Call {
  readonly settle: (error?: unknown) => void;
  /** True once it took too long or was aborted. The program is killed as soon as its process id is known. */
  isGivenUp: boolean;
  pid?: number;
}

interface Shell {
  readonly child: ChildProcess;
  readonly calls: Map<number, Call>;
}

/** So many characters of what a program says are kept. */
const longestText = 2000;

/**
 * Starts programs from a small process: one `sh` that lives as long as this process and reads commands from a pipe. To start a
 * program the kernel copies the page tables of the process that starts it: in an agent of 150 MiB that holds the event loop for
 * milliseconds each time, in the shell for a fraction of one. Programs run side by side and get no input.
 *
 * What programs say is in English. The shell does not keep this process alive. When it ends, what runs in it is rejected, and the next call starts another one.
 */
export class SmallShell {
  readonly #clock: Clock;
  #shell: Shell | undefined;
  #lastId = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * Runs a program that `PATH` leads to. Rejects with what it wrote when it fails or cannot be started. Once `timeoutMs` have
   * passed, or the signal aborts, it is killed, and the call rejects without waiting for its end.
   */
  async run(program: string, args: readonly string[], { timeoutMs, signal }: RunLimits): Promise<void> {
    signal?.throwIfAborted();
    const words = [program, ...args];
    if (words.some((word) => word.includes('\0'))) throw new Error('an argument has a NUL in it');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call: Call = { settle: (error) => (error === undefined ? resolve() : reject(error)), isGivenUp: false };
    const giveUp = (reason: unknown): void => {
      call.isGivenUp = true;
      killIfGivenUp(call);
      reject(reason);
    };
    const onTimeout = (): void => giveUp(new Error(`it took longer than ${timeoutMs / 1000} s`));
    const endWatch = watchLimits({ clock: this.#clock, timeoutMs, signal }, { onTimeout, onAbort: giveUp });
    try {
      this.#send(call, words);
      await promise;
    } finally {
      endWatch();
    }
  }

  #send(call: Call, words: readonly string[]): void {
    this.#shell ??= this.#start();
    const { child, calls } = this.#shell;
    const id = ++this.#lastId;
    calls.set(id, call);
    holdProcess(child, true);
    child.stdin?.write(commandOf(id, words));
  }

  #start(): Shell {
    // a group of its own: Ctrl-C is for the agent
    const env = { ...process.env, LC_ALL: 'C' };
    const child = spawn('/bin/sh', { stdio: ['pipe', 'pipe', 'ignore'], detached: true, env });
    const shell: Shell = { child, calls: new Map() };
    const end = (reason: string): void => {
      if (this.#shell === shell) this.#shell = undefined;
      for (const { settle } of shell.calls.values()) settle(new Error(`/bin/sh, which starts it, ${reason}`));
      shell.calls.clear();
    };
    child.once('error', (error) => end(`failed: ${errorText(error)}`));
    // its output may stay open longer: what runs has it, too
    child.once('exit', (code, signal) => end(`ended with ${code ?? signal}`));
    // a shell that has ended is told of by its end
    child.stdin?.on('error', () => undefined);
    child.stdin?.write('exec 3>&1\n');
    readReports(child, shell.calls);
    child.unref();
    return shell;
  }
}

/**
 * The program runs in the background of a subshell, so that its process id is known before it ends. Two reports come on the
 * shell's output, each with a NUL at its end: `start ID PID` and `ID CODE TEXT`.
 */
function commandOf(id: number, words: readonly string[]): string {
  const program = words.map(quoted).join(' ');
  const started = `{ ${program} 2>&1 >/dev/null 3>&- & printf 'start ${id} %s\\0' "$!" >&3; wait "$!"; }`;
  // a shell without a terminal waits for its jobs only when it is asked about them: else each would stay a zombie
  return `jobs >/dev/null; { said=$(${started}); printf '${id} %s %.${longestText}s\\0' "$?" "$said" >&3; } &\n`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function readReports(child: ChildProcess, calls: Map<number, Call>): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const reports = (rest + decoder.write(chunk)).split('\0');
    rest = reports.pop() ?? '';
    for (const report of reports) hear(report, calls);
    if (calls.size === 0) holdProcess(child, false);
  });
}

function hear(report: string, calls: Map<number, Call>): void {
  const [first = '', second = '', ...texts] = report.split(' ');
  const text = texts.join(' ');
  if (first === 'start') {
    const [id, pid] = [Number(second), Number(text)];
    const call = calls.get(id);
    if (call === undefined) return;
    call.pid = pid;
    killIfGivenUp(call);
    return;
  }
  const call = calls.get(Number(first));
  calls.delete(Number(first));
  const said = text.trim();
  call?.settle(second === '0' ? undefined : new Error(said === '' ? `it ended with ${second}` : said));
}

function killIfGivenUp({ isGivenUp, pid }: Call): void {
  if (!isGivenUp || pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** A process waits for its pipes only while something runs. */
function holdProcess({ stdin, stdout }: ChildProcess, isHeld: boolean): void {
  for (const pipe of [stdin, stdout] as (Socket | null)[]) {
    if (isHeld) pipe?.ref();
    else pipe?.unref();
  }
}
