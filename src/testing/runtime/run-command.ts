import { type ExecSyncResult, longestExecOutput, RuntimeError } from '../../kubelet/runtime/container-runtime.ts';
import type { FakeExecRequest, FakeExecResult } from './fake-runtime-options.ts';

/** Runs a command in a running container as `exec` says. Rejects with kind `timeout` when it takes longer than the timeout; 0 is none. */
export async function runCommand(
  request: FakeExecRequest,
  timeoutSeconds: number,
  exec: (request: FakeExecRequest) => FakeExecResult,
  wait: (ms: number) => Promise<void>,
): Promise<ExecSyncResult> {
  const { exitCode = 0, stdout = '', stderr = '', takesMs = 0 } = exec(request);
  const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : Number.POSITIVE_INFINITY;
  await wait(Math.min(takesMs, timeoutMs));
  if (takesMs > timeoutMs) {
    throw new RuntimeError('timeout', 'ExecSync', `timeout ${timeoutSeconds}s exceeded: context deadline exceeded`);
  }
  const output = { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
  const bytes = output.stdout.length + output.stderr.length;
  if (bytes <= longestExecOutput) return { ...output, exitCode };
  throw new RuntimeError('failed', 'ExecSync', `the command wrote ${bytes} bytes, and ${longestExecOutput} are taken`);
}
