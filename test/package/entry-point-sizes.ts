import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';

export interface EntryPointSize {
  /** As in `exports`: `.`, `./node`. */
  readonly entryPoint: string;
  /** The files of `dist` that the entry point imports, itself included. */
  readonly files: number;
  /** Bytes of these, minified and gzipped. */
  readonly own: number;
  /** Bytes with the packages of `dependencies` that they import; peer dependencies are the user's. */
  readonly withDependencies: number;
}

export interface TarballSize {
  readonly files: number;
  readonly packed: number;
  readonly unpacked: number;
}

interface PackageJson {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const readPackageJson = (folder: string): PackageJson => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The entry points of a package, each with the file of code behind it. */
export function codeEntryPoints(packageFolder: string): { readonly entryPoint: string; readonly file: string }[] {
  return Object.entries(readPackageJson(packageFolder).exports).flatMap(([entryPoint, target]) =>
    typeof target === 'string' ? [] : [{ entryPoint, file: target.default }],
  );
}

interface Bundled {
  readonly bytes: number;
  readonly files: number;
}

async function bundled(folder: string, file: string, options: Omit<BuildOptions, 'write' | 'metafile'>): Promise<Bundled> {
  const { outputFiles, metafile } = await build({
    ...options,
    absWorkingDir: folder,
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'error',
  });
  return { bytes: gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length, files: Object.keys(metafile.inputs).length };
}

/** The size of each entry point of a package that is built and has its dependencies installed. */
export async function entryPointSizes(packageFolder: string): Promise<EntryPointSize[]> {
  const peers = Object.keys(readPackageJson(packageFolder).peerDependencies);
  const sizes: EntryPointSize[] = [];
  for (const { entryPoint, file } of codeEntryPoints(packageFolder)) {
    const own = await bundled(packageFolder, file, { packages: 'external' });
    const all = await bundled(packageFolder, file, { external: peers });
    sizes.push({ entryPoint, files: own.files, own: own.bytes, withDependencies: all.bytes });
  }
  return sizes;
}

/** What `npm pack` would write of a package that is built. */
export async function tarballSize(packageFolder: string): Promise<TarballSize> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: packageFolder, maxBuffer: 64 << 20 });
  const [report]: { size: number; unpackedSize: number; entryCount: number }[] = JSON.parse(stdout);
  if (report === undefined) throw new Error('npm pack reported nothing');
  return { files: report.entryCount, packed: report.size, unpacked: report.unpackedSize };
}
