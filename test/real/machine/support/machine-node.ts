import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleKubelet } from '../../../../examples/kubelet/bundle.ts';
import { AdminClient } from '../../../support/admin-client.ts';
import { ControlPlane } from '../../../support/control-plane/control-plane.ts';
import { heapOptions } from '../../../support/own-agent.ts';
import { NodeMachine } from './node-machine.ts';

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

/** A machine with containerd, which has the test images. It needs the programs of the node kit. */
async function machineWithRuntime(driver: CgroupDriver): Promise<NodeMachine> {
  const machine = await NodeMachine.start();
  try {
    await machine.read([join(peers, 'node-machine/runtime.sh'), driver]);
    return machine;
  } catch (error) {
    await machine.stop();
    throw error;
  }
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
    const kit = join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '/root', '.cache'), 'node-kit/bin');
    const program = agent === 'kubelet' ? [join(kit, 'kubelet')] : [process.execPath, ...heapOptions(), bundleKubelet()];
    const flags = [
      `--config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${MachineNode.nodeName}`,
      '--node-ip=10.0.2.2',
    ];
    const unit = ['--unit=kubelet', '-p', 'KillMode=process', '-E', `PATH=${kit}:/usr/sbin:/usr/bin`, '-E', 'HOME=/root'];
    await this.machine.read(['systemd-run', '-q', ...unit, ...program, ...flags]);
    await this.until('the node is ready', async () => {
      const { body } = await this.admin.send('GET', `/api/v1/nodes/${MachineNode.nodeName}`);
      return conditionsOf(body).some(({ type, status }) => type === 'Ready' && status === 'True');
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

  async #write(path: string, text: string): Promise<void> {
    const child = this.machine.spawn(['sh', '-c', 'cat > "$1"', 'sh', path], { stdio: ['pipe', 'ignore', 'inherit'] });
    child.stdin?.end(text);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${path} was not written`);
  }
}

interface NodeCondition {
  readonly type: string;
  readonly status: string;
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
