import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleKubelet } from '../../../examples/kubelet/bundle.ts';
import type { CgroupDriver } from '../machine/support/machine-node.ts';
import { NodeMachine } from '../machine/support/node-machine.ts';

const peers = fileURLToPath(new URL('../../peers/', import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '/root', '.cache'), 'node-kit');

/** What the machine lacks, by the name of kubeadm's check: one processor, and no cpuset among its controllers. */
const lacks = ['--ignore-preflight-errors=NumCPU,SystemVerification'];

/** What a machine of kubeadm gets, by paths of this machine. */
export interface KubeadmPrograms {
  readonly kubeadm: string;
  readonly images: string;
  readonly agent: string;
}

/** Builds kubeadm, its images and the agent. The package must have been built. */
export function buildForKubeadm(): KubeadmPrograms {
  execFileSync(join(peers, 'node-kit/build.sh'), { stdio: 'inherit' });
  execFileSync(join(peers, 'kubeadm-node/build.sh'), { stdio: 'inherit' });
  const built = join(cache, 'kubeadm');
  mkdirSync(built, { recursive: true });
  const kubeadm = join(cache, 'bin/kubeadm');
  const images = join(built, 'images.tar');
  for (const path of [kubeadm, images]) if (!existsSync(path)) throw new Error(`${path} was not built`);
  return { kubeadm, images, agent: bundleKubelet(join(built, 'kubelet.mjs')) };
}

export interface KubeadmMachineOptions {
  readonly driver: CgroupDriver;
  readonly memory: string;
  readonly beside?: NodeMachine;
}

/** What `kubeadm join` needs to know of the cluster. */
export interface JoinWords {
  readonly token: string;
  readonly caCertHash: string;
}

/** A machine that is ready for kubeadm, with the agent as its kubelet. */
export class KubeadmMachine {
  readonly machine: NodeMachine;

  private constructor(machine: NodeMachine) {
    this.machine = machine;
  }

  static async start(
    { kubeadm, images, agent }: KubeadmPrograms,
    { driver, memory, beside }: KubeadmMachineOptions,
  ): Promise<KubeadmMachine> {
    const machine = await NodeMachine.start({ memory, ...(beside !== undefined && { beside }) });
    try {
      const words = [join(cache, 'bin'), images, kubeadm, process.execPath, agent, driver];
      await machine.read([join(peers, 'kubeadm-node/install.sh'), ...words]);
      return new KubeadmMachine(machine);
    } catch (error) {
      await machine.stop();
      throw error;
    }
  }

  /** The name of its node. */
  get name(): string {
    return this.machine.name;
  }

  /** What a command inside wrote. Rejects when it fails. */
  read(...command: readonly string[]): Promise<string> {
    return this.machine.read(command, { cwd: '/' });
  }

  /** What a shell inside wrote. */
  shell(script: string): Promise<string> {
    return this.read('sh', '-c', script);
  }

  /** Asks the cluster, where `kubeadm init` has been run here. */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.read('kubectl', '--kubeconfig=/etc/kubernetes/admin.conf', ...args);
  }

  async init(): Promise<void> {
    await this.read('kubeadm', 'init', '--config', '/etc/kubernetes/kubeadm.yaml', '--skip-phases=addon/coredns', ...lacks);
  }

  /** Makes a token for one that joins. */
  async joinWords(): Promise<JoinWords> {
    const printed = await this.read('kubeadm', 'token', 'create', '--print-join-command');
    const [, token = '', caCertHash = ''] = /--token (\S+) --discovery-token-ca-cert-hash (\S+)/.exec(printed) ?? [];
    if (caCertHash === '') throw new Error(`no command to join: ${printed}`);
    return { token, caCertHash };
  }

  async join(apiServer: string, { token, caCertHash }: JoinWords): Promise<void> {
    const config = `apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery: {bootstrapToken: {token: ${token}, apiServerEndpoint: "${apiServer}", caCertHashes: ["${caCertHash}"]}}
nodeRegistration: {criSocket: "unix:///run/containerd/containerd.sock"}
timeouts: {kubeletHealthCheck: 20m, kubernetesAPICall: 10m, tlsBootstrap: 20m, discovery: 10m}
`;
    await this.shell(`cat > /etc/kubernetes/join.yaml << 'END'\n${config}END`);
    await this.read('kubeadm', 'join', '--config', '/etc/kubernetes/join.yaml', ...lacks);
  }

  /** Takes it out of the cluster. Rejects when something of its pods is left. */
  async reset(): Promise<void> {
    await this.read('kubeadm', 'reset', '--force', '--cri-socket=unix:///run/containerd/containerd.sock');
    const left = await this.shell(`grep /var/lib/kubelet /proc/self/mountinfo
      ctr -n k8s.io tasks ls -q
      ctr -n k8s.io containers ls -q
      ls -A /var/lib/kubelet /etc/kubernetes/manifests 2> /dev/null | grep -v :
      ls /etc/kubernetes/*.conf 2> /dev/null
      pgrep -a 'kube-apiserver|^etcd|kube-proxy'; pgrep -af '[k]ubelet.mjs'
      true`);
    if (left !== '') throw new Error(`kubeadm reset has left on ${this.name}: ${left}`);
  }

  /** What the agent said last. */
  async agentLog(): Promise<string> {
    return (await this.machine.run(['journalctl', '-u', 'kubelet', '-o', 'cat', '--no-pager', '-n', '40'], { cwd: '/' })).stdout;
  }
}
