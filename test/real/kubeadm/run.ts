// `npm run test:kubeadm`: `kubeadm init` of Kubernetes v1.36.3 in a machine with systemd, with examples/kubelet in the kubelet's place and
// kubeadm's own unit. The control plane runs as the agent's static pods; after a reboot all of it is back. See test/peers/kubeadm-node.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleKubelet } from '../../../examples/kubelet/bundle.ts';
import { NodeMachine } from '../machine/support/node-machine.ts';
import { whyNoMachine } from '../machine/support/why-no-machine.ts';

const peers = fileURLToPath(new URL('../../peers/', import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '/root', '.cache'), 'node-kit');
const startedAt = performance.now();
const say = (text: string): void => console.log(`[kubeadm ${Math.round((performance.now() - startedAt) / 1000)} s] ${text}`);

/** What the machine lacks, by the name of kubeadm's check: one processor, and no cpuset among its controllers. */
const lacks = ['NumCPU', 'SystemVerification'];

/** Waits until the answer is right. A machine of this kind may take minutes for what others do in a second. */
async function until(what: string, minutes: number, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not so within ${minutes} minutes: ${what}`);
    await delay(2000);
  }
  say(what);
}

function build(): { kubeadm: string; images: string } {
  execFileSync(join(peers, 'node-kit/build.sh'), { stdio: 'inherit' });
  execFileSync(join(peers, 'kubeadm-node/build.sh'), { stdio: 'inherit' });
  const found = { kubeadm: join(cache, 'bin/kubeadm'), images: join(cache, 'kubeadm/images.tar') };
  for (const path of Object.values(found)) if (!existsSync(path)) throw new Error(`${path} was not built`);
  return found;
}

async function main(): Promise<void> {
  const reason = await whyNoMachine();
  if (reason !== undefined) throw new Error(`there can be no machine here: ${reason}`);
  const { kubeadm, images } = build();
  const built = join(cache, 'kubeadm');
  mkdirSync(built, { recursive: true });
  const agent = bundleKubelet(join(built, 'kubelet.mjs'));
  await using machine = await bootMachine();
  say('the machine is up');
  const { node } = machine;
  await node.read([join(peers, 'kubeadm-node/install.sh'), join(cache, 'bin'), images, kubeadm, process.execPath, agent]);
  say('runtime, images and agent are installed');
  const init = ['kubeadm', 'init', '--config', '/etc/kubernetes/kubeadm.yaml', '--skip-phases=addon/coredns'];
  await node.read([...init, `--ignore-preflight-errors=${lacks.join(',')}`], { cwd: '/' });
  say('kubeadm init has ended well');
  const kubectl = (...args: string[]) => node.read(['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf', ...args], { cwd: '/' });
  const allBack = async (): Promise<boolean> => {
    const lines = (await kubectl('get', 'pods', '-A', '--no-headers')).split('\n');
    return lines.length >= 5 && lines.every((line) => / (\d+)\/\1 +Running /.test(line));
  };
  const ready = async (): Promise<boolean> => / Ready /.test(await kubectl('get', 'nodes', '--no-headers'));
  await until('the node is Ready', 20, ready);
  await until('etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kube-proxy run', 20, allBack);
  await kubectl('create', 'deployment', 'web', '--image=registry.k8s.io/pause:3.10.2', '--replicas=2');
  const rolledOut = async (): Promise<boolean> =>
    (await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.status.availableReplicas}')) === '2';
  await until('a Deployment of two pods runs', 20, rolledOut);
  const requests = await kubectl('get', 'csr', '--no-headers');
  if (!/kube-apiserver-client-kubelet.*Approved,Issued/.test(requests))
    throw new Error(`no client certificate was renewed: ${requests}`);
  say('the client certificate of kubeadm was renewed');
  const before = await kubectl('get', 'pods', '-A', '-o', 'jsonpath={range .items[*]}{.metadata.uid}{"\\n"}{end}');
  await node.reboot();
  say('the machine has booted again');
  await until('the node is Ready again', 40, ready);
  await until('all pods run again', 40, async () => (await allBack()) && (await rolledOut()));
  const after = await kubectl('get', 'pods', '-A', '-o', 'jsonpath={range .items[*]}{.metadata.uid}{"\\n"}{end}');
  if (before.split('\n').sort().join() !== after.split('\n').sort().join())
    throw new Error(`other pods than before: ${before} ${after}`);
  say('all of it is back, the same pods');
  process.exitCode = 0;
}

async function bootMachine(): Promise<{ node: NodeMachine } & AsyncDisposable> {
  const node = await NodeMachine.start({ memory: '4G' });
  return {
    node,
    [Symbol.asyncDispose]: async () => {
      const log = await node.run(['journalctl', '-u', 'kubelet', '--no-pager', '-n', '40'], { cwd: '/' }).catch(() => undefined);
      if (process.exitCode !== 0 && log !== undefined) console.error(log.stdout);
      await node.stop();
    },
  };
}

try {
  process.exitCode = 1;
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
