import type { Pod, WirePod } from 'pod-status-manager';
import { runLabel } from '../pod-owners.ts';
import type { Random } from '../random.ts';

/** How a pod of the demo behaves. The pod's label names it: the virtual provider knows only what is in the pod. */
export type PodKind = 'web' | 'flapping' | 'crashing' | 'job';
const kinds: readonly PodKind[] = ['web', 'flapping', 'crashing', 'job'];

export const kindLabel = 'virtual-node.example/kind';
export const seedAnnotation = 'virtual-node.example/seed';
/** Written by the foreign controller; some pods have it as a readiness gate. */
export const inspectedCondition = 'virtual-node.example/Inspected';

type PodSpec = NonNullable<WirePod['spec']>;
type Container = PodSpec['containers'][number];

/** The kind that a pod's label names; a pod without it is like a web server. */
export function kindOf({ metadata }: Pod): PodKind {
  return kinds.find((kind) => kind === metadata?.labels?.[kindLabel]) ?? 'web';
}

function pickKind(random: Random): PodKind {
  const dice = random.next();
  if (dice < 0.5) return 'web';
  if (dice < 0.7) return 'flapping';
  return dice < 0.85 ? 'crashing' : 'job';
}

/** A pod bound to the virtual node: no scheduler takes part. `suffix` makes its name its own. */
export function makePod(suffix: string, nodeName: string, random: Random, kind = pickKind(random)): WirePod {
  const spec: PodSpec = {
    nodeName,
    restartPolicy: kind === 'job' ? (random.chance(0.5) ? 'OnFailure' : 'Never') : 'Always',
    terminationGracePeriodSeconds: 2,
    automountServiceAccountToken: false,
    tolerations: [{ key: runLabel, operator: 'Exists' }],
    containers: [container('app'), ...(kind === 'web' && random.chance(0.2) ? [container('logs')] : [])],
  };
  const initContainers = [
    ...(random.chance(0.4) ? [container('prepare')] : []),
    ...(kind === 'web' && random.chance(0.25) ? [{ ...container('proxy'), restartPolicy: 'Always' }] : []),
  ];
  if (initContainers.length > 0) spec.initContainers = initContainers;
  if (kind === 'web' && random.chance(0.25)) spec.readinessGates = [{ conditionType: inspectedCondition }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${kind}-${suffix}`,
      labels: { [kindLabel]: kind },
      annotations: { [seedAnnotation]: String(random.seed()) },
    },
    spec,
  };
}

function container(name: string): Container {
  return { name, image: `registry.example/${name}:1` };
}
