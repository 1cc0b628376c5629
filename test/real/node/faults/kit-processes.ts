import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../../random/faults/pause.ts';
import { filesWith, leftoversOf, podProcesses, uptime } from './node-scan.ts';
import type { NodeHands, SceneAgent, SceneComponents, SceneDisk } from './scene.ts';

const runtimeSocket = '/run/containerd/containerd.sock';
const answersWithinMs = 60_000;

/** The components of the kit, from inside of it. */
export class KitProcesses implements SceneComponents {
  readonly #run: string;
  readonly #pids = new Map<string, number>();

  private constructor(run: string) {
    this.#run = run;
  }

  static async find(run: string): Promise<KitProcesses> {
    const kit = new KitProcesses(run);
    const lines = (await readFile(join(run, 'pids'), 'utf8')).split('\n');
    for (const [name, pid] of lines.map((line) => line.split(' '))) if (name && pid) kit.#pids.set(name, Number(pid));
    return kit;
  }

  /** Stops a component as it is, and lets it go on. */
  signal(name: string, signal: NodeJS.Signals): void {
    const pid = this.#pids.get(name);
    if (pid === undefined) throw new Error(`The kit has no ${name}`);
    process.kill(pid, signal);
  }

  /** Kills the runtime, and starts it again after a while with the same arguments. Resolves once it answers. */
  async restart(name: 'containerd', awayMs: number): Promise<void> {
    const pid = this.#pids.get(name) ?? 0;
    const [command = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
    process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    await using log = await open(join(this.#run, 'log', `${name}.log`), 'a');
    // it outlives this script
    const child = spawn(command, args, { cwd: this.#run, detached: true, stdio: ['ignore', log.fd, log.fd] });
    child.unref();
    if (child.pid === undefined) throw new Error(`${name} was not started again`);
    this.#pids.set(name, child.pid);
    await writeFile(join(this.#run, 'pids'), [...this.#pids].map(([each, id]) => `${each} ${id}\n`).join(''));
    if (!(await eventually(isListening, answersWithinMs))) throw new Error(`${name} does not answer`);
  }
}

/** The runtime serves. */
async function isListening(): Promise<boolean> {
  const socket = connect(runtimeSocket);
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

export class AgentProcess implements SceneAgent {
  readonly #command: string;
  readonly #logPath: string;
  #child: ReturnType<typeof spawn> | undefined;

  constructor(command: string, logPath: string) {
    this.#command = command;
    this.#logPath = logPath;
  }

  async start(): Promise<void> {
    await using log = await open(this.#logPath, 'a');
    this.#child = spawn('bash', ['-c', `exec ${this.#command}`], { stdio: ['ignore', log.fd, log.fd] });
  }

  /** How it ended; undefined while it runs. */
  async ended(): Promise<string | undefined> {
    return this.#ended;
  }

  get #ended(): string | undefined {
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    return exitCode === null && signalCode === null ? undefined : `${exitCode ?? signalCode}`;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#ended !== undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

/** Fills a file system until nothing more can be written, and gives the room back. */
export class FullDisk implements SceneDisk {
  readonly #path: string;

  constructor(folder: string) {
    this.#path = join(folder, 'fills-the-disk');
  }

  async fill(): Promise<void> {
    await using file = await open(this.#path, 'w');
    for (const size of [2 ** 20, 4096]) {
      const block = Buffer.alloc(size);
      while (
        await file.write(block).then(
          ({ bytesWritten }) => bytesWritten === size,
          () => false,
        )
      );
    }
  }

  free(): Promise<void> {
    return rm(this.#path, { force: true });
  }
}

/** The node that this process runs on. */
export function ownNode(witness: string, rootDirectory: string): NodeHands {
  return {
    ...{ uptime, podProcesses },
    leftoversOf: (podUID) => leftoversOf(podUID, rootDirectory),
    readWitness: (name) => readFile(join(witness, name), 'utf8').catch(() => ''),
    async kill(pid) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it has ended by itself meanwhile
      }
    },
    filesWith: (text) => filesWith(text, rootDirectory),
  };
}
