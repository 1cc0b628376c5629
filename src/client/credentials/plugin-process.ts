import { type ChildProcess, spawn } from 'node:child_process';
import { HeldBytes } from '../../api/json/bytes.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';

export interface PluginCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the variables of this process. */
  readonly env: Readonly<Record<string, string>>;
}

export interface PluginProcess {
  /** What it wrote to its standard output, once it has ended with exit code 0. Rejects with {@link PluginFailure}, or with the signal's reason. */
  readonly output: Promise<string>;
  /** Resolves when the plugin has ended and Node.js holds nothing of it any more. Never rejects. */
  readonly ended: Promise<void>;
}

/** How a plugin failed, as what follows its name in a sentence. Holds nothing of what it wrote, nor of its arguments. */
export class PluginFailure extends Error {
  /** True when there is no such program. */
  readonly isMissing: boolean;

  constructor(message: string, isMissing = false) {
    super(message);
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
