import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SoakLength, SoakResult } from './measure.ts';

/** A part that was made to live for a while, and goes on for so much longer, hangs. */
const longestMs = 180_000;

/** What the compiler knows of the code grows for as long as it finds more to optimize, and is thrown away at some time: some 40 bytes a change. */
const steadyCompiler = ['--no-opt', '--no-maglev', '--no-sparkplug', '--no-flush-bytecode'];

/** The life of the part went wrong. */
export class SoakFailure extends Error {}

/**
 * Runs one part in a process of its own, so that nothing else is in its heap. `root`: a copy of the project; default: this one.
 * Rejects with a {@link SoakFailure} where the part did what it must not, or hung.
 */
export async function runPart(name: string, { changes = 0, minutes = 0, seed }: SoakLength, root?: string): Promise<SoakResult> {
  const child = root === undefined ? fileURLToPath(new URL('child.ts', import.meta.url)) : `${root}/test/random/soak/child.ts`;
  const values = [name, String(seed), String(changes), String(minutes)];
  const { promise, resolve, reject } = Promise.withResolvers<SoakResult>();
  const running = spawn(process.execPath, ['--expose-gc', ...steadyCompiler, child, ...values], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(minutes === 0 && changes <= 20_000 && { timeout: longestMs, killSignal: 'SIGKILL' }),
  });
  let [text, said] = ['', ''];
  running.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  running.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-4000);
  });
  running.once('error', reject);
  running.once('close', (code, signal) => {
    const { result, failure } = code === 0 ? JSON.parse(text) : {};
    if (result !== undefined) resolve(result);
    else if (failure !== undefined || signal === 'SIGKILL') reject(new SoakFailure(failure ?? 'it hangs'));
    else reject(new Error(`the part ${name} ended with ${code ?? signal}: ${said}`));
  });
  return promise;
}
