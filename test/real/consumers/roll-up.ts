import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { toolPath } from './tools.ts';

/** Where the bundle of each format goes. */
export type Outfiles = Readonly<Record<'esm' | 'cjs', string>>;

/** Bundles a file and all that it imports with rollup, which reads them once for both formats. Throws when rollup fails. */
export async function rollUp(entry: string, outfiles: Outfiles): Promise<void> {
  const output = Object.entries(outfiles).map(([format, file]) => ({ format, file }));
  const config = `${entry}.rollup.mjs`;
  await writeFile(config, `export default ${JSON.stringify({ input: entry, output })};\n`);
  const plugins = ['node-resolve', 'commonjs', 'json'].map((name) =>
    toolPath('@rollup', `plugin-${name}`, 'dist', 'cjs', 'index.js'),
  );
  const args = ['--config', config, '--silent', ...plugins.flatMap((path) => ['--plugin', path])];
  await promisify(execFile)(process.execPath, [toolPath('rollup', 'dist', 'bin', 'rollup'), ...args]);
}
