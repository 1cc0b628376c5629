import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeMounter } from '../../../../src/testing/fakes/fake-mounter.ts';
import { mounterContract } from '../../../support/mounter-contract.ts';
import { tempDir } from '../../../support/temp-dir.ts';

mounterContract('fake mounter', () => new FakeMounter());

describe('FakeMounter', () => {
  it('shows how things were mounted, and who owns what', async () => {
    const folder = await tempDir();
    const mounter = new FakeMounter();
    await mounter.mountTmpfs(join(folder, 'memory'), { sizeBytes: 1 });
    await mounter.bind(folder, join(folder, 'shown'), { readonly: true });
    await mounter.changeOwner(join(folder, 'file'), { uid: 1 });
    await mounter.changeOwner(join(folder, 'file'), { gid: 2 });
    expect(mounter.mounts).toEqual([
      { target: join(folder, 'memory'), source: undefined, options: { sizeBytes: 1 } },
      { target: join(folder, 'shown'), source: folder, options: { readonly: true } },
    ]);
    expect([...mounter.owners]).toEqual([[join(folder, 'file'), { uid: 1, gid: 2 }]]);
  });
});
