import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Builds the package before the first test: examples that run as processes import it by its name, and find `dist`. */
export default async function build(): Promise<void> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: fileURLToPath(new URL('../..', import.meta.url)) });
}
