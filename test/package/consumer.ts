import { execFile } from 'node:child_process';
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

/** A user's empty project with the packed library and its peer dependency installed. */
export interface Consumer {
  readonly folder: string;
  /** The folder of the installed library. */
  readonly packageFolder: string;
  write(name: string, text: string): Promise<void>;
  /** Runs Node in the project's folder, and kills it after a minute. */
  node(...args: readonly string[]): Promise<Ended>;
  /** The compiler's messages about the project's files and the library's declarations under these options. */
  typeErrors(compilerOptions: object): Promise<string[]>;
  remove(): Promise<void>;
}

const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const peer = '@kubernetes/client-node';

/** The environment without the variables that npm sets for scripts: the npm started here works on another project. */
function environment(): NodeJS.ProcessEnv {
  const foreign =
    /^(?:npm_(?:package|lifecycle|execpath|command)|npm_config_(?:local_prefix|ignore_scripts|dry_run|json)$|INIT_CWD$|VITEST|NODE_OPTIONS$|NODE_ENV$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
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

/** Packs the library, which was built before the tests, and installs the tarball, from npm's cache where it can. */
export async function createConsumer(): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'pod-status-manager-consumer-'));
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  };
  await write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  await mustRun('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], root);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack wrote no tarball');
  const { version }: { version: string } = require(join(root, 'node_modules', peer, 'package.json'));
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await mustRun('npm', ['install', ...quiet, `./${tarball}`, `${peer}@${version}`], folder);
  return {
    folder,
    packageFolder: join(folder, 'node_modules', 'pod-status-manager'),
    write,
    node: (...args) => run(process.execPath, args, folder),
    async typeErrors(compilerOptions) {
      await write(
        'tsconfig.json',
        JSON.stringify({ compilerOptions: { ...compilerOptions, noEmit: true }, include: ['*.ts', 'examples/**/*.ts'] }),
      );
      const { code, stdout, stderr } = await run(process.execPath, [tsc, '--pretty', 'false', '-p', 'tsconfig.json'], folder);
      const messages = stdout.split(/\n(?!\s)/).filter((message) => message !== '');
      if ((code === 0) !== (messages.length === 0)) throw new Error(`tsc ended with ${code}\n${stdout}\n${stderr}`);
      // client-node's own dependencies do not pass a strict compiler
      return messages.filter((message) => !/^node_modules\/(?!pod-status-manager\/)/.test(message));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
