import type { WirePod } from 'pod-status-manager';
import type { Random } from '../random.ts';

/** What a pod asks of a node, or what a node has. */
export interface Amounts {
  readonly milliCPU: number;
  readonly memoryMiB: number;
}

type PodSpec = NonNullable<WirePod['spec']>;
type Shape = 'web' | 'database' | 'batch';

const sizes: Readonly<Record<Shape, { readonly milliCPU: readonly number[]; readonly memoryMiB: readonly number[] }>> = {
  web: { milliCPU: [250, 500, 1000], memoryMiB: [256, 512, 1024] },
  database: { milliCPU: [1000, 2000], memoryMiB: [2048, 4096] },
  batch: { milliCPU: [500, 1500], memoryMiB: [512, 1024] },
};

/** A pod that has no node yet. `suffix` makes its name its own. */
export function schedulablePod(suffix: string, random: Random): WirePod {
  const dice = random.next();
  const shape: Shape = dice < 0.6 ? 'web' : dice < 0.7 ? 'database' : 'batch';
  const { milliCPU, memoryMiB } = sizes[shape];
  const requests = { cpu: `${random.pick(milliCPU)}m`, memory: `${random.pick(memoryMiB)}Mi` };
  const spec: PodSpec = {
    ...placement(shape),
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    containers: [{ name: 'app', image: `registry.example/${shape}:1`, resources: { requests } }],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${shape}-${suffix}`, labels: { app: shape } }, spec };
}

/** What the pod asks for, as {@link schedulablePod} writes it. */
export function requestsOf({ spec }: WirePod): Amounts {
  const { cpu = '0', memory = '0' } = spec?.containers[0]?.resources?.requests ?? {};
  return { milliCPU: Number.parseInt(cpu, 10), memoryMiB: Number.parseInt(memory, 10) };
}

/** Web pods spread over the zones, databases never share a node, and batch pods go anywhere. */
function placement(shape: Shape): Partial<PodSpec> {
  const labelSelector = { matchLabels: { app: shape } };
  if (shape === 'web') {
    const topologyKey = 'topology.kubernetes.io/zone';
    return { topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway', labelSelector }] };
  }
  if (shape === 'batch') return {};
  const terms = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }];
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
}
