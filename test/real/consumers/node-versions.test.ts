import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { oldestNodeVersion } from '../../../src/base/node-version.ts';
import { consumerAt } from '../../package/consumer.ts';
import { root } from '../../structure/source-tree.ts';
import { entryPointNames, nodeOf } from './tools.ts';

const consumer = consumerAt(inject('consumerFolder'));
const copies = {
  'import-all-entry-points.js': 'test/package/fixture/import-all-entry-points.js',
  'minimal.ts': 'examples/minimal.ts',
  'first-run.cjs': 'test/real/consumers/fixture/first-run.cjs',
};

beforeAll(async () => {
  for (const [name, source] of Object.entries(copies)) await consumer.write(name, readFileSync(join(root, source), 'utf8'));
});

describe.each([22, 24, 26] as const)('Node %i', (major) => {
  const node = nodeOf(major);

  it('is that version, and the first of them the oldest that the package takes', async () => {
    const { stdout } = await consumer.run(node, ['-p', 'process.versions.node']);
    expect(stdout).toMatch(major === 22 ? `${oldestNodeVersion}.0` : new RegExp(`^${major}\\.`));
  });

  it('imports every entry point, and nothing is left behind', async () => {
    const { code, stdout, stderr } = await consumer.run(node, ['import-all-entry-points.js']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { names, before, after } = JSON.parse(stdout);
    expect(Object.keys(names)).toHaveLength(entryPointNames.length);
    expect(after).toEqual(before);
  });

  it('runs an example', async () => {
    const { code, stdout, stderr } = await consumer.run(node, ['--disable-warning=ExperimentalWarning', 'minimal.ts']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toBe('');
  });

  it('gives CommonJS every entry point by require, and the status that one sets arrives', async () => {
    const args = ['--disable-warning=ExperimentalWarning', 'first-run.cjs', ...entryPointNames];
    const { code, stdout, stderr } = await consumer.run(node, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('Running\n');
  });
});

describe('Node 20, which is too old', () => {
  const needed = `pod-status-manager needs Node.js ${oldestNodeVersion} or newer, and this is Node.js 20.`;

  it.each(entryPointNames)('is told so when it imports %s', async (name) => {
    const { code, stderr } = await consumer.run(nodeOf(20), ['--input-type=module', '-e', `import '${name}';`]);
    expect(code).toBe(1);
    expect(stderr).toContain(`StatusManagerError: ${needed}`);
  });

  it('is told so when it requires the package', async () => {
    const { code, stderr } = await consumer.run(nodeOf(20), ['-e', "require('pod-status-manager')"]);
    expect(code).toBe(1);
    expect(stderr).toContain(needed);
  });
});
