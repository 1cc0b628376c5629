import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { SupervisedProcess } from '../../test/support/control-plane/supervised-process.ts';
import { goTool } from '../../test/support/go-tools.ts';

/** Who keeps the nodes, and with how many processes: `split` is a fixed share of the nodes for each, without a fleet. */
export const contenders = {
  fleet: 'NodeFleet, 4 processes',
  split: 'ProviderNodes split by hand, 4 processes',
  kwok: 'kwok v0.8.0, 1 process',
  kwokShared: 'kwok v0.8.0, 4 processes',
} as const;
export type Contender = keyof typeof contenders;

const member = fileURLToPath(new URL('./member.js', import.meta.url));
const kwokConfig = ['./kwok-config.yaml', '../node/kwok-stages.yaml'].map((file) =>
  fileURLToPath(new URL(file, import.meta.url)),
);

export function isKwok(contender: Contender): boolean {
  return contender.startsWith('kwok');
}

export function processesOf(contender: Contender): number {
  return contender === 'kwok' ? 1 : 4;
}

/** The processes of one contender. They end with this process. */
export class Processes implements AsyncDisposable {
  readonly #contender: Contender;
  readonly #nodes: number;
  readonly #dir: string;
  readonly #started: SupervisedProcess[] = [];
  readonly #ended: string[] = [];

  private constructor(contender: Contender, nodes: number, dir: string) {
    this.#contender = contender;
    this.#nodes = nodes;
    this.#dir = dir;
  }

  static async prepare(controlPlane: ControlPlane, contender: Contender, nodes: number): Promise<Processes> {
    const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-fleet-'));
    await controlPlane.writeKubeconfig(join(dir, 'kubeconfig'));
    return new Processes(contender, nodes, dir);
  }

  /** Of those that run. */
  get pids(): number[] {
    return this.#started.filter(({ running }) => running).map(({ pid }) => pid);
  }

  /** Starts all at once, or one more. */
  async startAll(): Promise<void> {
    await Promise.all(Array.from({ length: processesOf(this.#contender) }, () => this.startOne()));
  }

  async startOne(): Promise<SupervisedProcess> {
    const index = this.#started.length;
    // the place is taken before the process runs, so that each has an index of its own
    const starting = this.#commandOf(index).then(({ command, args }) =>
      SupervisedProcess.start({ command, args, logFile: join(this.#dir, `${index}.log`) }),
    );
    this.#started.length += 1;
    const started = await starting;
    void started.exited.then((report) => this.#ended.push(`${started.logFile}: ${report}`));
    this.#started[index] = started;
    return started;
  }

  async #commandOf(index: number): Promise<{ readonly command: string; readonly args: string[] }> {
    const kubeconfig = join(this.#dir, 'kubeconfig');
    if (isKwok(this.#contender)) {
      const flags = { kubeconfig, 'node-ip': '192.0.2.10', 'manage-all-nodes': 'true', 'node-lease-duration-seconds': '40' };
      const args = [
        ...kwokConfig.map((file) => `--config=${file}`),
        ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
      ];
      return { command: await goTool('kwok'), args };
    }
    // BENCH_NODE_ARGS are arguments of Node, such as `--cpu-prof`
    const nodeArgs = (process.env.BENCH_NODE_ARGS ?? '').split(' ').filter((arg) => arg !== '');
    const way = [this.#contender, this.#nodes, index, processesOf(this.#contender)].map(String);
    return { command: process.execPath, args: [...nodeArgs, member, kubeconfig, ...way] };
  }

  /** Tells whether the owner that a Lease names is this process: kwok's log says which identity it has, and our Leases name the process. */
  async ownerOfPid(pid: number): Promise<(owner: string) => boolean> {
    if (!isKwok(this.#contender)) return (owner) => owner.startsWith(`process ${pid} `);
    const logFile = this.#started.find((one) => one.pid === pid)?.logFile ?? '';
    const id = /"id":"([\w.-]+_[0-9a-f-]{36})"/.exec(await readFile(logFile, 'utf8'))?.[1];
    if (id === undefined) throw new Error(`kwok's log names no identity: ${logFile}`);
    return (owner) => owner === id;
  }

  /** The ends of the logs: what a process that has ended said. */
  async logs(): Promise<string> {
    const texts = await Promise.all(
      this.#started.map(async ({ logFile, running }) => `${running ? 'runs' : 'has ended'}: ${await readFile(logFile, 'utf8')}`),
    );
    return texts.map((text) => text.slice(0, 2000)).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.map((one) => one.stop({ graceMs: 20_000 })));
    await delay(100);
    await rm(this.#dir, { recursive: true, force: true });
  }
}
