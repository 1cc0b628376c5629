import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { consumerAt, type Ended } from '../../package/consumer.ts';
import { root } from '../../structure/source-tree.ts';
import { nodeOf, toolPath } from './tools.ts';

const consumer = consumerAt(inject('consumerFolder'));
const esm = readFileSync(join(root, 'test/real/consumers/fixture/agent.test.js'), 'utf8');
/** The same for CommonJS. */
const cjs = esm.replace(/^import (\{.*\}) from ('.*');$/gm, 'const $1 = require($2);');
/** A test that fails, to see that the runner runs what it is given. */
const broken = (code: string): string => code.replace("toBe('Running')", "toBe('Pending')");

/** Jest runs ES modules with this flag; with it and Node 24.9 or newer, its `require` gives them to CommonJS as well. */
const jestArgs = ['--experimental-vm-modules', toolPath('jest', 'bin', 'jest.js'), '--ci'];
const vitestArgs = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--globals', '--root', '.'];

const projects = [
  { runner: 'Jest', modules: 'module', major: 22, args: jestArgs },
  { runner: 'Jest', modules: 'module', major: 26, args: jestArgs },
  { runner: 'Jest', modules: 'commonjs', major: 24, args: jestArgs },
  { runner: 'Jest', modules: 'commonjs', major: 26, args: jestArgs },
  { runner: 'vitest', modules: 'module', major: 22, args: vitestArgs },
  { runner: 'vitest', modules: 'module', major: 26, args: vitestArgs },
] as const;

beforeAll(async () => {
  for (const modules of ['module', 'commonjs']) {
    const code = modules === 'module' ? esm : cjs;
    for (const [folder, text] of [
      [`tests-${modules}`, code],
      [`broken-tests-${modules}`, broken(code)],
    ] as const) {
      await consumer.write(join(folder, 'package.json'), JSON.stringify({ type: modules }));
      await consumer.write(join(folder, 'agent.test.js'), text);
    }
  }
});

describe.each(projects)("a user's test with $runner on Node $major, type $modules", ({ modules, major, args }) => {
  const runIn = (folder: string): Promise<Ended> => consumer.run(nodeOf(major), args, folder);
  const passes = /^\s*Tests:?\s+1 passed/m;

  it('passes', async () => {
    const { code, stdout, stderr } = await runIn(`tests-${modules}`);
    expect({ code, passed: passes.test(stdout + stderr), output: stdout + stderr }).toMatchObject({ code: 0, passed: true });
  });

  it('fails when it should', async () => {
    const { code, stdout, stderr } = await runIn(`broken-tests-${modules}`);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('Pending');
  });
});
