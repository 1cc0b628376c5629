import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../structure/source-tree.ts';

export interface Ended {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A user's empty project with the packed library and its peer dependencies installed, the optional ones too. */
export interface Consumer {
  readonly folder: string;
  /** The folder of the installed library. */
  readonly packageFolder: string;
  write(name: string, text: string): Promise<void>;
  /** Runs this Node in the project's folder, and kills it after a minute. */
  node(...args: readonly string[]): Promise<Ended>;
  /** Runs a program in a folder of the project, and kills it after two minutes. */
  run(program: string, args: readonly string[], folder?: string): Promise<Ended>;
  /** The compiler's messages about the project's files and what they import, but for the one that is excused. */
  typeErrors(compilerOptions: object, choice?: TypeCheck): Promise<string[]>;
  remove(): Promise<void>;
}

export interface TypeCheck {
  /** The folder of the project with the files; default: the project's own. */
  readonly folder?: string;
  /** The folder of the TypeScript package; default: the one of this repository. */
  readonly typescript?: string;
  /** False: the one excused message counts too. */
  readonly excuse?: boolean;
}

const require = createRequire(import.meta.url);
const ownTypescript = dirname(require.resolve('typescript/package.json'));
const { peerDependencies }: { peerDependencies: object } = require(join(root, 'package.json'));

/**
 * The one message that is no fault of ours or the user's: client-node needs isomorphic-ws, whose types import those of ws, and
 * neither depends on @types/ws. A user who installs @types/ws has no message at all.
 */
const excused = /^\S*node_modules\/isomorphic-ws\/index\.d\.ts\(\d+,\d+\): error TS7016: .* for module 'ws'\./;

/**
 * The environment without the variables that npm sets for scripts: the npm started here works on another project. Programs
 * write without colours, which some of them would use wherever `CI` is set.
 */
function environment(): NodeJS.ProcessEnv {
  const foreign =
    /^(?:npm_(?:package|lifecycle|execpath|command)|npm_config_(?:local_prefix|ignore_scripts|dry_run|json)$|INIT_CWD$|VITEST|NODE_OPTIONS$|NODE_ENV$|FORCE_COLOR$)/i;
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))), NO_COLOR: '1' };
}

function run(command: string, args: readonly string[], cwd: string, timeout = 60_000): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env: environment(), timeout, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal ?? 'unknown') : 0, stdout, stderr });
    });
  });
}

async function mustRun(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, cwd, 110_000);
  if (code !== 0) throw new Error(`\`${command} ${args.join(' ')}\` in ${cwd} ended with ${code}\n${stdout}\n${stderr}`);
}

/** What an embedder has beside the library, as NAME@VERSION of this repository: its peers, and the SDK behind the API of OpenTelemetry. */
function installedPeers(): string[] {
  return [...Object.keys(peerDependencies), '@opentelemetry/sdk-metrics'].map((name) => {
    const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    return `${name}@${version}`;
  });
}

/** The project of a user in a folder where `createConsumer` has been. */
export function consumerAt(folder: string): Consumer {
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  };
  return {
    folder,
    packageFolder: join(folder, 'node_modules', 'pod-status-manager'),
    write,
    node: (...args) => run(process.execPath, args, folder),
    run: (program, args, inside = '.') => run(program, args, join(folder, inside), 120_000),
    async typeErrors(compilerOptions, { folder: inside = '.', typescript = ownTypescript, excuse = true } = {}) {
      const tsconfig = {
        compilerOptions: { ...compilerOptions, allowImportingTsExtensions: true, noEmit: true },
        include: ['*.ts', 'examples/**/*.ts'],
      };
      await write(join(inside, 'tsconfig.json'), JSON.stringify(tsconfig));
      const args = [join(typescript, 'bin', 'tsc'), '--pretty', 'false', '-p', 'tsconfig.json'];
      const { code, stdout, stderr } = await run(process.execPath, args, join(folder, inside), 120_000);
      const messages = stdout.split(/\n(?!\s)/).filter((message) => message !== '');
      if ((code === 0) !== (messages.length === 0)) throw new Error(`tsc ended with ${code}\n${stdout}\n${stderr}`);
      return messages.filter((message) => !(excuse && excused.test(message)));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Packs the library, which was built before the tests, and installs the tarball, from npm's cache where it can. */
export async function createConsumer(): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'pod-status-manager-consumer-'));
  const consumer = consumerAt(folder);
  await consumer.write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  await mustRun('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], root);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack wrote no tarball');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await mustRun('npm', ['install', ...quiet, `./${tarball}`, ...installedPeers()], folder);
  return consumer;
}
