import { canonicalQuantity } from '../../src/api/quantity/quantity.ts';
import { QuantityTotal } from '../../src/api/quantity/quantity-arithmetic.ts';
import { parseLabelSelector } from '../../src/api/selectors/label-selector.ts';
import type { WirePod } from '../../src/index.ts';
import { schedulerPredicates } from '../../src/kubelet/admission/pod-admission.ts';
import { allowedSysctls } from '../../src/kubelet/admission/sysctls.ts';
import type { WireNode } from '../../src/node.ts';
import { Scheduler } from '../../src/scheduler.ts';
import { hostilePart } from '../../test/support/hostile/hostile-pods.ts';
import { barePod } from '../../test/support/pods.ts';
import type { Sized, SizedInput } from './measure.ts';
import { jsonBytes, listOf, received } from './texts.ts';

const largestPod = 1_500_000;
const noPressures = { memory: false, disk: false, pid: false };
type Parts = Pick<WirePod, 'metadata' | 'spec'>;

function podOf(uid: string, { metadata, spec }: Partial<Parts>): WirePod {
  const parts = {
    metadata: { name: uid, namespace: 'd', uid, ...metadata },
    spec: { schedulerName: 'default-scheduler', ...spec },
  };
  return received(barePod(parts));
}

function hostile(kind: string, size: number): WirePod {
  const { metadata = {}, spec = {}, container } = hostilePart(kind, size);
  const containers = [{ name: 'app', image: 'app:1', ...container }];
  return podOf('p', { metadata, spec: { containers, ...spec } as Parts['spec'] & object });
}

