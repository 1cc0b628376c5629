import { posix } from 'node:path';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import { runtimeAnnotations } from '../runtime/runtime-sandboxes.ts';
import { openLogFile, readAt } from './log-file.ts';
import { lastLogLines } from './read-logs.ts';

/** The kubelet's bounds (`pkg/kubelet/container/runtime.go`). */
const longestMessage = 4096;
const fromLogs = { lines: 80, bytes: 2048 };

/**
 * What a container left behind when it ended: the last 4,096 bytes of the file at its `terminationMessagePath`. If that is empty,
 * the exit code is not 0 and the policy is `FallbackToLogsOnError`, the end of its log: 80 lines or 2,048 bytes, whichever is
 * less. Empty for a container that has not ended. Never rejects: the message then says why there is none, as the kubelet's does.
 */
export async function terminationMessageOf(details: ContainerDetails): Promise<string> {
  if (details.state !== 'exited') return '';
  const path = details.annotations[runtimeAnnotations.terminationMessagePath] ?? '';
  const mount = path === '' ? undefined : details.mounts.find(({ containerPath }) => containerPath === absolute(path));
  if (mount !== undefined && mount.hostPath !== '') {
    const message = await readMessageFile(mount.hostPath);
    if (message !== '') return message;
  }
  return fallsBackToLogs(details) ? readMessageFromLogs(details.logPath) : '';
}

function absolute(path: string): string {
  return posix.isAbsolute(path) ? path : `/${path}`;
}

/** A container that could not even be started has no log. */
function fallsBackToLogs({ annotations, exitCode, reason }: ContainerDetails): boolean {
  const policy = annotations[runtimeAnnotations.terminationMessagePolicy];
  return policy === 'FallbackToLogsOnError' && exitCode !== 0 && reason !== 'ContainerCannotRun';
}

/** Empty where there is no file. The container owns the file, so it may be anything, and grow while it is read. */
async function readMessageFile(path: string): Promise<string> {
  try {
    const handle = await openLogFile(path);
    try {
      const { size } = await handle.stat();
      return textOf(await readAt(handle, Math.max(0, size - longestMessage), longestMessage));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return '';
    return `Error on reading termination log ${path}: ${errorText(error)}`;
  }
}

async function readMessageFromLogs(path: string): Promise<string> {
  try {
    return textOf(await lastLogLines(path, fromLogs));
  } catch (error) {
    return `Error on reading termination message from logs: ${errorText(error)}`;
  }
}

/** Without the rest of a character that the bound has cut: as a replacement character it would be longer than it was. */
function textOf(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}
