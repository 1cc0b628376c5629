import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doors as namesOfDoors } from './rooms.ts';
import { root } from './source-tree.ts';

interface PackageJson {
  readonly license: string;
  readonly type: string;
  readonly sideEffects: boolean;
  readonly engines: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const packageJson: PackageJson = JSON.parse(read('package.json'));
const doors = Object.entries(packageJson.exports).filter(([door]) => door !== './package.json');

describe('package.json', () => {
  it.each(doors)('opens the door %s to types and code of one source file', (door, target) => {
    const name = door === '.' ? 'index' : door.slice(2);
    expect(target).toEqual({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
    expect(existsSync(join(root, 'src', `${name}.ts`))).toBe(true);
  });

  it('opens exactly the doors on the list', () => {
    const paths = namesOfDoors.map((name) => (name === 'index' ? '.' : `./${name}`));
    expect(Object.keys(packageJson.exports)).toEqual([...paths, './package.json']);
  });

  it('is ESM without side effects, for the Node that client-node needs', () => {
    expect(packageJson).toMatchObject({ type: 'module', sideEffects: false, engines: { node: '>=22.19' } });
  });

  it('packs dist, and no sources or tests', () => {
    expect(packageJson.files).toContain('dist');
    expect(packageJson.files.filter((entry) => /^(?:src|test|bench|examples|\.|\*)/.test(entry))).toEqual([]);
  });

  it('has client-node as a peer dependency, in the range it is tested with, and what a door alone needs as optional ones', () => {
    const { '@kubernetes/client-node': clientNode, ...others } = packageJson.peerDependencies;
    expect(clientNode).toBe(packageJson.devDependencies['@kubernetes/client-node']);
    expect(Object.keys(others)).toEqual(['@opentelemetry/api', 'prom-client']);
    expect(packageJson.peerDependenciesMeta).toEqual(
      Object.fromEntries(Object.keys(others).map((name) => [name, { optional: true }])),
    );
    expect(packageJson.dependencies).not.toHaveProperty('@kubernetes/client-node');
  });

  it('names the licence Apache-2.0, as LICENSE does', () => {
    expect(packageJson.license).toBe('Apache-2.0');
    expect(read('LICENSE')).toMatch(/^\s*Apache License\s+Version 2\.0, January 2004/);
  });
});

describe('package-lock.json', () => {
  const lock: { packages: Record<string, Record<string, unknown>> } = JSON.parse(read('package-lock.json'));

  it('names no registry', () => {
    expect(Object.keys(lock.packages).length).toBeGreaterThan(50);
    expect(read('package-lock.json')).not.toMatch(/"resolved"|https?:\/\/[^"]*\.tgz/);
  });

  it('agrees with package.json', () => {
    const { dependencies, devDependencies, peerDependencies } = packageJson;
    expect(lock.packages['']).toMatchObject({ dependencies, devDependencies, peerDependencies });
  });

  it('pins every package by its digest', () => {
    const unpinned = Object.entries(lock.packages).filter(
      ([path, { integrity }]) => path !== '' && typeof integrity !== 'string',
    );
    expect(unpinned.map(([path]) => path)).toEqual([]);
  });
});
