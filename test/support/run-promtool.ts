import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface PromtoolResult {
  readonly code: number | null;
  readonly output: string;
}

/** Runs promtool, with this text as its standard input. */
export async function runPromtool(file: string, args: readonly string[], input = ''): Promise<PromtoolResult> {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: `${stdout}${stderr}` };
}
