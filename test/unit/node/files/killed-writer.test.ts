import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AtomicWriter } from '../../../../src/node/files/atomic-writer.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeMounter } from '../../../../src/testing/fakes/fake-mounter.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const child = fileURLToPath(new URL('writing-child.ts', import.meta.url));
const names = ['a', 'b', 'c/d', 'c/e', 'f'];

/** Lets a process write until it has told of some versions, and kills it wherever it is. */
async function writeAndKill(folder: string, versions: number): Promise<void> {
  const writing = spawn(process.execPath, [child, folder, names.join()], { stdio: ['ignore', 'pipe', 'inherit'] });
  let lines = 0;
  for await (const chunk of writing.stdout) {
    lines += String(chunk).split('\n').length - 1;
    if (lines >= versions) break;
  }
  const ended = once(writing, 'exit');
  writing.kill('SIGKILL');
  await ended;
}

describe('an AtomicWriter whose process is killed', () => {
  it('has left one whole version, and the next process goes on from there', async () => {
    const folder = await tempDir();
    for (let round = 1; round <= 8; round += 1) {
      await writeAndKill(folder, round * 3);
      const found = await Promise.all(names.map((name) => readFile(join(folder, '..data', name), 'utf8')));
      expect(new Set(found).size).toBe(1);
    }
    const writer = new AtomicWriter(folder, { mounter: new FakeMounter(), clock: new FakeClock() });
    await writer.write(new Map([['a', { data: Buffer.from('new'), mode: 0o644 }]]));
    const entries = await readdir(folder);
    expect([entries.filter((name) => !name.startsWith('..')), entries.length]).toEqual([['a'], 3]);
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('new');
  });
});
