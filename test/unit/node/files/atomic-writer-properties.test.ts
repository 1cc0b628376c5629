import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AtomicWriter } from '../../../../src/node/files/atomic-writer.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeMounter } from '../../../../src/testing/fakes/fake-mounter.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const part = fc.constantFrom('a', 'b', 'c');
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const payload = fc.dictionary(path, fc.constantFrom('1', '2', ''), { maxKeys: 5 });
const steps = fc.array(fc.record({ files: payload, restart: fc.boolean() }), { minLength: 1, maxLength: 8 });

/** A file of one path where another path has a folder. */
const isImpossible = (paths: readonly string[]): boolean =>
  paths.some((one) => paths.some((other) => other.startsWith(`${one}/`)));

/** What a reader finds, through the links. */
async function shown(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const visit = async (path: string): Promise<void> => {
    if ((await stat(path)).isDirectory()) for (const name of await readdir(path)) await visit(join(path, name));
    else found[relative(folder, path)] = await readFile(path, 'utf8');
  };
  for (const name of await readdir(folder)) if (!name.startsWith('..')) await visit(join(folder, name));
  return found;
}

describe('AtomicWriter', () => {
  it('shows the files of the last write that was possible, and nothing else is left', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const folder = await tempDir();
        const options = { mounter: new FakeMounter(), clock: new FakeClock() };
        let writer = new AtomicWriter(folder, options);
        let last: Record<string, string> | undefined;
        for (const { files, restart } of sequence) {
          if (restart) writer = new AtomicWriter(folder, options);
          const written = new Map(Object.entries(files).map(([name, text]) => [name, { data: Buffer.from(text), mode: 0o644 }]));
          if (isImpossible(Object.keys(files))) await expect(writer.write(written)).rejects.toThrow();
          else {
            expect(await writer.write(written)).toBe(JSON.stringify(sorted(files)) !== JSON.stringify(last && sorted(last)));
            last = { ...files };
          }
          expect(await shown(folder)).toEqual(last ?? {});
          expect((await readdir(folder)).filter((name) => name.startsWith('..'))).toHaveLength(last === undefined ? 0 : 2);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function sorted(files: Record<string, string>): [string, string][] {
  return Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
}
