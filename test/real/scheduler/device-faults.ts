import { Prng } from '../../random/chaos/prng.ts';
import { eventually, pause } from '../../random/faults/pause.ts';
import { Schedulers } from '../../server/scheduler/schedulers.ts';
import { type DeviceClaimFinding, deviceClaimRules, judgeDeviceClaims } from '../../support/device-claims/device-claim-judge.ts';
import { type DeviceClaimVersion, deviceClaimKeys, deviceClaimVersion } from '../../support/device-claims/device-claim-record.ts';
import { readEtcdVersions } from '../../support/fleet/etcd-versions.ts';
import { StorageServers } from '../../support/storage/storage-servers.ts';
import { ClaimedNodes } from './claimed-nodes.ts';
import { DevicePods } from './device-pods.ts';

export interface DeviceFaultOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly pods: number;
  /** How often the leader is killed, and how often it stands still until another one leads. */
  readonly kills: number;
  readonly pauses: number;
  /** Schedulers that wait for no Lease, and look at no version: devices are given away twice. */
  readonly broken?: 'blind' | undefined;
  readonly log: (line: string) => void;
}

export interface DeviceFaultReport {
  /** How many pods were open at each fault. */
  readonly open: readonly number[];
  /** How many pods had to wait for others to go. */
  readonly mostWaiting: number;
  /** Pods that would have fit, and were not bound: none. */
  readonly leftThatFit: readonly string[];
  /** At the end, as the watches tell it. Where it is not, they told nothing right of the pods that would have fit either. */
  readonly isInOrder: boolean;
  readonly versions: Readonly<Record<DeviceClaimVersion['kind'], number>>;
  /** Requests for pods and claims that the server refused as not valid or not allowed, of whomever. */
  readonly refusals: readonly string[];
  readonly findings: readonly DeviceClaimFinding[];
  readonly tookMs: number;
}

/** How long everything may take to be in step. */
const calmMs = 180_000;
/** How long the watch may take to tell of a pod, in milliseconds. */
const settleMs = 500;
const controllers = ['resourceclaim-controller', 'garbage-collector-controller'];

/** Pods with claims of devices come and go, more of them than there are devices for; in between something happens to the leader. */
export async function runDeviceFaults(options: DeviceFaultOptions): Promise<DeviceFaultReport> {
  const { seed, nodes: nodeCount, pods: podCount, kills, pauses, broken, log } = options;
  const prng = new Prng(seed);
  await using servers = await StorageServers.start(controllers);
  await using nodes = await ClaimedNodes.start(servers.kubeConfig(), nodeCount, podCount);
  await using schedulers = new Schedulers(servers, 'kube-system', broken);
  const nodeNames = [...nodes.zoneOfNode.keys()];
  const { admin } = servers;
  await using pods = await DevicePods.begin({
    admin,
    schedulerName: schedulers.schedulerName,
    nodeNames,
    prng: prng.fork('pods'),
  });
  await Promise.all(['first', 'second'].map((identity) => schedulers.start(identity)));
  log(`${nodeCount} nodes and two schedulers run`);

  const began = performance.now();
  const open: number[] = [];
  const faults = prng.shuffled([...Array<'kill'>(kills).fill('kill'), ...Array<'pause'>(pauses).fill('pause')]);
  for (const [index, fault] of faults.entries()) {
    const wave = Math.floor((podCount * (index + 1)) / (faults.length + 1)) - pods.created;
    const changes = Promise.all([pods.create(wave), pods.remove(Math.floor(pods.bound / 4))]);
    await untilBound(pods, pods.bound + Math.max(1, Math.floor(prng.between(0.05, 0.4) * Math.max(1, pods.waiting))));
    open.push(pods.waiting);
    log(`${fault}; ${pods.bound} pods are bound, ${pods.waiting} wait`);
    if (fault === 'kill') {
      await schedulers.killLeader();
      await schedulers.start(`after-${index}`);
    } else {
      const bound = pods.bound;
      await schedulers.pauseLeader(() => untilBound(pods, bound + 1));
    }
    await changes;
  }
  await pods.create(podCount - pods.created);

  let leftThatFit: string[] = [];
  let mostWaiting = 0;
  // devices are given back until every pod has its own
  do {
    await pause(settleMs);
    await eventually(() => pods.waitingThatFit().length === 0, calmMs, 100);
    leftThatFit = pods.waitingThatFit();
    mostWaiting = Math.max(mostWaiting, pods.waiting);
    log(`${pods.bound} pods are bound, ${pods.waiting} wait, ${leftThatFit.length} of them for no reason`);
    if (pods.waiting === 0 || leftThatFit.length > 0) break;
    await pods.remove(Math.max(1, Math.floor(pods.bound / 5)));
  } while (pods.wanted > 0);
  const isInOrder = await eventually(() => pods.isInOrder, calmMs, 100);

  const versions: DeviceClaimVersion[] = [];
  await readEtcdVersions(servers.controlPlane.etcdUrl, deviceClaimKeys, (found) => versions.push(deviceClaimVersion(found)));
  const count = (kind: DeviceClaimVersion['kind']): number => versions.filter((version) => version.kind === kind).length;
  const metrics = String((await admin.send('GET', '/metrics')).body);
  return {
    ...{ open, mostWaiting, leftThatFit, isInOrder, refusals: refusalsOf(metrics) },
    versions: { claim: count('claim'), pod: count('pod') },
    findings: judgeDeviceClaims(versions, { pods: pods.wanted }),
    tookMs: performance.now() - began,
  };
}

/** Resolves once so many are bound, or nothing that waits fits any more. */
async function untilBound(pods: DevicePods, count: number): Promise<void> {
  await pause(settleMs);
  const isDone = () => pods.bound >= count || pods.waitingThatFit().length === 0;
  if (!(await eventually(isDone, calmMs, 2))) throw new Error(`${pods.bound} of ${count} pods are bound`);
}

const refused = /^apiserver_request_total\{.*code="(?:400|401|403|405|415|422|500)".*resource="(?:resourceclaims|pods)".*\}/;

/** Lines of the server's metrics. */
function refusalsOf(metrics: string): string[] {
  return metrics.split('\n').filter((line) => refused.test(line));
}

export function renderDeviceReport({
  open,
  mostWaiting,
  leftThatFit,
  isInOrder,
  versions,
  refusals,
  findings,
  tookMs,
}: DeviceFaultReport): string {
  const count = (rule: string): number => findings.filter((found) => found.rule === rule).length;
  return [
    `open at each fault: ${open.join(', ')}; ${mostWaiting} waited for others to go; ${(tookMs / 1000).toFixed(1)} s`,
    `versions: ${versions.claim} of claims, ${versions.pod} of pods`,
    `waited for no reason: ${leftThatFit.join(', ') || 'none'}`,
    `in order at the end, as the watches tell it: ${isInOrder ? 'yes' : 'never'}`,
    ...deviceClaimRules.map((rule) => `${rule}: ${count(rule)}`),
    ...findings.slice(0, 40).map(({ rule, detail }) => `  ${rule}: ${detail}`),
    ...refusals.map((line) => `  refused: ${line}`),
  ].join('\n');
}
