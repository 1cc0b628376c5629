import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { goTool } from '../../support/go-tools.ts';
import { tempDir } from '../../support/temp-dir.ts';

const folder = join(root, '.github', 'workflows');
let actionlint: string;

beforeAll(async () => {
  actionlint = await goTool('actionlint');
});

/** What actionlint says of workflow files, one line a fault. It is told of no shellcheck, which another machine may not have. */
function lint(...files: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const args = ['-no-color', '-oneline', '-shellcheck=', '-pyflakes=', ...files];
    execFile(actionlint, args, { cwd: root }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

describe('the workflows', () => {
  it('have no fault that actionlint finds', async () => {
    const files = await readdir(folder);
    expect(files.sort()).toEqual(['ci.yml', 'release.yml']);
    expect(await lint(...files.map((file) => join(folder, file)))).toBe('');
  });

  it('would be found to have one', async () => {
    const broken = join(await tempDir(), 'release.yml');
    const text = await readFile(join(folder, 'release.yml'), 'utf8');
    await writeFile(broken, text.replace('needs: checks', 'needs: check'));
    expect(await lint(broken)).toContain('needs job "check" which does not exist');
  });

  it('name each action by a commit, which nobody can move, and keep no password on disk', async () => {
    const texts = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')));
    const text = texts.join('\n');
    const actions = [...text.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action = '']) => action);
    expect(actions.length).toBeGreaterThan(5);
    expect(actions.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
    expect(text.match(/actions\/checkout@/g)).toHaveLength(text.match(/persist-credentials: false/g)?.length ?? 0);
  });
});
