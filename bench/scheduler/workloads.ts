import type { WireNode, WirePod } from '../../src/api/json/types.ts';

type PodSpec = NonNullable<WirePod['spec']>;

/** What the pods of each workload ask for beside CPU and memory. */
export const workloads = {
  plain: () => ({}),
  /** Even over the zones, and as even as may be over the nodes, as a Deployment's pods may ask for. */
  spread: (app: string) => ({
    topologySpreadConstraints: [
      constraint('topology.kubernetes.io/zone', 'DoNotSchedule', app),
      constraint('kubernetes.io/hostname', 'ScheduleAnyway', app),
    ],
  }),
  /** No two pods of one application on one node. */
  antiAffinity: (app: string) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app } } },
        ],
      },
    },
  }),
} satisfies Readonly<Record<string, (app: string) => Partial<PodSpec>>>;

export type Workload = keyof typeof workloads;

/** How many pods one application has: with anti-affinity, fewer than there are nodes. */
const podsOfAnApp = 50;

export function benchNode(index: number): WireNode {
  const name = `node-${index}`;
  const images = Array.from({ length: 10 }, (_, image) => ({
    names: [`image-${(index + image) % 40}:1`],
    sizeBytes: 100_000_000,
  }));
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % 3}` } },
    status: { allocatable: { cpu: '32', memory: '64Gi', pods: '110' }, images },
  };
}

export function benchPod(index: number, workload: Workload): WirePod {
  const app = `app-${Math.trunc(index / podsOfAnApp)}`;
  const requests = { cpu: '100m', memory: '128Mi' };
  return {
    metadata: { name: `pod-${index}`, namespace: 'bench', uid: `uid-${index}`, labels: { app } },
    spec: {
      schedulerName: 'default-scheduler',
      containers: [{ name: 'main', image: `image-${index % 40}:1`, resources: { requests } }],
      ...workloads[workload](app),
    },
  };
}

function constraint(topologyKey: string, whenUnsatisfiable: string, app: string) {
  return { maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: { matchLabels: { app } } };
}
