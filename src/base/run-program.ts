import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { onAbort } from './concurrency/aborts.ts';
import { errorCodeOf, errorText } from './errors.ts';
import { ignoreFailure } from './guard.ts';
import { textBeginning } from './text-beginning.ts';

/** A program that is run to its end. */
export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the variables of this process. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What it may read from its standard input. Default: nothing. */
  readonly input?: string | undefined;
  /** A program that writes more to its standard output is killed. */
  readonly mostOutputBytes: number;
  /** Kills the program when it aborts. */
  readonly signal: AbortSignal;
  /**
   * Called once, when the program has ended, or could not be started. That may be long after the call was rejected: the kernel keeps a
   * program that was killed while it waits for a disk or a server. Default: nobody is told.
   */
  readonly whenEnded?: (() => void) | undefined;
}

/** How a program failed. Its message names the program, and has nothing of what it wrote, nor of its arguments. */
export class ProgramFailure extends Error {
  /** The code of the system where the program could not be started, such as `ENOENT` where there is none of that name. */
  readonly code: string | undefined;
  /** The beginning of what it wrote to its standard error. A program may write a secret there. */
  readonly stderr: string;
  /** True: there may be more of it, and `stderr` may end within a word, and within a secret. */
  readonly isCut: boolean;

  constructor(message: string, words: { readonly text: string; readonly isCut: boolean }, code?: string) {
    super(message);
    this.name = 'ProgramFailure';
    this.stderr = words.text;
    this.isCut = words.isCut;
    this.code = code;
  }
}

/** So much of the standard error of a program is kept, in characters. */
const longestWords = 2000;

/**
 * Runs a program without a terminal, in a process group of its own, and resolves to what it wrote to its standard output once it has
 * ended with exit code 0. Rejects with a {@link ProgramFailure}, or with the reason of the signal. Then, and when the program has ended, every
 * process that is left of its group is killed: a program that goes on behind its own back does not.
 */
export async function runProgram(call: ProgramCall): Promise<string> {
  const { command, input, mostOutputBytes, signal, whenEnded } = call;
  const child = started(call);
  const output = Promise.withResolvers<string>();
  const written = new Written(mostOutputBytes);
  const words = new Words();
  let hasExited = false;
  const fail = (error: unknown): void => {
    output.reject(error);
    // the number of a process that has ended may be another one's
    if (!hasExited) killGroup(child);
    // a process that has left the group may hold the other ends
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  };
  const leave = onAbort(signal, () => fail(signal.reason));
  // without file descriptors a child has no pipes, and tells of an error
  child.once('error', (error) => {
    if (child.pid === undefined) whenEnded?.();
    fail(startFailure(command, error));
  });
  listen(child.stdout, (chunk) => {
    if (written.add(chunk)) return;
    fail(new ProgramFailure(`${command} wrote more than ${mostOutputBytes} bytes`, { text: words.text, isCut: true }));
  });
  listen(child.stderr, (chunk) => words.add(chunk));
  // a program that reads nothing closes its input
  child.stdin?.on('error', ignoreFailure).end(input ?? '');
  child.once('exit', () => {
    killGroup(child);
    hasExited = true;
    whenEnded?.();
  });
  // after the exit, once all is read that it wrote
  child.once('close', (code, killedBy) => {
    const how = code === null ? `was ended by ${killedBy}` : `ended with exit code ${code}`;
    if (code === 0) output.resolve(written.text());
    else fail(new ProgramFailure(`${command} ${how}`, { text: words.text, isCut: words.isCut || code === null }));
  });
  try {
    return await output.promise;
  } finally {
    leave();
  }
}

function started({ command, args, env, signal, whenEnded }: ProgramCall): ChildProcess {
  try {
    signal.throwIfAborted();
    return spawn(command, args, { env: { ...process.env, ...env }, stdio: 'pipe', detached: true, windowsHide: true });
  } catch (error) {
    whenEnded?.();
    throw signal.aborted ? signal.reason : startFailure(command, error);
  }
}

/** What the system says names the arguments, which may be secret. */
function startFailure(command: string, error: unknown): ProgramFailure {
  const code = errorCodeOf(error);
  const why = code === 'ENOENT' ? 'was not found' : `could not be started: ${code ?? errorText(error)}`;
  return new ProgramFailure(`${command} ${why}`, { text: '', isCut: false }, code);
}

function listen(stream: Readable | null, take: (chunk: Buffer) => void): void {
  stream?.on('error', ignoreFailure).on('data', take);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // no process is left
  }
}

/** The beginning of text that comes in pieces, which may end within a character. */
class Words {
  readonly #decoder = new StringDecoder('utf8');
  text = '';
  isCut = false;

  add(chunk: Buffer): void {
    if (this.isCut) return;
    const all = this.text + this.#decoder.write(chunk);
    this.isCut = all.length > longestWords;
    this.text = textBeginning(all, longestWords);
  }
}

/** Bytes that come in pieces, however small, in a buffer that grows to the most that there may be. */
class Written {
  readonly #most: number;
  #bytes = Buffer.alloc(0);
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False where there would be too many. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#most) return false;
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.min(this.#most, Math.max(length, 2 * this.#bytes.length, 1024)));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    return true;
  }

  text(): string {
    return this.#bytes.toString('utf8', 0, this.#length);
  }
}
