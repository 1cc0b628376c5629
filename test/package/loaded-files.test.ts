import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../structure/source-tree.ts';
import { codeEntryPoints } from './entry-point-sizes.ts';

interface PackageJson {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const { dependencies, peerDependenciesMeta = {} }: PackageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entryPoints = codeEntryPoints(root).map(({ entryPoint }) => entryPoint);
/** The only entry points that may load these packages. prom-client itself depends on @opentelemetry/api. */
const guests: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/protobuf': ['./cri', './plugins'],
  '@grpc/grpc-js': ['./plugins'],
  '@peculiar/asn1-csr': ['./certificates'],
  '@peculiar/asn1-schema': ['./certificates'],
  '@peculiar/asn1-x509': ['./certificates'],
  'dbus-native': ['./systemd'],
  'prom-client': ['./prometheus'],
  '@opentelemetry/api': ['./opentelemetry', './prometheus'],
  '@kubernetes/client-node': ['./testing'],
};

interface Loaded {
  /** Files of `dist`, as `testing/fakes/fake-clock.js`. */
  readonly files: readonly string[];
  /** Packages by name, with all that those load. */
  readonly packages: readonly string[];
}

/** What a fresh process loads for an entry point of the built package, packages that packages load included. */
async function loadedBy(entryPoint: string): Promise<Loaded> {
  const args = [join(root, 'test/package/fixture/loaded-by.js'), posix.join('pod-status-manager', entryPoint)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 64 << 20 });
  const urls: string[] = JSON.parse(stdout);
  const files = urls.flatMap((url) => url.split(/\/dist\/(?!.*node_modules)/)[url.includes('/node_modules/') ? 2 : 1] ?? []);
  const packages = urls.flatMap((url) => url.match(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []);
  return { files: [...new Set(files)], packages: [...new Set(packages)].sort() };
}

const withoutGuests = entryPoints.filter((entryPoint) => !Object.values(guests).flat().includes(entryPoint));

describe.each(entryPoints)('the entry point %s', (entryPoint) => {
  let loaded: Loaded;
  beforeAll(async () => {
    loaded = await loadedBy(entryPoint);
  });

  it('is loaded from dist', () => {
    expect(loaded.files).toContain(entryPoint === '.' ? 'index.js' : `${entryPoint.slice(2)}.js`);
  });

  it('loads nothing of the entry point ./testing', () => {
    const strays = loaded.files.filter((file) => /^testing(?:\/|\.js$)/.test(file));
    if (entryPoint === './testing') expect(strays.length).toBeGreaterThan(1);
    else expect(strays).toEqual([]);
  });

  it('loads no library of metrics, no client and no gRPC that the user has not asked for', () => {
    const uninvited = Object.keys(guests).filter((name) => !guests[name]?.includes(entryPoint));
    const isGRPC = (name: string): boolean => name.includes('grpc') || name.includes('protobuf');
    expect(
      loaded.packages.filter(
        (name) => uninvited.includes(name) || (!['./cri', './plugins'].includes(entryPoint) && isGRPC(name)),
      ),
    ).toEqual([]);
  });

  if (withoutGuests.includes(entryPoint))
    it('has no guests: it loads only packages of `dependencies`, and the one that fast-json-patch needs', () => {
      expect(loaded.packages.filter((name) => !(name in dependencies) && name !== 'fast-deep-equal')).toEqual([]);
    });
});

describe('the optional packages', () => {
  it('are all on the list of guests', () => {
    const optional = Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name]?.optional);
    expect(optional.filter((name) => guests[name] === undefined)).toEqual([]);
  });
});
