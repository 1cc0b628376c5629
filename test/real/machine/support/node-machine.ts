import { type ChildProcess, execFile, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../../../structure/source-tree.ts';
import { type DoorCommand, insideCommand, linkOptions, linkSocket, outsideCommand } from './machine-door.ts';
import { Relay } from './relay.ts';

const scripts = fileURLToPath(new URL('../../../peers/node-machine/', import.meta.url));

/** How long a boot may take on a machine that has much else to do. */
const bootLimitMs = 180_000;

export interface NodeMachineOptions {
  /** As User-Mode Linux takes it. Default: `2G`. Only what is used is taken from this machine. */
  readonly memory?: string;
  /** Folders of this machine that are seen inside at the same paths, and can be written. Default: the checkout and the user's cache. */
  readonly shared?: readonly string[];
  /** The folder of the run, which holds the disk. Its path must be short. Default: a new one, which {@link NodeMachine.stop} removes. */
  readonly folder?: string;
  /** A machine that is up: the new one is reached from it, and what is outside for it is outside for the new one, too. */
  readonly beside?: NodeMachine;
  /** What is outside for the machine. Default: a network of its own. */
  readonly outside?: OutsideNetwork;
  /** Ends the start. */
  readonly signal?: AbortSignal;
}

/** A network of this machine that a process holds. */
export interface OutsideNetwork {
  readonly pid: number;
  /** The addresses of the machine's pods, which are then reached from it. */
  readonly podRange: string;
}

export interface MachineCommandOptions {
  /** Default: the first of the shared folders. */
  readonly cwd?: string;
  /** Inside, a command has no other variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: no input, and the output goes where that of this process goes. */
  readonly stdio?: StdioOptions;
}

/** What a command did. */
export interface EndedCommand {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A Debian with systemd as its process 1 and cgroups of version 2 alone, also where there is no KVM: see
 * test/peers/node-machine/README.md. Each has a disk, processes and a network of its own, so several may be up at once. It ends
 * with the process that started it. Inside it has the address 10.0.2.2; what runs outside in its network has 10.0.2.1. One that
 * was started beside it has 10.0.3.2, and 10.0.3.1 outside.
 */
export class NodeMachine {
  /** The folder of the run: the disk, and `console.log`. */
  readonly folder: string;
  /** Its host name: `node-machine`, and `node-machine-2` beside it. */
  readonly name: string;
  /** Its own address. */
  readonly address: string;
  readonly #made: boolean;
  readonly #memory: string;
  readonly #shared: readonly string[];
  readonly #key: string;
  readonly #links: Links;
  readonly #link: number;
  /** What is offered inside, again after each boot: ports of this machine, each with the socket of its relay. */
  readonly #offers = new Map<number, Relay>();
  /** What was started outside and has not ended. It would keep this process alive. */
  readonly #outside = new Set<ChildProcess>();
  #network: ChildProcess | undefined;
  #machine: ChildProcess | undefined;
  #connection: ChildProcess | undefined;

  private constructor(
    folder: string,
    key: string,
    shared: readonly string[],
    { memory = '2G', folder: given, beside }: NodeMachineOptions,
  ) {
    this.folder = folder;
    this.#links = beside === undefined ? { next: 2 } : beside.#links;
    this.#link = this.#links.next++;
    this.name = this.#link === 2 ? 'node-machine' : `node-machine-${this.#link - 1}`;
    this.address = `10.0.${this.#link}.2`;
    this.#made = given === undefined;
    this.#memory = memory;
    this.#shared = shared;
    this.#key = key;
  }

  /** Makes the disk image where there is none, which takes a minute, and boots a copy of it. */
  static async start(options: NodeMachineOptions = {}): Promise<NodeMachine> {
    const { shared = sharedByDefault(), signal } = options;
    const [image = '', key = ''] = (await output(join(scripts, 'build.sh'), [])).trim().split(' ');
    signal?.throwIfAborted();
    if (options.folder !== undefined) await mkdir(options.folder, { recursive: true });
    const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'machine-')));
    const machine = new NodeMachine(folder, key, await Promise.all(shared.map((path) => realpath(path))), options);
    try {
      await output('cp', ['--sparse=always', image, join(folder, 'disk.img')]);
      await machine.#makeNetwork(options);
      await machine.#boot();
      await machine.#connect('', signal);
      return machine;
    } catch (error) {
      const console = await machine.console();
      await machine.stop();
      throw new Error(`the machine did not start: ${(error as Error).message}\n${console}`, { cause: error });
    }
  }

  /** The id of the process that holds the network which the machine is in. */
  get networkPid(): number {
    const pid = this.#network?.pid;
    if (pid === undefined) throw new Error('the machine has ended');
    return pid;
  }

  /** Starts a command inside, as root. The process ends with its exit code; ending the process ends it only by what it reads and writes. */
  spawn(command: readonly string[], { cwd = this.#shared[0] ?? '/', env = {}, stdio }: MachineCommandOptions = {}): ChildProcess {
    return spawned(insideCommand(this.folder, command, { cwd, env }), {}, stdio);
  }

  /** Starts a command on this machine, in the network of that one: an apiserver is far faster here. It ends with the machine. */
  spawnOutside(
    command: readonly string[],
    { cwd = this.#shared[0] ?? '/', env = {}, stdio }: MachineCommandOptions = {},
  ): ChildProcess {
    const child = spawned(outsideCommand(this.networkPid, command), { cwd, env: { ...process.env, ...env } }, stdio);
    this.#outside.add(child);
    child.once('exit', () => this.#outside.delete(child));
    return child;
  }

  /** Runs a command inside, as root. Rejects for no exit code. */
  run(command: readonly string[], options: Omit<MachineCommandOptions, 'stdio'> = {}): Promise<EndedCommand> {
    return ended(this.spawn(command, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Runs a command on this machine, in the network of that one. Rejects for no exit code. */
  runOutside(command: readonly string[], options: Omit<MachineCommandOptions, 'stdio'> = {}): Promise<EndedCommand> {
    return ended(this.spawnOutside(command, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** What a command inside wrote, without the end of its last line. Rejects when it fails. */
  async read(command: readonly string[], options: Omit<MachineCommandOptions, 'stdio'> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, options);
    if (code !== 0) throw new Error(`exit code ${code} of ${command.join(' ')} in the machine: ${stderr || stdout}`);
    return stdout.trimEnd();
  }

  /** What listens on this port of this machine's 127.0.0.1 is found inside at the same address, also after a reboot. */
  async offer(port: number): Promise<void> {
    this.#offers.set(port, await Relay.open(join(this.folder, `offer-${port}`), port));
    await this.#forwardOffer(port);
  }

  /** Makes a socket of this machine that leads to one inside, and gives its path. It is gone after a reboot. */
  async reach(inside: string): Promise<string> {
    const path = join(this.folder, `reach-${inside.replaceAll('/', '-')}`);
    await rm(path, { force: true });
    await output('ssh', [...linkOptions(this.folder), '-O', 'forward', '-L', `${path}:${inside}`, 'root@machine']);
    return path;
  }

  /**
   * Ends all that runs inside and boots again from the same disk, in the same network. As `reboot` does it, in order; `cut`: as
   * when the power fails.
   */
  async reboot({ cut = false }: { readonly cut?: boolean } = {}): Promise<void> {
    const before = await this.#bootId();
    if (cut) {
      await this.#endMachine();
      await this.#boot();
    } else {
      const { code, stderr } = await this.run(['systemctl', 'reboot'], { cwd: '/' });
      // its answer may be lost with the connection, which ssh calls 255
      if (code !== 0 && code !== 255) throw new Error(`the machine does not reboot: ${stderr}`);
    }
    await this.#connect(before);
  }

  /** The last lines of the console. */
  async console(lines = 20): Promise<string> {
    const text = await readFile(join(this.folder, 'console.log'), 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }

  /** Ends the machine at once, with its disk and what it has outside. */
  async stop(): Promise<void> {
    await this.#endMachine();
    await Promise.all([...this.#outside].map(killed));
    await killed(this.#network);
    this.#network = undefined;
    for (const relay of this.#offers.values()) relay.close();
    this.#offers.clear();
    await rm(join(this.folder, 'disk.img'), { force: true });
    if (this.#made) await rm(this.folder, { recursive: true, force: true });
  }

  async #makeNetwork({ beside, outside }: NodeMachineOptions): Promise<void> {
    const pid = beside?.networkPid ?? outside?.pid;
    const where = pid === undefined ? ['unshare', '--net'] : ['nsenter', '--target', String(pid), '--net'];
    const args = ['--pdeathsig', 'KILL', ...where, '--', join(scripts, 'link.sh'), String(this.#link)];
    if (outside !== undefined) args.push(outside.podRange);
    const network = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#network = network;
    if ((await Promise.race([once(network.stdout, 'data'), once(network, 'close')]))[0]?.toString() !== 'ready\n')
      throw new Error('it has no network');
  }

  async #boot(): Promise<void> {
    const console = await open(join(this.folder, 'console.log'), 'a');
    const namespaces = ['--pid', '--mount', '--mount-proc', '--fork', '--kill-child', '--'];
    const command = ['unshare', ...namespaces, join(scripts, 'boot.sh'), this.folder, this.#memory];
    command.push(String(this.#link), this.name);
    const { program, args } = outsideCommand(this.networkPid, command);
    this.#machine = spawn(program, args, { stdio: ['ignore', console.fd, console.fd] });
    await console.close();
  }

  /** Connects to the machine once it answers, and it is not the boot of this id that answers. */
  async #connect(notBoot: string, signal?: AbortSignal): Promise<void> {
    const end = performance.now() + bootLimitMs;
    do {
      if (this.#machine?.exitCode !== null) throw new Error('it has ended');
      if (performance.now() > end) throw new Error(`it did not answer in ${bootLimitMs} ms`);
      await killed(this.#connection);
      await delay(100, undefined, { signal });
      this.#connection = await this.#openLink();
    } while (this.#connection === undefined || (await this.#bootId()) === notBoot);
    for (const path of this.#shared)
      await this.read(['sh', '-c', 'mkdir -p "$1" && mount --bind "/outside$1" "$1"', 'sh', path], { cwd: '/' });
    for (const port of this.#offers.keys()) await this.#forwardOffer(port);
  }

  async #forwardOffer(port: number): Promise<void> {
    const socket = this.#offers.get(port)?.socket;
    await output('ssh', [...linkOptions(this.folder), '-O', 'forward', '-R', `127.0.0.1:${port}:${socket}`, 'root@machine']);
  }

  /** One connection for all commands; undefined while the machine takes none. */
  async #openLink(): Promise<ChildProcess | undefined> {
    await rm(linkSocket(this.folder), { force: true });
    const unknownHost = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'ConnectTimeout=5'];
    const ssh = [
      'ssh',
      '-q',
      '-F',
      'none',
      '-i',
      this.#key,
      '-M',
      '-N',
      '-S',
      linkSocket(this.folder),
      ...unknownHost,
      `root@${this.address}`,
    ];
    const { program, args } = outsideCommand(this.networkPid, ssh);
    const link = spawn(program, args, { stdio: 'ignore' });
    while (link.exitCode === null && link.signalCode === null) {
      if (existsSync(linkSocket(this.folder))) return link;
      await delay(20);
    }
    return undefined;
  }

  /** The id of the boot that is up; nothing while none answers. */
  async #bootId(): Promise<string> {
    return (await this.run(['cat', '/proc/sys/kernel/random/boot_id'], { cwd: '/' })).stdout.trim();
  }

  async #endMachine(): Promise<void> {
    await killed(this.#connection);
    await killed(this.#machine);
    this.#connection = undefined;
    this.#machine = undefined;
  }
}

/** The links in one network: each has its number. */
interface Links {
  next: number;
}

/** The checkout, and the cache with the programs of the node kit and of the tests. */
export function sharedByDefault(): readonly string[] {
  return [root, process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '/root', '.cache')];
}

async function output(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, [...args]);
  if (stderr !== '') process.stderr.write(stderr);
  return stdout;
}

function spawned(
  { program, args }: DoorCommand,
  options: object,
  stdio: StdioOptions = ['ignore', 'inherit', 'inherit'],
): ChildProcess {
  return spawn(program, [...args], { ...options, stdio });
}

async function ended(child: ChildProcess): Promise<EndedCommand> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code: code ?? 1, ...texts };
}

/** Ends a process, and with it what it is the first of. */
async function killed(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
