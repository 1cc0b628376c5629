import { readdirSync, readFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { consumerAt } from '../../package/consumer.ts';
import { root } from '../../structure/source-tree.ts';
import { entryPointNames, toolPath } from './tools.ts';

const consumer = consumerAt(inject('consumerFolder'));
const compilers = { '5.9': toolPath('typescript-5'), '7.0': toolPath('typescript-7') };
const resolutions = {
  node16: { module: 'node16' },
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
};
const cases = Object.entries(compilers).flatMap(([version, typescript]) =>
  Object.entries(resolutions).map(([resolution, options]) => ({ version, resolution, typescript, options })),
);
/** Every declaration file that the program reaches is checked: ours, and those of every package. */
const strict = {
  target: 'es2022',
  lib: ['es2024', 'esnext.disposable'],
  types: ['node'],
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
};

const useOfAllEntryPoints = entryPointNames
  .map(
    (name, index) =>
      `import * as entryPoint${index} from '${name}';\nexport const names${index}: string[] = Object.keys(entryPoint${index});\n`,
  )
  .join('');

beforeAll(async () => {
  for (const folder of ['types-esm', 'types-cjs']) await consumer.write(join(folder, 'all-entry-points.ts'), useOfAllEntryPoints);
  await consumer.write('types-esm/package.json', JSON.stringify({ type: 'module' }));
  await consumer.write('types-cjs/package.json', JSON.stringify({ type: 'commonjs' }));
  for (const name of readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.ts')))
    await consumer.write(join('types-esm', name), readFileSync(join(root, 'examples', name), 'utf8'));
});

describe.each(cases)('TypeScript $version with $resolution', ({ version, typescript, options }) => {
  it('is that version', () => {
    const { version: installed }: { version: string } = JSON.parse(readFileSync(join(typescript, 'package.json'), 'utf8'));
    expect(installed.startsWith(`${version}.`)).toBe(true);
  });

  it('finds no fault with the examples and all that they import', async () => {
    const check = { folder: 'types-esm', typescript };
    expect(await consumer.typeErrors({ ...strict, ...options }, check)).toEqual([]);
  });
});

describe.each(Object.entries(compilers))('TypeScript %s', (_, typescript) => {
  it('takes the imports of a CommonJS module', async () => {
    const check = { folder: 'types-cjs', typescript };
    expect(await consumer.typeErrors({ ...strict, module: 'nodenext' }, check)).toEqual([]);
  });

  it('finds a fault with a wrong use', async () => {
    await consumer.write('types-wrong/package.json', JSON.stringify({ type: 'module' }));
    await consumer.write('types-wrong/wrong.ts', "import { StatusManager } from 'pod-status-manager';\nnew StatusManager({});\n");
    const errors = await consumer.typeErrors({ ...strict, module: 'nodenext' }, { folder: 'types-wrong', typescript });
    expect(errors).toEqual([expect.stringMatching(/^wrong\.ts\(2,\d+\): error TS(?:2345|2739): .*StatusManagerOptions/)]);
  });

  it('says nothing at all where @types/ws is installed, which client-node leaves out', async () => {
    const check = { folder: 'types-esm', typescript, excuse: false };
    const options = { ...strict, module: 'nodenext' };
    expect(await consumer.typeErrors(options, check)).toEqual([expect.stringContaining("for module 'ws'.")]);
    const installed = join(consumer.folder, 'node_modules', '@types', 'ws');
    await cp(toolPath('@types', 'ws'), installed, { recursive: true });
    try {
      expect(await consumer.typeErrors(options, check)).toEqual([]);
    } finally {
      await rm(installed, { recursive: true });
    }
  });
});
