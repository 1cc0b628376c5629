import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './source-tree.ts';

/** Folders of test/unit that stand for no folder of src, each with what its tests are about. */
const others: Readonly<Record<string, string>> = {
  bench: 'the helpers of the benchmarks',
  browser: 'the helpers of the tests in a browser',
  examples: 'the examples',
  'fleet-faults': 'the judge of a fleet, and the cloud of its pods',
  'node-faults': 'the checks of the runs with faults under real containers',
  properties: 'what holds for any sequence of calls, over several rooms',
  security: 'hostile input and secrets, in every room',
  support: 'what the tests share, and the scripts of CI',
};

/** Every folder below a folder of the repository. */
function foldersBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(join(root, folder), join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

const roomFolders = foldersBelow('src');

function strangers(testFolders: readonly string[]): string[] {
  return testFolders.filter((folder) => !roomFolders.includes(folder) && others[folder] === undefined);
}

describe('the folders of the unit tests', () => {
  const testFolders = foldersBelow('test/unit');

  it('are folders of src, but for a few that are listed here', () => {
    expect(testFolders.length).toBeGreaterThan(60);
    expect(strangers(testFolders)).toEqual([]);
  });

  it('are found where they stand for no room', () => {
    expect(strangers(['status/sync', 'support', 'support/ci', 'attic', 'scheduler/leader'])).toEqual([
      'support/ci',
      'attic',
      'scheduler/leader',
    ]);
  });

  it('are listed only where they are there, and are not folders of src', () => {
    expect(Object.keys(others).filter((folder) => !testFolders.includes(folder) || roomFolders.includes(folder))).toEqual([]);
  });
});
