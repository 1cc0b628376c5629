import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleKubelet } from '../../../../examples/kubelet/bundle.ts';
import { AdminClient } from '../../../support/admin-client.ts';
import { ControlPlane } from '../../../support/control-plane/control-plane.ts';
import { heapOptions } from '../../../support/own-agent.ts';
import { NodeMachine } from './node-machine.ts';

const unitFile = fileURLToPath(new URL('../../../../examples/kubelet/kubelet.service', import.meta.url));
const kitFolder = join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '/root', '.cache'), 'node-kit');
const peers = fileURLToPath(new URL('../../../peers/', import.meta.url));

/** Who gives pods and containers their cgroups: the agent and the runtime by themselves, or systemd for them. */
export type CgroupDriver = 'cgroupfs' | 'systemd';

/** Who is the node's agent: examples/kubelet, which needs the built package, or the kubelet. */
export type MachineAgent = 'own' | 'kubelet';

/** Builds what a node in the machine runs. */
export async function buildForMachine(options: readonly string[] = []): Promise<void> {
  const child = spawn(join(peers, 'node-kit/build.sh'), [...options], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('the programs of the node kit were not built');
}

/** The port of the machine's outside at which images are pulled. */
const imagePort = '5999';

/** A machine with containerd, which has the test images, and can pull them. It needs the programs of the node kit. */
export async function machineWithRuntime(driver: CgroupDriver): Promise<NodeMachine> {
  const machine = await NodeMachine.start();
  try {
    const layout = join(kitFolder, 'images/layout');
    machine.spawnOutside([process.execPath, join(peers, 'node-kit/images/registry.mjs'), layout, imagePort]);
    await installRuntime(machine, driver);
    return machine;
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

/** Gives the machine a containerd with the test images, and CNI. It pulls from port 5999 of the machine's outside. */
export async function installRuntime(machine: NodeMachine, driver: CgroupDriver): Promise<void> {
  await machine.read([join(peers, 'node-machine/runtime.sh'), driver, `10.0.2.1:${imagePort}`]);
}

/** Starts the agent as a unit of systemd. */
export async function startMachineAgent(machine: NodeMachine, agent: MachineAgent, flags: readonly string[]): Promise<void> {
  const bin = join(kitFolder, 'bin');
  const program = agent === 'kubelet' ? [join(bin, 'kubelet')] : [process.execPath, ...heapOptions(), bundleKubelet()];
  const unit = ['--unit=kubelet', '-p', 'KillMode=process', '-E', `PATH=${bin}:/usr/sbin:/usr/bin`, '-E', 'HOME=/root'];
  await machine.read(['systemd-run', '-q', ...unit, ...program, ...flags]);
}

/** Writes a file of the machine. */
export async function writeInside(machine: NodeMachine, path: string, text: string): Promise<void> {
  const child = machine.spawn(['sh', '-c', 'cat > "$1"', 'sh', path], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin?.end(text);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${path} was not written`);
}

/** A machine with containerd, and an apiserver outside: a node once an agent runs. It needs the programs of the node kit. */
export class MachineNode {
  static readonly nodeName = 'node-machine';
  readonly machine: NodeMachine;
  readonly controlPlane: ControlPlane;
  readonly admin: AdminClient;
  readonly driver: CgroupDriver;

  private constructor(machine: NodeMachine, controlPlane: ControlPlane, driver: CgroupDriver) {
    this.machine = machine;
    this.controlPlane = controlPlane;
    this.admin = new AdminClient(controlPlane.kubeConfig());
    this.driver = driver;
  }

  static async start(driver: CgroupDriver): Promise<MachineNode> {
    const machine = await machineWithRuntime(driver);
    try {
      const controlPlane = await ControlPlane.start();
      await machine.offer(Number(new URL(controlPlane.url).port));
      return new MachineNode(machine, controlPlane, driver);
    } catch (error) {
      await machine.stop();
      throw error;
    }
  }

  /** Starts the agent as a unit of systemd, and waits until its node is ready. */
  async startAgent(agent: MachineAgent): Promise<void> {
    const [config, kubeconfig] = ['kubelet.yaml', 'kubeconfig'].map((name) => join('/etc', `machine-${name}`)) as [
      string,
      string,
    ];
    await this.#write(config, kubeletConfig(this.driver));
    await this.#write(kubeconfig, this.controlPlane.kubeconfigYaml());
    const flags = [
      `--config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${MachineNode.nodeName}`,
      '--node-ip=10.0.2.2',
    ];
    await startMachineAgent(this.machine, agent, flags);
    await this.untilReady();
  }

  /**
   * Puts examples/kubelet where its unit file expects it, on the machine's own disk, and starts that unit as it is, also at each boot.
   * Waits until the node is ready.
   */
  async startUnitFile(): Promise<void> {
    await this.machine.read([
      'sh',
      '-c',
      'mkdir -p /opt/node-agent /etc/kubernetes && cp "$1" /usr/bin/node',
      'sh',
      process.execPath,
    ]);
    await this.#write('/opt/node-agent/kubelet.mjs', await readFile(bundleKubelet(), 'utf8'));
    await this.#write('/etc/kubernetes/kubelet.yaml', kubeletConfig(this.driver));
    await this.#write('/etc/kubernetes/kubelet.conf', this.controlPlane.kubeconfigYaml());
    await this.#write('/etc/systemd/system/kubelet.service', await readFile(unitFile, 'utf8'));
    await this.machine.read(['systemctl', 'daemon-reload']);
    await this.machine.read(['systemctl', 'enable', '-q', '--now', 'kubelet']);
    await this.untilReady();
  }

  /** Waits until the node is ready, and has said so after this moment of the apiserver's clock, where one is given. */
  async untilReady(after = 0): Promise<void> {
    await this.until('the node is ready', async () => {
      const { body } = await this.admin.send('GET', `/api/v1/nodes/${MachineNode.nodeName}`);
      const ready = conditionsOf(body).find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && Date.parse(ready.lastHeartbeatTime) >= after;
    });
  }

  /** Asks until it is so. Rejects with what the agent said last when it never is. */
  async until(what: string, condition: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 180_000;
    while (!(await condition())) {
      if (performance.now() > end) throw new Error(`never happened: ${what}\n${await this.agentLog()}`);
      await delay(200);
    }
  }

  /** What the agent said last. */
  async agentLog(): Promise<string> {
    return (await this.machine.run(['journalctl', '-u', 'kubelet', '-o', 'cat', '-n', '30', '--no-pager'])).stdout;
  }

  async stop(): Promise<void> {
    await this.admin.close();
    await this.controlPlane.stop();
    await this.machine.stop();
  }

  #write(path: string, text: string): Promise<void> {
    return writeInside(this.machine, path, text);
  }
}

interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly lastHeartbeatTime: string;
}

function conditionsOf(body: unknown): readonly NodeCondition[] {
  return (body as { status?: { conditions?: readonly NodeCondition[] } }).status?.conditions ?? [];
}

/** Settings that the kubelet and ours understand alike. */
function kubeletConfig(driver: CgroupDriver): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: ${driver}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
enableServer: false
podPidsLimit: 1000
failSwapOn: false
serializeImagePulls: false
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 50Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
`;
}
