import type { WirePod } from '../../json/types.ts';

/** The parts of a pod, by the names that Kubernetes gives their types. */
export type PodSpec = NonNullable<WirePod['spec']>;
export type Container = PodSpec['containers'][number];
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type Probe = NonNullable<Container['livenessProbe']>;
export type ResourceRequirements = NonNullable<Container['resources']>;
/** Quantities in canonical form, by the name of the resource. */
export type ResourceList = { [name: string]: string };

/** Regular and init containers, with the path of each. */
export function containersOf(spec: PodSpec): { readonly container: Container; readonly path: string }[] {
  const at = (list: readonly Container[] | undefined, path: string) =>
    (list ?? []).map((container, index) => ({ container, path: `spec.${path}[${index}]` }));
  return [...at(spec.initContainers, 'initContainers'), ...at(spec.containers, 'containers')];
}

/** True for a sidecar: an init container that keeps running. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}
