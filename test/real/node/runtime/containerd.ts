import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContainerdServer } from './containerd-subject.ts';

const enterScript = fileURLToPath(new URL('../../../peers/node-kit/enter.sh', import.meta.url));

/** containerd of a node kit that is up. */
export class Containerd implements ContainerdServer {
  readonly socketPath: string;
  readonly #run: string;

  /** `run` is the folder of the kit. */
  constructor(run: string) {
    this.#run = run;
    this.socketPath = join(run, 'run/containerd/containerd.sock');
  }

  /** The place on this machine of a file of the node. */
  pathOf(path: string): string {
    return join(this.#run, path);
  }

  readFile(path: string): Promise<string> {
    return readFile(this.pathOf(path), 'utf8').catch(() => '');
  }

  /** Ends containerd as a crash does; its containers go on. */
  async kill(): Promise<void> {
    const pid = await this.#pid();
    await this.#enter(`kill -9 ${pid}; while [ -e /proc/${pid}/cmdline ] && kill -0 ${pid} 2> /dev/null; do sleep 0.05; done`);
  }

  /** Starts containerd again. */
  async start(): Promise<void> {
    const command = 'setsid containerd --config containerd.toml >> log/containerd.log 2>&1 < /dev/null';
    await this.#enter(`cd '${this.#run}' && { ${command} & echo "containerd $!" >> pids; }`);
  }

  /** The kit writes down what it starts; the last line counts. */
  async #pid(): Promise<string> {
    const lines = (await readFile(join(this.#run, 'pids'), 'utf8')).split('\n');
    const pid = lines.findLast((line) => line.startsWith('containerd '))?.split(' ')[1];
    if (pid === undefined) throw new Error(`no containerd in ${this.#run}/pids`);
    return pid;
  }

  async #enter(script: string): Promise<void> {
    const env = { ...process.env, NODE_KIT_RUN: this.#run };
    const [code] = await once(spawn(enterScript, ['sh', '-c', script], { stdio: ['ignore', 'ignore', 'inherit'], env }), 'close');
    if (code !== 0) throw new Error(`exit code ${code} of: ${script}`);
  }
}
