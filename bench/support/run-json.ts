import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a program and parses the last line of its standard output as JSON. */
export async function runJson<T>(file: string, args: readonly string[], timeoutMs = 300_000): Promise<T> {
  const { stdout } = await run(file, [...args], { timeout: timeoutMs, maxBuffer: 1 << 24 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
}

/** Runs a script of `bench` in a new Node process, with `gc` exposed. */
export function runScript<T>(script: string, args: readonly (string | number)[], timeoutMs?: number): Promise<T> {
  const file = fileURLToPath(new URL(`../${script}`, import.meta.url));
  return runJson<T>(process.execPath, ['--expose-gc', file, ...args.map(String)], timeoutMs);
}
