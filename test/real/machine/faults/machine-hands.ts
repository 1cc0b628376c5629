import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PodProcess } from '../../node/faults/node-scan.ts';
import type { NodeHands, SceneAgent, SceneComponents, SceneDisk } from '../../node/faults/scene.ts';
import type { MachineNode } from '../support/machine-node.ts';
import type { NodeMachine } from '../support/node-machine.ts';

const rootDirectory = '/var/lib/kubelet';
export const witness = '/var/lib/witness';
const script = fileURLToPath(new URL('hands-inside.ts', import.meta.url));

/** The disk of the agent is a file system of its own, and each boot is counted before anything runs. */
const prepare = `set -e
mkdir -p ${rootDirectory} ${witness}
truncate -s 64M /var/lib/kubelet.img && mke2fs -q -F -t ext4 /var/lib/kubelet.img
echo '/var/lib/kubelet.img ${rootDirectory} ext4 loop 0 0' >> /etc/fstab
mount ${rootDirectory}
echo 0 > ${witness}/boots
cat > /etc/systemd/system/count-boots.service << 'END'
[Unit]
Before=containerd.service kubelet.service
[Service]
Type=oneshot
ExecStart=sh -c 'echo $(( $(cat ${witness}/boots) + 1 )) > ${witness}/boots'
[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable -q count-boots`;

/** Prepares a machine for faults, before its agent starts. */
export async function prepareMachine(machine: NodeMachine): Promise<void> {
  await machine.read(['sh', '-c', prepare]);
}

/** Sees and does what a scene wants, through one process inside. */
export class MachineHands implements NodeHands, SceneDisk {
  readonly #machine: NodeMachine;
  readonly #path: string;
  #calls: CallsInside | undefined;

  private constructor(machine: NodeMachine, path: string) {
    this.#machine = machine;
    this.#path = path;
  }

  /** `path` is where the programs of the node kit are. */
  static async open(machine: NodeMachine, path: string): Promise<MachineHands> {
    const hands = new MachineHands(machine, path);
    hands.#connect();
    await hands.uptime();
    return hands;
  }

  uptime = (): Promise<number> => this.#ask('uptime');
  podProcesses = (): Promise<readonly PodProcess[]> => this.#ask('podProcesses');
  leftoversOf = (podUID: string): Promise<readonly string[]> => this.#ask('leftoversOf', podUID);
  readWitness = (name: string): Promise<string> => this.#ask('readWitness', name);
  kill = (pid: number): Promise<void> => this.#ask('kill', String(pid));
  filesWith = (text: string): Promise<readonly string[]> => this.#ask('filesWith', text);
  fill = (): Promise<void> => this.#ask('fill');
  free = (): Promise<void> => this.#ask('free');

  async reboot(): Promise<void> {
    await this.#machine.reboot();
    this.#connect();
  }

  close(): void {
    this.#calls?.end();
  }

  #connect(): void {
    this.#calls?.end();
    const env = { PATH: `${this.#path}:/usr/sbin:/usr/bin` };
    const command = [process.execPath, script, rootDirectory, witness];
    this.#calls = new CallsInside(this.#machine.spawn(command, { env, stdio: ['pipe', 'pipe', 'inherit'] }));
  }

  async #ask<T>(name: string, argument = ''): Promise<T> {
    if (this.#calls === undefined) throw new Error('the machine has no hands');
    return (await this.#calls.ask(name, argument)) as T;
  }
}

/** Calls of one process inside. All are rejected when it ends. */
class CallsInside {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;
  #isLost = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.once('close', () => {
      this.#isLost = true;
      for (const { reject } of this.#asked.values()) reject(new Error('the machine has lost its hands'));
      this.#asked.clear();
    });
    if (child.stdin === null || child.stdout === null) throw new Error('no input and output');
    // the end of the process tells what is wrong
    child.stdin.on('error', () => {});
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line) as { id: number; result?: unknown; error?: string };
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(new Error(error));
    });
  }

  ask(name: string, argument: string): Promise<unknown> {
    if (this.#isLost) return Promise.reject(new Error('the machine has lost its hands'));
    const asked = Promise.withResolvers<unknown>();
    const id = ++this.#last;
    this.#asked.set(id, asked);
    this.#child.stdin?.write(`${JSON.stringify({ id, name, argument })}\n`);
    return asked.promise;
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

/** The agent as the unit of the example. */
export class UnitAgent implements SceneAgent {
  readonly #machine: NodeMachine;

  constructor(machine: NodeMachine) {
    this.#machine = machine;
  }

  async start(): Promise<void> {
    await this.#machine.read(['systemctl', 'start', 'kubelet']);
  }

  async kill(): Promise<void> {
    await this.#machine.run(['systemctl', 'kill', '--signal=KILL', '--kill-whom=main', 'kubelet']);
  }

  async ended(): Promise<string | undefined> {
    const journal = await this.#machine.read(['journalctl', '-u', 'kubelet', '-o', 'cat', '--no-pager']);
    return journal
      .split('\n')
      .find((line) => /Main process exited, code=(exited|dumped)|Failed with result '(timeout|watchdog)/.test(line));
  }
}

/** The runtime is a unit of the machine, and the apiserver is outside. */
export function componentsOf({ machine, controlPlane }: MachineNode): SceneComponents {
  return {
    signal(_name, signal) {
      if (signal === 'SIGSTOP') controlPlane.pauseApiServer();
      else controlPlane.resumeApiServer();
    },
    async restart(name, awayMs) {
      await machine.read(['systemctl', 'kill', '--signal=KILL', '--kill-whom=main', name]);
      await delay(awayMs);
      await machine.read(['systemctl', 'start', name]);
    },
  };
}
