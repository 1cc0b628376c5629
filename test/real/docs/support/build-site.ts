import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { root } from '../../../structure/source-tree.ts';

/** Builds the site before the tests of it. What the build warns of is left to the tests, which say it one by one. */
export default async function setup(): Promise<void> {
  await promisify(execFile)(process.execPath, ['tools/site/build.ts', '--warnings-to', 'tools/site/.pages/warnings.json'], {
    cwd: root,
    maxBuffer: 2 ** 26,
    timeout: 300_000,
  });
}