function nodeOf(index: number, more: Partial<WireNode> = {}): WireNode {
  const name = `node-${index}`;
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % 3}` };
  return { metadata: { name, labels }, status: { allocatable: { cpu: '32', memory: '64Gi', pods: '110' } }, ...more };
}

/** The agent decides whether the pod may run beside a hundred others. */
function admitted(make: (size: number) => WirePod, node: WireNode = nodeOf(0), beside?: WirePod): SizedInput['make'] {
  return (size) => {
    const pod = make(size);
    const others = [...listOf(99, (i) => podOf(`o${i}`, {})), ...(beside ? [beside] : [])];
    return { bytes: jsonBytes(pod), run: () => schedulerPredicates({ pod, others, node, pressures: noPressures }) };
  };
}

/** One try of a scheduler with so many nodes. */
function scheduled(make: (size: number) => WirePod, nodes: readonly WireNode[]): SizedInput['make'] {
  return (size) => {
    const pod = make(size);
    let uid = 0;
    const scheduler = new Scheduler({ client: { bind: async () => {} }, logger: null });
    for (const node of nodes) scheduler.setNode(node);
    const run = (): void => {
      uid += 1;
      scheduler.setPod({ ...pod, metadata: { ...pod.metadata, uid: `u${uid}`, name: `p${uid}` } });
      scheduler.scheduleOne();
      scheduler.deletePod(`u${uid}`);
    };
    return { bytes: jsonBytes(pod), run };
  };
}

const hundredNodes = listOf(100, (i) => nodeOf(i));
const manyTaints = listOf(14_000, (i) => ({ key: `k${i}`, effect: 'NoExecute' as const }));
const portsPod = (size: number): WirePod => {
  const ports = listOf(Math.min(65_000, Math.floor(size / 50)), (i) => ({ containerPort: i + 1, hostPort: i + 1 }));
  return podOf('p', { spec: { containers: [{ name: 'app', image: 'app:1', ports }] } });
};
const spreadPod = (whenUnsatisfiable: string) => (size: number) => {
  const pod = hostile('spread constraints', size);
  for (const one of pod.spec?.topologySpreadConstraints ?? []) one.whenUnsatisfiable = whenUnsatisfiable;
  return pod;
};
const requestsPod = (size: number): WirePod => {
  const requests = Object.fromEntries(listOf(Math.floor(size / 50), (i) => [`example.com/r${i}`, '1']));
  return podOf('p', { spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests, limits: requests } }] } });
};
const manyResources = (size: number): WireNode => {
  const named = Object.fromEntries(listOf(size, (i) => [`example.com/r${i}`, '1000']));
  return nodeOf(0, { status: { allocatable: { cpu: '32', memory: '64Gi', pods: '110', ...named } } });
};
const affinityPod = (size: number): WirePod => {
  const terms = listOf(Math.floor(size / 110), (i) => ({
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: { [`k${i}`]: 'v' } },
  }));
  return podOf('p', {
    spec: {
      containers: [{ name: 'app', image: 'app:1' }],
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
    },
  });
};

/** A quantity of so many digits, made canonical and added. */
function quantity(formOf: (digits: string) => string): SizedInput['make'] {
  return (digits) => {
    const text = formOf('9'.repeat(digits));
    const run = (): void => {
      canonicalQuantity(text);
      new QuantityTotal(text).add('1');
    };
    return { bytes: text.length, run };
  };
}

function selector(size: number): Sized {
  const matchExpressions = listOf(Math.floor(size / 60), (i) => ({ key: `k${i}`, operator: 'NotIn', values: ['a', 'b'] }));
  const labels = Object.fromEntries(listOf(1000, (i) => [`k${i}`, 'c']));
  return { bytes: jsonBytes(matchExpressions), run: () => parseLabelSelector('s', { matchExpressions }).matches(labels) };
}

function sysctls(size: number): Sized {
  const pod = hostile('sysctls', size);
  for (const one of pod.spec?.securityContext?.sysctls ?? []) one.name = `net.core.${one.name.slice(4)}`;
  const check = allowedSysctls(['net.core.*'], '6.1.0');
  const run = (): unknown => check({ pod, others: [], node: nodeOf(0), pressures: noPressures });
  return { bytes: jsonBytes(pod), run };
}

export const placementRows: readonly SizedInput[] = [
  {
    input: 'tolerations against 14,000 taints',
    most: largestPod,
    make: admitted((size) => hostile('tolerations', size), nodeOf(0, { spec: { taints: manyTaints } })),
  },
  { input: 'node selector', most: largestPod, make: admitted((size) => hostile('a node selector', size)) },
  { input: 'affinity terms', most: largestPod, make: admitted((size) => hostile('affinity terms', size)) },
  { input: 'host ports beside as many', most: largestPod, make: admitted(portsPod, nodeOf(0), portsPod(largestPod)) },
  { input: 'requests of resources', most: largestPod, make: admitted(requestsPod, manyResources(30_000)) },
  { input: 'sysctls', most: largestPod, make: sysctls },
  { input: 'a label selector', most: largestPod, make: selector },
  { input: 'digits of a quantity', most: 1_500_000, make: quantity((digits) => digits) },
  { input: 'digits behind the point, binary', most: 1_500_000, make: quantity((digits) => `0.${digits}Gi`) },
  { input: 'digits with an exponent', most: 1_500_000, make: quantity((digits) => `${digits}e999999999`) },
  {
    input: 'scheduler, 100 nodes: tolerations',
    most: largestPod,
    make: scheduled((size) => hostile('tolerations', size), hundredNodes),
  },
  {
    input: 'scheduler, 100 nodes: affinity terms',
    most: largestPod,
    make: scheduled((size) => hostile('affinity terms', size), hundredNodes),
  },
  { input: 'scheduler, 100 nodes: pod affinity terms', most: largestPod, make: scheduled(affinityPod, hundredNodes) },
  { input: 'scheduler, 100 nodes: required spread', most: largestPod, make: scheduled(spreadPod('DoNotSchedule'), hundredNodes) },
  {
    input: 'scheduler, 100 nodes: preferred spread',
    most: largestPod,
    make: scheduled(spreadPod('ScheduleAnyway'), hundredNodes),
  },
  { input: 'scheduler, 100 nodes: host ports', most: largestPod, make: scheduled(portsPod, hundredNodes) },
  { input: 'scheduler, 100 nodes: resources', most: largestPod, make: scheduled(requestsPod, hundredNodes) },
];
