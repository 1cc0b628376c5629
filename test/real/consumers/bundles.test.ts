import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { consumerAt } from '../../package/consumer.ts';
import { root } from '../../structure/source-tree.ts';
import { type Outfiles, rollUp } from './roll-up.ts';
import { entryPointNames, nodeOf } from './tools.ts';

const consumer = consumerAt(inject('consumerFolder'));
const folder = join(consumer.folder, 'bundles');

/** What the CommonJS packages in an ESM bundle of esbuild need: docs/installation.md says so. */
const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };

const formats = ['esm', 'cjs'] as const;
const bundlers: Readonly<Record<string, (entry: string, outfiles: Outfiles) => Promise<void>>> = {
  async esbuild(entry, outfiles) {
    for (const format of formats) {
      const options = { entryPoints: [entry], outfile: outfiles[format], format, banner: format === 'esm' ? banner : {} };
      const { warnings } = await build({ ...options, bundle: true, platform: 'node', target: 'node22' });
      expect(warnings).toEqual([]);
    }
  },
  rollup: rollUp,
};

/** A bundle may load all of undici at once, which has a warning of the older Node about its SQLite. */
const quiet = ['--disable-warning=ExperimentalWarning'];
/** What each entry prints without a bundler. */
const names = new Map<string, string>();
const entries = entryPointNames.map((name) => ({ name, entry: `${name.replace(/\W+/g, '-')}.js` }));
const cases = Object.keys(bundlers).flatMap((bundler) => entries.map((entry) => ({ bundler, ...entry })));

beforeAll(async () => {
  await consumer.write('bundles/package.json', JSON.stringify({ type: 'module' }));
  for (const { name, entry } of entries) {
    const code = `import * as entryPoint from '${name}';\nconsole.log(Object.keys(entryPoint).sort().join());\n`;
    await consumer.write(join('bundles', entry), code);
    const { stdout } = await consumer.run(nodeOf(24), [entry], 'bundles');
    expect(stdout.length).toBeGreaterThan(1);
    names.set(entry, stdout);
  }
  const example = readFileSync(join(root, 'test/real/consumers/fixture/first-run.cjs'), 'utf8');
  await consumer.write(
    'bundles/first-run.js',
    example.replace(/const (\{.*\}) = require\(('.*')\);/g, 'import $1 from $2;').replace(/ {2}for \([\s\S]*?\n {2}\}\n/, ''),
  );
});

async function bundle(bundler: string, entry: string): Promise<Outfiles> {
  const [esm, cjs] = ['mjs', 'cjs'].map((extension) => join(folder, `${bundler}-${entry.replace(/js$/, extension)}`));
  const outfiles = { esm: esm ?? '', cjs: cjs ?? '' };
  await bundlers[bundler]?.(join(folder, entry), outfiles);
  return outfiles;
}

describe.each(cases)('a bundle of $name by $bundler', ({ bundler, entry }) => {
  let outfiles: Outfiles;
  beforeAll(async () => {
    outfiles = await bundle(bundler, entry);
  });

  it.each(formats)('runs as %s, and has every name', async (format) => {
    const { code, stdout, stderr } = await consumer.run(nodeOf(22), [...quiet, outfiles[format]], 'bundles');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(names.get(entry));
  });
});

describe.each(Object.keys(bundlers))('a bundled agent by %s', (bundler) => {
  let outfiles: Outfiles;
  beforeAll(async () => {
    outfiles = await bundle(bundler, 'first-run.js');
  });

  it.each(formats)('writes a status as %s, and on an older Node says which version it needs', async (format) => {
    const outfile = outfiles[format];
    expect(await consumer.run(nodeOf(26), [...quiet, outfile], 'bundles')).toEqual({ code: 0, stdout: 'Running\n', stderr: '' });
    const { code, stderr } = await consumer.run(nodeOf(20), [outfile], 'bundles');
    expect(code).toBe(1);
    expect(stderr).toContain('pod-status-manager needs Node.js');
  });
});
