// Behaviour of pkg/probe/exec and of newExecInContainer in pkg/kubelet/prober, v1.36.3.
import type { ExecProbeTarget, ProbeOutcome, Prober } from '../../node/probes/prober.ts';
import { type ContainerRuntime, isRuntimeError } from '../runtime/container-runtime.ts';

const decoder = new TextDecoder();

/** So much of what a command says counts, in bytes. */
const longestProbeOutput = 10 * 1024;

/**
 * The `exec` of a prober: runs the command in the container. A success where it ends with code 0; its output, at most 10 KiB, is
 * what an event says. A command that takes too long has failed; one that could not be run says nothing.
 */
export function execProber(runtime: Pick<ContainerRuntime, 'execSync'>): Prober['exec'] {
  return async (target, signal) => {
    try {
      return await exec(runtime, target, signal);
    } catch (error) {
      if (isTimeout(error) || isTimeout(signal.reason)) return tooLate(target);
      return { result: 'unknown', error };
    }
  };
}

async function exec(
  runtime: Pick<ContainerRuntime, 'execSync'>,
  { containerID, command, timeoutSeconds }: ExecProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { exitCode, stdout, stderr } = await runtime.execSync(ownID(containerID), command, timeoutSeconds, { signal });
  const output = decoder.decode(Buffer.concat([stdout, stderr]).subarray(0, longestProbeOutput));
  return { result: exitCode === 0 ? 'success' : 'failure', output };
}

function tooLate({ command, timeoutSeconds }: ExecProbeTarget): ProbeOutcome {
  const text = JSON.stringify(command.join(' '));
  return { result: 'failure', output: `command timed out: ${text} timed out after ${timeoutSeconds}s` };
}

function isTimeout(error: unknown): boolean {
  return isRuntimeError(error, 'timeout') || (error instanceof Error && error.name === 'TimeoutError');
}

/** The runtime's own id: `containerd://1234` is `1234` there. */
function ownID(containerID: string): string {
  const at = containerID.indexOf('://');
  return at < 0 ? containerID : containerID.slice(at + 3);
}
