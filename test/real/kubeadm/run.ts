// `npm run test:kubeadm [-- --driver cgroupfs]`: `kubeadm init`, `join` and `reset` of Kubernetes v1.36.3 in two machines with systemd, with
// examples/kubelet in the kubelet's place and kubeadm's own unit. The control plane runs as the agent's static pods; after a reboot all of
// it is back. See test/peers/kubeadm-node. By default kubeadm chooses the driver of cgroups, which is systemd.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CgroupDriver } from '../machine/support/machine-node.ts';
import { whyNoMachine } from '../machine/support/why-no-machine.ts';
import { buildForKubeadm, KubeadmMachine, type KubeadmPrograms } from './kubeadm-machine.ts';

const startedAt = performance.now();
const say = (text: string): void => console.log(`[kubeadm ${Math.round((performance.now() - startedAt) / 1000)} s] ${text}`);

/** Waits until the answer is right. A machine of this kind may take minutes for what others do in a second. */
async function until(what: string, minutes: number, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not so within ${minutes} minutes: ${what}`);
    await delay(2000);
  }
  say(what);
}

async function isReady(first: KubeadmMachine, name: string): Promise<boolean> {
  return / Ready /.test(await first.kubectl('get', 'node', name, '--no-headers'));
}

/** Whether each pod runs, and these many at least. */
async function allRun(first: KubeadmMachine, count: number): Promise<boolean> {
  const lines = (await first.kubectl('get', 'pods', '-A', '--no-headers')).split('\n');
  return lines.length >= count && lines.every((line) => / (\d+)\/\1 +Running /.test(line));
}

/** Whether a Deployment of two pods has both. */
async function isRolledOut(first: KubeadmMachine, name: string): Promise<boolean> {
  return (await first.kubectl('get', 'deployment', name, '-o', 'jsonpath={.status.availableReplicas}')) === '2';
}

async function uidsOfPods(first: KubeadmMachine): Promise<string> {
  const all = '{range .items[*]}{.metadata.uid}{"\\n"}{end}';
  return (await first.kubectl('get', 'pods', '-A', '-o', `jsonpath=${all}`)).split('\n').sort().join();
}

/** Names the pods of a Deployment, by the node that each is on. */
async function nodesOf(first: KubeadmMachine, deployment: string): Promise<string> {
  const all = '{range .items[*]}{.spec.nodeName}{"\\n"}{end}';
  return first.kubectl('get', 'pods', '-l', `app=${deployment}`, '-o', `jsonpath=${all}`);
}

async function startFirst(first: KubeadmMachine): Promise<void> {
  await first.init();
  say('kubeadm init has ended well');
  await until('the node is Ready', 20, () => isReady(first, first.name));
  await until('etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kube-proxy run', 20, () => allRun(first, 5));
  await first.kubectl('create', 'deployment', 'web', '--image=registry.k8s.io/pause:3.10.2', '--replicas=2');
  await until('a Deployment of two pods runs', 20, () => isRolledOut(first, 'web'));
  const requests = await first.kubectl('get', 'csr', '--no-headers');
  if (!/kube-apiserver-client-kubelet.*Approved,Issued/.test(requests))
    throw new Error(`no client certificate was renewed: ${requests}`);
  say('the client certificate of kubeadm was renewed');
}

/** Whether each container of the first machine is where its driver puts it. */
async function checkGroups(first: KubeadmMachine, driver: CgroupDriver): Promise<void> {
  const groups = await first.shell(
    'find /sys/fs/cgroup/kubepods* -name "cri-containerd-*.scope" -type d | wc -l; ls -d /sys/fs/cgroup/kubepods*',
  );
  const [scopes = '', folder] = groups.split('\n');
  const asSystemd = Number(scopes) > 5 && folder === '/sys/fs/cgroup/kubepods.slice';
  const asWanted = driver === 'systemd' ? asSystemd : scopes === '0' && folder === '/sys/fs/cgroup/kubepods';
  if (!asWanted) throw new Error(`the containers have other cgroups than those of ${driver}: ${groups}`);
  say(`the cgroups are those of the driver ${driver}`);
}

async function rebootFirst(first: KubeadmMachine): Promise<void> {
  const before = await uidsOfPods(first);
  await first.machine.reboot();
  say('the machine has booted again');
  await until('the node is Ready again', 40, () => isReady(first, first.name));
  await until('all pods run again', 40, async () => (await allRun(first, 7)) && (await isRolledOut(first, 'web')));
  if ((await uidsOfPods(first)) !== before) throw new Error(`other pods than before: ${before}`);
  say('all of it is back, the same pods');
}

/** A second machine joins by a token, runs pods, and leaves. */
async function joinAndLeave(first: KubeadmMachine, second: KubeadmMachine): Promise<void> {
  await second.join(`${first.machine.address}:6443`, await first.joinWords());
  say('kubeadm join has ended well');
  const requests = await first.kubectl('get', 'csr', '--no-headers');
  if (!/kubelet-bootstrap|system:bootstrap:\S+.*Approved,Issued/.test(requests))
    throw new Error(`no certificate was asked for with a token: ${requests}`);
  await until('the second node is Ready', 20, () => isReady(first, second.name));
  await first.kubectl('cordon', first.name);
  await first.kubectl('create', 'deployment', 'there', '--image=registry.k8s.io/pause:3.10.2', '--replicas=2');
  await until('a Deployment of two pods runs on the second node', 20, () => isRolledOut(first, 'there'));
  if ((await nodesOf(first, 'there')) !== `${second.name}\n${second.name}`) throw new Error(await nodesOf(first, 'there'));
  await until('kube-proxy runs on both nodes', 20, () => allRun(first, 10));
  await first.kubectl('logs', '-n', 'kube-system', '-l', 'k8s-app=kube-proxy', '--prefix');
  say('the logs of both nodes can be read');
  await first.kubectl('delete', 'deployment', 'there');
  await first.kubectl('drain', second.name, '--ignore-daemonsets');
  await second.reset();
  await first.kubectl('delete', 'node', second.name);
  say('kubeadm reset has ended well on the second node, and nothing is left there');
  const left = ['get', 'pods', '-A', '--no-headers', `--field-selector=spec.nodeName=${second.name}`];
  await until('the cluster has no pod of the second node', 10, async () => (await first.kubectl(...left)) === '');
  await first.kubectl('uncordon', first.name);
}

/** Tells what the agents said last when something goes wrong, and ends the machines. */
async function withMachines(use: (start: StartMachine) => Promise<void>): Promise<void> {
  const machines: KubeadmMachine[] = [];
  try {
    await use(async (programs, options) => {
      const machine = await KubeadmMachine.start(programs, options);
      machines.push(machine);
      return machine;
    });
  } catch (error) {
    for (const machine of machines) console.error(`${machine.name}:\n${await machine.agentLog().catch(String)}`);
    throw error;
  } finally {
    for (const { machine } of machines.reverse()) await machine.stop();
  }
}

type StartMachine = (...args: Parameters<typeof KubeadmMachine.start>) => Promise<KubeadmMachine>;

async function run(programs: KubeadmPrograms, driver: CgroupDriver): Promise<void> {
  await withMachines(async (start) => {
    const first = await start(programs, { driver, memory: '4G' });
    say('the first machine is up, with runtime, images and agent');
    await startFirst(first);
    await checkGroups(first, driver);
    const second = await start(programs, { driver, memory: '2G', beside: first.machine });
    say('the second machine is up');
    await joinAndLeave(first, second);
    await rebootFirst(first);
    await first.reset();
    say('kubeadm reset has ended well on the first node, and nothing is left there');
  });
}

function requireDriver(driver: string): CgroupDriver {
  if (driver === 'systemd' || driver === 'cgroupfs') return driver;
  throw new Error(`--driver must be systemd or cgroupfs, got "${driver}"`);
}

try {
  const driver = requireDriver(parseArgs({ options: { driver: { type: 'string', default: 'systemd' } } }).values.driver);
  const reason = await whyNoMachine();
  if (reason !== undefined) throw new Error(`there can be no machine here: ${reason}`);
  await run(buildForKubeadm(), driver);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
