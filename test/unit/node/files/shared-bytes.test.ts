import type { createHash } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { AtomicWriter } from '../../../../src/node/files/atomic-writer.ts';
import { FakeMounter } from '../../../../src/testing/fakes/fake-mounter.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const hashed = vi.hoisted(() => ({ bytes: 0 }));

vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:crypto')>();
  const counting: typeof createHash = (...made) => {
    const hash = original.createHash(...made);
    const update = hash.update.bind(hash);
    return Object.assign(hash, {
      update: (data: Uint8Array) => {
        hashed.bytes += data.length;
        update(data);
        return hash;
      },
    });
  };
  return { ...original, createHash: counting };
});

it('an AtomicWriter reads bytes once that many files show', async () => {
  const writer = new AtomicWriter(await tempDir(), { mounter: new FakeMounter(), clock: systemClock });
  const data = Buffer.alloc(100_000, 'x');
  const files = new Map(Array.from({ length: 50 }, (_, index) => [`f${index}`, { data, mode: 0o644 }]));
  expect(await writer.write(files)).toBe(true);
  expect(hashed.bytes).toBeLessThan(110_000);
  expect(await writer.write(files)).toBe(false);
  files.set('f7', { data: Buffer.alloc(100_000, 'y'), mode: 0o644 });
  expect(await writer.write(files)).toBe(true);
});
