import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { oldestNodeVersion } from '../../src/base/node-version.ts';
import { entryPoints as entryPointNames } from './rooms.ts';
import { root } from './source-tree.ts';

interface PackageJson {
  readonly version: string;
  readonly license: string;
  readonly type: string;
  readonly sideEffects: readonly string[];
  readonly repository: { readonly type: string; readonly url: string };
  readonly bugs: { readonly url: string };
  readonly homepage: string;
  readonly publishConfig: Readonly<Record<string, unknown>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
/** Of this package, and of the folders whose tools have one of their own. */
const lockFiles = globSync('{.,*,*/*}/package-lock.json', { cwd: root, exclude: (path) => path.includes('node_modules') }).sort();
const packageJson: PackageJson = JSON.parse(read('package.json'));
const entryPoints = Object.entries(packageJson.exports).filter(([entryPoint]) => entryPoint !== './package.json');

describe('package.json', () => {
  it.each(entryPoints)('gives the entry point %s the types and the code of one source file', (entryPoint, target) => {
    const name = entryPoint === '.' ? 'index' : entryPoint.slice(2);
    expect(target).toEqual({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
    expect(existsSync(join(root, 'src', `${name}.ts`))).toBe(true);
  });

  it('has exactly the entry points on the list', () => {
    const paths = entryPointNames.map((name) => (name === 'index' ? '.' : `./${name}`));
    expect(Object.keys(packageJson.exports)).toEqual([...paths, './package.json']);
  });

  it('is ESM for the Node that client-node needs', () => {
    expect(packageJson).toMatchObject({ type: 'module', engines: { node: `>=${oldestNodeVersion}` } });
  });

  it('has the check of that version as its only side effect, which a bundler keeps for each entry point', () => {
    expect(packageJson.sideEffects).toEqual([...entryPointNames, 'base/node-version'].map((name) => `./dist/${name}.js`));
  });

  it('packs dist, and no sources or tests', () => {
    expect(packageJson.files).toContain('dist');
    expect(packageJson.files.filter((entry) => /^(?:src|test|bench|\.|\*)/.test(entry))).toEqual([]);
  });

  it('names one repository: where it is, where its bugs go, and its home page', () => {
    const [, address = ''] = packageJson.repository.url.match(/^git\+(https:\/\/github\.com\/[\w.-]+\/[\w.-]+)\.git$/) ?? [];
    expect(packageJson).toMatchObject({
      repository: { type: 'git', url: `git+${address}.git` },
      bugs: { url: `${address}/issues` },
      homepage: `${address}#readme`,
    });
  });

  it('is published with provenance, which only the release workflow can give', () => {
    expect(packageJson.publishConfig).toEqual({ access: 'public', provenance: true });
  });

  it('has every peer dependency in the range it is tested with, and only client-node for all', () => {
    const { dependencies, devDependencies, peerDependencies, peerDependenciesMeta = {} } = packageJson;
    const names = Object.keys(peerDependencies);
    expect(peerDependencies).toEqual(Object.fromEntries(names.map((name) => [name, devDependencies[name]])));
    expect(names.filter((name) => name in dependencies)).toEqual([]);
    expect(names.filter((name) => peerDependenciesMeta[name]?.optional !== true)).toEqual(['@kubernetes/client-node']);
  });

  it('names the licence Apache-2.0, as LICENSE does', () => {
    expect(packageJson.license).toBe('Apache-2.0');
    expect(read('LICENSE')).toMatch(/^\s*Apache License\s+Version 2\.0, January 2004/);
  });
});

describe('package-lock.json', () => {
  const lock: { packages: Record<string, Record<string, unknown>> } = JSON.parse(read('package-lock.json'));

  it.each(lockFiles)('%s names no registry', (path) => {
    const text = read(path);
    expect(Object.keys(JSON.parse(text).packages).length).toBeGreaterThan(5);
    expect(text).not.toMatch(/"resolved"|https?:\/\/[^"]*\.tgz/);
  });

  it.each(lockFiles)('%s has the optional packages of every platform, without which npm ci refuses it', (path) => {
    const { packages }: { packages: Record<string, { optionalDependencies?: object }> } = JSON.parse(read(path));
    const names = new Set(Object.keys(packages).map((place) => place.replace(/^.*node_modules\//, '')));
    const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies));
    expect(optional.filter((name) => !names.has(name))).toEqual([]);
  });

  it('agrees with package.json', () => {
    const { version, dependencies, devDependencies, peerDependencies } = packageJson;
    expect(lock.packages['']).toMatchObject({ version, dependencies, devDependencies, peerDependencies });
  });

  it('pins every package by its digest', () => {
    const unpinned = Object.entries(lock.packages).filter(
      ([path, { integrity }]) => path !== '' && typeof integrity !== 'string',
    );
    expect(unpinned.map(([path]) => path)).toEqual([]);
  });
});
