// Run as a child process: `supervisor.ts LOG_FILE REMOVE_DIR COMMAND ARGS...`. It runs COMMAND and lives no longer than the
// process that started it: when that one ends in whatever way, SIGKILL included, the IPC channel closes, and COMMAND is
// killed. REMOVE_DIR (may be empty) is then removed too. Works wherever Node runs, without prctl or process groups.
import { spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';

export type SupervisorMessage =
  | { readonly pid: number }
  | { readonly error: string }
  | { readonly exit: { readonly code: number | null; readonly signal: string | null } };

const [logFile = '', removeDir = '', command = '', ...args] = process.argv.slice(2);
const log = openSync(logFile, 'a', 0o600);
const child = spawn(command, args, { stdio: ['ignore', log, log] });
let orphaned = false;

function tell(message: SupervisorMessage): void {
  if (process.connected) process.send?.(message);
}

function end(): void {
  if (orphaned && removeDir !== '') rmSync(removeDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  if (process.connected) process.disconnect();
}

child.on('spawn', () => tell({ pid: child.pid ?? 0 }));
child.on('error', (error) => {
  tell({ error: error.message });
  end();
});
child.on('exit', (code, signal) => {
  tell({ exit: { code, signal } });
  end();
});
process.on('disconnect', () => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  orphaned = true;
  child.kill('SIGKILL');
});
// Ctrl-C and a closed terminal are the starter's to answer; this process only follows it.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {});
