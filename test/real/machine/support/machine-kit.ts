import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type E2EReport, type E2ETestsOptions, runE2ETests } from '../../node/support/e2e-tests.ts';
import { NodeKit } from '../../node/support/node-kit.ts';
import { whyNoKit } from '../../node/support/why-no-kit.ts';
import { type CgroupDriver, installRuntime, type MachineAgent, startMachineAgent, writeInside } from './machine-node.ts';
import { NodeMachine, sharedByDefault } from './node-machine.ts';

/** The addresses of pods, as the kit and runtime.sh have them. */
const podRange = '198.51.100.0/24';
const address = '10.0.2.2';

/**
 * The cluster of a node kit, whose node is a machine: the control plane and the tests run outside, the runtime, the agent and kube-proxy
 * in the machine. It needs the built package.
 */
export class MachineKit {
  readonly machine: NodeMachine;
  readonly #kit: NodeKit;
  readonly #driver: CgroupDriver;

  private constructor(kit: NodeKit, machine: NodeMachine, driver: CgroupDriver) {
    this.#kit = kit;
    this.machine = machine;
    this.#driver = driver;
  }

  /** Rejects where there can be no kit, and says why. */
  static async start(driver: CgroupDriver, agent: MachineAgent): Promise<MachineKit> {
    const reason = await whyNoKit();
    if (reason !== undefined) throw new Error(`not run: ${reason}`);
    const run = await mkdtemp(join(process.env.NODE_KIT_FOLDER ?? tmpdir(), 'node-kit-'));
    const kit = await NodeKit.start({ run, agent: 'none' });
    try {
      const pid = Number((await readFile(join(run, 'init.pid'), 'utf8')).split(' ')[0]);
      const machine = await NodeMachine.start({ outside: { pid, podRange }, shared: [...sharedByDefault(), run], memory: '4G' });
      const both = new MachineKit(kit, machine, driver);
      try {
        await installRuntime(machine, driver);
        await both.#startAgent(agent);
        return both;
      } catch (error) {
        console.error(await both.agentLog().catch(String));
        await machine.stop();
        throw error;
      }
    } catch (error) {
      await kit.stop();
      throw error;
    }
  }

  /** Runs tests of Kubernetes against the node. */
  runTests(options: E2ETestsOptions): Promise<E2EReport> {
    return runE2ETests(this.#kit, options);
  }

  /** What the agent said last. */
  async agentLog(): Promise<string> {
    return this.machine.read(['journalctl', '-u', 'kubelet', '-o', 'cat', '-n', '30', '--no-pager']);
  }

  async stop(): Promise<void> {
    await this.machine.stop();
    await this.#kit.stop();
    await rm(this.#kit.run, { recursive: true, force: true });
  }

  async #startAgent(agent: MachineAgent): Promise<void> {
    const { run } = this.#kit;
    const [config, kubeconfig, manifests] = ['/etc/kubelet.yaml', join(run, 'node.kubeconfig'), '/etc/kubernetes/manifests'];
    const settings = (await readFile(join(run, 'kubelet.yaml'), 'utf8'))
      .replace(/^cgroupDriver: .*$/m, `cgroupDriver: ${this.#driver}`)
      // what lies outside gives no events
      .replace(/^staticPodPath: .*$/m, `staticPodPath: ${manifests}`);
    await this.machine.read(['mkdir', '-p', manifests]);
    await writeInside(this.machine, config, settings);
    const flags = [`--config=${config}`, `--kubeconfig=${kubeconfig}`, '--hostname-override=node-kit', `--node-ip=${address}`];
    await startMachineAgent(this.machine, agent, flags);
    await this.#untilReady();
    const proxy = [join(sharedByDefault()[1] ?? '', 'node-kit/bin/kube-proxy'), '--config', join(run, 'kube-proxy.yaml')];
    await this.machine.read(['systemd-run', '-q', '--unit=kube-proxy', '-E', 'PATH=/usr/sbin:/usr/bin', ...proxy]);
  }

  async #untilReady(): Promise<void> {
    const end = performance.now() + 180_000;
    const wait = ['kubectl', 'wait', '--for=condition=Ready', 'node/node-kit', '--timeout=5s'];
    while ((await this.#kit.enter(['sh', '-c', `${wait.join(' ')} > /dev/null 2>&1`])).code !== 0) {
      if (performance.now() > end) throw new Error('the node is never ready');
      await delay(200);
    }
  }
}
