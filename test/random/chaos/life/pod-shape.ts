import type { WirePod } from '../../../../src/index.ts';
import type { Prng } from '../prng.ts';

export const image = 'registry.k8s.io/pause:3.10';

type PodSpec = NonNullable<WirePod['spec']>;

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** What a pod is made of; all names in the order of its spec. */
export interface PodShape {
  readonly restartPolicy: RestartPolicy;
  readonly containers: readonly string[];
  readonly initContainers: readonly { readonly name: string; readonly isSidecar: boolean }[];
}

// neither list is sorted by name: the order of a spec and that of a status differ
const containerSets = [['app'], ['web', 'app'], ['web', 'app', 'log']] as const;
const initSets = [
  [],
  [{ name: 'setup', isSidecar: false }],
  [
    { name: 'setup', isSidecar: false },
    { name: 'migrate', isSidecar: false },
  ],
  [{ name: 'proxy', isSidecar: true }],
  [
    { name: 'setup', isSidecar: false },
    { name: 'mesh', isSidecar: true },
    { name: 'fetch', isSidecar: false },
  ],
] as const;

export function drawShape(prng: Prng, policies: readonly RestartPolicy[] = ['Always', 'Always', 'Never', 'OnFailure']): PodShape {
  return {
    restartPolicy: prng.pick(policies) ?? 'Always',
    containers: prng.pick(containerSets) ?? ['app'],
    initContainers: prng.pick(initSets) ?? [],
  };
}

/** The part of a spec that the shape decides. */
export function specOf({ restartPolicy, containers, initContainers }: PodShape): Pick<PodSpec, 'restartPolicy' | 'containers'> {
  const inits = initContainers.map(({ name, isSidecar }) => ({ name, image, ...(isSidecar ? { restartPolicy: 'Always' } : {}) }));
  return {
    restartPolicy,
    containers: containers.map((name) => ({ name, image })),
    ...(inits.length === 0 ? {} : { initContainers: inits }),
  };
}

export function shapeOf({ spec }: WirePod): PodShape {
  return {
    restartPolicy: (spec?.restartPolicy ?? 'Always') as RestartPolicy,
    containers: (spec?.containers ?? []).map(({ name }) => name),
    initContainers: (spec?.initContainers ?? []).map(({ name, restartPolicy }) => ({
      name,
      isSidecar: restartPolicy === 'Always',
    })),
  };
}
