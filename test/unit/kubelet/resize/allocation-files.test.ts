import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AllocationFiles } from '../../../../src/kubelet/resize/allocation-files.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const record = { allocated: { containers: {} }, actuated: { containers: {} } };
const named = { podNamespace: 'default', podName: 'web', podUID: 'u1' };

describe('an allocation that cannot be written', () => {
  it('is logged with the names of its pod, also where later changes tell its uid alone', async () => {
    const lines: object[] = [];
    const log = (fields: object): void => void lines.push(fields);
    const folder = join(await tempDir(), 'allocations');
    const files = new AllocationFiles(folder, { debug: log, info: log, warn: log, error: log });
    await rm(folder, { recursive: true });
    await writeFile(folder, 'no folder');
    expect(files.save({ namespace: 'default', name: 'web', uid: 'u1' }, record)).toBe(false);
    files.setActuated('u1', 'app', {});
    expect(files.save({ uid: 'u1' }, record)).toBe(false);
    expect(lines).toEqual([1, 2, 3].map(() => ({ err: expect.any(Error), ...named })));
  });
});
