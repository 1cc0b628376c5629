import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { toolPath } from './tools.ts';

/** Bundles a file and all that it imports with rollup. Throws when rollup fails. */
export async function rollUp(entry: string, outfile: string, format: 'esm' | 'cjs'): Promise<void> {
  const plugins = ['node-resolve', 'commonjs', 'json'].map((name) =>
    toolPath('@rollup', `plugin-${name}`, 'dist', 'cjs', 'index.js'),
  );
  const args = [entry, '--file', outfile, '--format', format, '--silent', ...plugins.flatMap((path) => ['--plugin', path])];
  await promisify(execFile)(process.execPath, [toolPath('rollup', 'dist', 'bin', 'rollup'), ...args]);
}
