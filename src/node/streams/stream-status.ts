import type { StreamEnd } from './container-streams.ts';

/** So much of an error's text a client gets. */
const longestText = 4096;

/** How it has ended, as the text on the error channel of protocols that know exit codes: a `metav1.Status`. */
export function statusText(end: StreamEnd): string {
  const code = 'exitCode' in end ? toldExitCode(end.exitCode) : undefined;
  if (code === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  const failure =
    code === undefined
      ? { message: endText(end), reason: 'InternalError', details: { causes: [{ message: causeText(end) }] }, code: 500 }
      : {
          message: endText(end),
          reason: 'NonZeroExitCode',
          details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
        };
  return JSON.stringify({ metadata: {}, status: 'Failure', ...failure });
}

/** The same for older protocols, whose error channel has text alone: nothing where all went well. */
export function endText(end: StreamEnd): string {
  if ('error' in end) return `Internal error occurred: ${causeText(end)}`;
  const { exitCode } = end;
  return exitCode === 0 ? '' : `command terminated with non-zero exit code: ${exitCode}`;
}

function causeText(end: StreamEnd): string {
  return 'error' in end ? String(end.error).slice(0, longestText) : '';
}

/** Clients read 0 to 255. Any other number is told as 255, and shown in the message. */
function toldExitCode(exitCode: number): number {
  return Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255 ? exitCode : 255;
}
