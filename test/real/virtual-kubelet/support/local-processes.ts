import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { ContainerProvider, type ContainerStreams, type TerminalSize } from 'pod-status-manager/node';

/** A command with a terminal: that of `script`, as large as the client's is when it begins. */
function withTerminal(command: readonly string[], { columns, rows }: TerminalSize): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return ['script', '--quiet', '--return', '--command', `stty cols ${columns} rows ${rows}; ${quoted}`, '/dev/null'];
}

function sizeOf({ onResize }: ContainerStreams): Promise<TerminalSize> {
  return new Promise((resolve) => onResize(resolve));
}

function startProcess([command = '', ...args]: readonly string[]): ChildProcess {
  // a group of its own, so that its end takes along what it has started
  return spawn(command, args, { detached: true, stdio: 'pipe' });
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // it has ended already
  }
}

async function exitCodeOf(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return code ?? (signal === 'SIGKILL' ? 137 : 143);
}

async function runCommand(command: readonly string[], streams: ContainerStreams, signal: AbortSignal): Promise<number> {
  const child = startProcess(streams.tty ? withTerminal(command, await sizeOf(streams)) : command);
  const ended = exitCodeOf(child);
  const end = (): void => endGroup(child, 'SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  try {
    const { stdin, stdout, stderr } = child;
    if (streams.stdin === undefined) stdin?.end();
    else if (stdin !== null) pipeline(streams.stdin, stdin).catch(() => {});
    if (stdout !== null && streams.stdout !== undefined) stdout.pipe(streams.stdout, { end: false });
    if (stderr !== null && streams.stderr !== undefined) stderr.pipe(streams.stderr, { end: false });
    return await ended;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Runs containers as processes of this machine, with whatever lies on it: an image is not looked at. */
export function localProcesses(): ContainerProvider {
  return new ContainerProvider({
    async runContainer({ command = [], args = [] }, run) {
      const child = startProcess([...command, ...args]);
      const ended = exitCodeOf(child);
      run.stop.addEventListener('abort', () => endGroup(child, 'SIGTERM'));
      run.kill.addEventListener('abort', () => endGroup(child, 'SIGKILL'));
      child.stdout?.pipe(run.stdout);
      child.stderr?.pipe(run.stderr);
      if (child.stdin !== null) pipeline(run.stdin, child.stdin).catch(() => {});
      return ended;
    },
    execInContainer: (_container, command, streams, { signal }) => runCommand(command, streams, signal),
    async portForward(_pod, port, stream) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      await Promise.all([pipeline(stream, socket), pipeline(socket, stream)]);
    },
    // a quarter of a core
    containerStats: async () => ({ cpuNanoseconds: Math.round((performance.now() + 1000) * 250_000), memoryBytes: 3 << 20 }),
    backoff: { baseMs: 100, maxMs: 100 },
  });
}
