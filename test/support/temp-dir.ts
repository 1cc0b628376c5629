import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder that is removed at the end of the running test. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-test-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
