import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import type { ShutdownHandle } from './shutdown-signals.ts';

/** A program that goes on until it is ended, or this process is. */
export interface WatchedProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Gets each line that the program writes. True: it has begun to do what it is for. */
  readonly isReady: (line: string) => boolean;
  /** Aborts when nobody waits for its beginning any more. */
  readonly signal: AbortSignal;
}

/** So much of what a program says is kept for an error. */
const longestWords = 500;
/** A longer line is nothing that is waited for, and ends the program. */
const longestLine = 65_536;

/**
 * A shell that ends the program when its own input ends: a process that is killed leaves nothing behind. The program itself has no
 * input.
 */
const script = [
  'exec 3<&0',
  '"$@" 3<&- </dev/null & program=$!',
  '(cat <&3; kill "$program") >/dev/null 2>&1 & watcher=$!',
  'exec 3<&-',
  'wait "$program"; code=$?',
  // a number that the system gives to another process is never killed
  'kill "$watcher"; exit "$code"',
].join('\n');

/** Resolves once the program has begun. Rejects with what it said when it ends before, and with the signal's reason. */
export async function startProgram({ command, args, isReady, signal }: WatchedProgram): Promise<ShutdownHandle> {
  signal.throwIfAborted();
  // without file descriptors a child has no pipes, and tells of an error
  const child: ChildProcess = spawn('sh', ['-c', script, 'sh', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, SYSTEMD_LOG_LEVEL: 'info', SYSTEMD_LOG_TARGET: 'console', SYSTEMD_COLORS: '0' },
  });
  const ended = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  let words = '';
  const end = (): void => {
    child.stdin?.end();
  };
  child.once('error', (error) => {
    ready.reject(error);
    ended.resolve();
  });
  child.stdin?.on('error', ignoreFailure);
  child.once('exit', () => {
    end();
    ended.resolve();
  });
  // after the exit, once all is read that it has said
  child.once('close', (code) => ready.reject(new Error(words.trim() || `${command} has ended with exit code ${code}`)));
  const take = (line: string): void => {
    words = textBeginning(`${words}${line}\n`, longestWords);
    if (isReady(line)) ready.resolve();
  };
  for (const output of [child.stdout, child.stderr]) readLines(output, take, end);
  const leave = onAbort(signal, () => {
    end();
    ready.reject(signal.reason);
  });
  try {
    await ready.promise;
  } finally {
    leave();
  }
  return { ended: ended.promise, end };
}

/** `output`: null, or undefined in spite of its type, where the child has no pipe. */
function readLines(output: Readable | null, take: (line: string) => void, tooLong: () => void): void {
  let rest = '';
  output?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    if ([...lines, rest].some((line) => line.length > longestLine)) {
      output.destroy();
      tooLong();
    } else for (const line of lines) take(line);
  });
  output?.on('error', ignoreFailure);
}
