import { objectBytes } from '../../src/api/json/bytes.ts';
import { BasicPodManager, type WirePod } from '../../src/index.ts';
import { admitPod, appArmorSupport, nodeKind, schedulerPredicates } from '../../src/kubelet/admission/pod-admission.ts';
import { allowedSysctls } from '../../src/kubelet/admission/sysctls.ts';
import { newPod } from '../../src/node/config/pod-changes.ts';
import { generatePodStatus, type WireNode } from '../../src/node.ts';
import { ConfigMapManager, objectBudget, SecretManager } from '../../src/object-managers.ts';
import { hostilePod, kindsOfHostilePods } from '../../test/support/hostile/hostile-pods.ts';
import { median } from '../support/statistics.ts';
import { threadMs } from './measure.ts';

/** What the agent does with each pod that comes, step by step. */
export interface KindRow {
  readonly kind: string;
  readonly bytes: number;
  readonly parseMs: number;
  readonly weighMs: number;
  readonly registerMs: number;
  readonly admitMs: number;
  readonly statusMs: number;
  /** All of it, at the whole size and at a quarter of it. */
  readonly growth: number;
}

/** About what a pod may have in etcd. */
const largest = 1_500_000;
const never = () => Promise.reject(new Error('nothing is asked for'));
const node: WireNode = { metadata: { name: 'n' }, status: { allocatable: { cpu: '32', memory: '64Gi', pods: '110' } } };
const checks = [allowedSysctls([], '6.1.0'), nodeKind, schedulerPredicates, appArmorSupport(() => true)];
const context = { others: [], node, pressures: { memory: false, disk: false, pid: false } };
const statusOfNothing = { podUID: 'u1', ips: [], containers: [], sandboxes: [] };

export function measureKinds(rounds: number): KindRow[] {
  return kindsOfHostilePods.map((kind) => {
    const steps = [largest / 4, largest].map((size) => stepsOf(textOf(kind, size), rounds));
    const [quarter = [], whole = []] = steps;
    const [parseMs = 0, weighMs = 0, registerMs = 0, admitMs = 0, statusMs = 0] = whole;
    const all = (each: readonly number[]): number => each.reduce((sum, ms) => sum + ms, 0);
    const bytes = Buffer.byteLength(textOf(kind, largest));
    return { kind, bytes, parseMs, weighMs, registerMs, admitMs, statusMs, growth: all(whole) / all(quarter) };
  });
}

function textOf(kind: string, size: number): string {
  const { metadata, ...pod } = hostilePod(kind, 'p', 'n', size) as { metadata: object };
  return JSON.stringify({ ...pod, metadata: { ...metadata, namespace: 'd', uid: 'u1', resourceVersion: '1' } });
}

/** The median time of each step. */
function stepsOf(text: string, rounds: number): number[] {
  const bytes = Buffer.from(text);
  const times: number[][] = [];
  for (let round = 0; round < rounds + 3; round++) {
    globalThis.gc?.();
    times.push(timesOfSteps(bytes));
  }
  // the first rounds compile the code
  return (times[0] ?? []).map((_, step) => median(times.slice(3).map((each) => each[step] ?? 0)));
}

function timesOfSteps(bytes: Buffer): number[] {
  const times: number[] = [];
  const timed = <T>(act: () => T): T => {
    const begun = threadMs();
    const result = act();
    times.push(threadMs() - begun);
    return result;
  };
  const transport = { request: never, stream: never } as never;
  const options = { transport, budget: objectBudget(), strategy: 'cache', logger: null } as const;
  const managers = { secretManager: new SecretManager(options), configMapManager: new ConfigMapManager(options) };
  const podManager = new BasicPodManager(managers);
  const raw = timed(() => JSON.parse(bytes.toString('utf8')) as WirePod);
  timed(() => objectBytes(raw));
  const pod = newPod(raw, 'api', '2026-01-01T00:00:00.000000000Z');
  timed(() => podManager.replacePod(pod));
  timed(() => admitPod(checks, { ...context, pod }));
  timed(() => generatePodStatus({ pod, runtimeStatus: statusOfNothing }));
  return times;
}
