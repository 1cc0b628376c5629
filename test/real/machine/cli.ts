// `npm run machine -- up`: a machine with systemd and cgroups of version 2, by hand. See test/peers/node-machine/README.md.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from '../../structure/source-tree.ts';
import { isAlive } from '../../support/is-alive.ts';
import { type DoorCommand, insideCommand, outsideCommand } from './support/machine-door.ts';
import { NodeMachine } from './support/node-machine.ts';
import { whyNoMachine } from './support/why-no-machine.ts';

const help = `Usage: npm run machine -- COMMAND [options]
  up                     boots a machine that stays up, with this checkout and the user's cache inside at the same paths
  run COMMAND...         inside, as root, in this folder and with this PATH; its exit code is this one's
  outside COMMAND...     on this machine, in the network of that one: it is 10.0.2.1 there, the machine is 10.0.2.2
  reboot [--cut]         boots again from the same disk, in order or as when the power fails
  down                   ends it, with its disk
Options, before the COMMAND of run and outside:
  --folder DIR           the folder of the machine (default: one for each checkout, in the temporary folder)
  --share DIR            up: one more folder that is seen inside at the same path
  --memory SIZE          up: as User-Mode Linux takes it (default 2G)`;

const options = {
  folder: { type: 'string', default: join(tmpdir(), `machine-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`) },
  share: { type: 'string', multiple: true },
  memory: { type: 'string', default: '2G' },
  cut: { type: 'boolean', default: false },
} as const;

/** The file that says which process keeps the machine, and which holds its network. */
function keeperFile(folder: string): string {
  return join(folder, 'keeper.json');
}

interface Keeper {
  readonly pid: number;
  readonly networkPid: number;
}

async function keeperOf(folder: string): Promise<Keeper | undefined> {
  const text = await readFile(keeperFile(folder), 'utf8').catch(() => undefined);
  const keeper: Keeper | undefined = text === undefined ? undefined : JSON.parse(text);
  return keeper !== undefined && isAlive(keeper.pid) && isAlive(keeper.networkPid) ? keeper : undefined;
}

/** The process that a machine by hand ends with: it starts it, and waits for signals. */
async function keep(folder: string, memory: string, share: readonly string[]): Promise<void> {
  const cache = process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '/root', '.cache');
  const machine = await NodeMachine.start({ folder, memory, shared: [root, cache, ...share] });
  const keeper: Keeper = { pid: process.pid, networkPid: machine.networkPid };
  await writeFile(`${keeperFile(folder)}.part`, JSON.stringify(keeper));
  await rename(`${keeperFile(folder)}.part`, keeperFile(folder));
  const reboot = (cut: boolean): void => {
    const answer = (text: string): Promise<void> => writeFile(answerFile(folder), text);
    machine.reboot({ cut }).then(
      () => answer(''),
      (error: Error) => answer(error.message),
    );
  };
  process.on('SIGUSR1', () => reboot(false)).on('SIGUSR2', () => reboot(true));
  const alive = setInterval(() => {}, 60_000);
  process.once('SIGTERM', async () => {
    await machine.stop();
    await rm(folder, { recursive: true, force: true });
    clearInterval(alive);
    process.exit(0);
  });
}

/** Gets what became of a reboot: nothing, or what went wrong. */
function answerFile(folder: string): string {
  return join(folder, 'rebooted');
}

async function up(folder: string, memory: string, share: readonly string[]): Promise<void> {
  if ((await keeperOf(folder)) !== undefined) throw new Error(`it is up already, in ${folder}`);
  const reason = await whyNoMachine();
  if (reason !== undefined) throw new Error(`there can be none here: ${reason}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const log = await open(join(folder, 'keeper.log'), 'a');
  const args = ['keep', '--folder', folder, '--memory', memory, ...share.flatMap((path) => ['--share', path])];
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  while (!existsSync(keeperFile(folder))) {
    if (child.exitCode !== null) throw new Error(await readFile(join(folder, 'keeper.log'), 'utf8'));
    await delay(100);
  }
  child.unref();
  console.log(`up in ${folder}: npm run machine -- run COMMAND`);
}

async function reboot(folder: string, keeper: Keeper, cut: boolean): Promise<void> {
  await rm(answerFile(folder), { force: true });
  process.kill(keeper.pid, cut ? 'SIGUSR2' : 'SIGUSR1');
  while (!existsSync(answerFile(folder))) {
    if (!isAlive(keeper.pid)) throw new Error('the machine has ended');
    await delay(100);
  }
  const wrong = await readFile(answerFile(folder), 'utf8');
  if (wrong !== '') throw new Error(wrong);
}

async function down(keeper: Keeper): Promise<void> {
  process.kill(keeper.pid, 'SIGTERM');
  while (isAlive(keeper.pid)) await delay(100);
}

/** Runs a command with this process's input and output, and ends with its exit code. */
async function through({ program, args }: DoorCommand): Promise<void> {
  const child = spawn(program, [...args], { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  process.exitCode = code ?? 1;
}

async function main(args: readonly string[]): Promise<void> {
  // what follows the command of run and outside is its own
  const at = args.findIndex((word) => word === 'run' || word === 'outside');
  const command = at === -1 ? [] : args.slice(at + 1);
  const { values, positionals } = parseArgs({
    args: at === -1 ? [...args] : args.slice(0, at + 1),
    options,
    allowPositionals: true,
  });
  const [what, ...rest] = positionals;
  const { memory, share = [], cut } = values;
  const folder = resolve(values.folder);
  if (rest.length > 0 || what === undefined || (at !== -1 && command.length === 0)) throw new Error(help);
  if (what === 'up') return up(folder, memory, share);
  if (what === 'keep') return keep(folder, memory, share);
  const keeper = await keeperOf(folder);
  if (what === 'down') return keeper === undefined ? undefined : down(keeper);
  if (keeper === undefined) throw new Error(`it is not up in ${folder}: npm run machine -- up`);
  // npm starts this in the checkout, and tells where it was called itself
  const cwd = process.env.INIT_CWD ?? process.cwd();
  if (what === 'run') return through(insideCommand(folder, command, { cwd, env: { PATH: process.env.PATH ?? '' } }));
  if (what === 'outside') return through(outsideCommand(keeper.networkPid, command));
  if (what === 'reboot') return reboot(folder, keeper, cut);
  throw new Error(help);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
