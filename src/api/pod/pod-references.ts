// Behaviour of pkg/api/v1/pod/util.go, v1.36.3: which secrets and config maps a pod names.

import type { Pod } from '../json/types.ts';
import type { Container, PodSpec } from './pod-containers.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];

/**
 * The names of all secrets that a pod names: image pull secrets, and what its containers (of every sort) and volumes refer
 * to. They are in the pod's namespace. What a claim or a volume of the cluster refers to is not among them.
 *
 * @example
 * ```ts
 * import { podSecretNames } from 'pod-status-manager/object-managers';
 *
 * const names = podSecretNames({ spec: { containers: [], imagePullSecrets: [{ name: 'registry' }] } });
 * console.log([...names].join()); // registry
 * ```
 */
export function podSecretNames(pod: Pod): Set<string> {
  const { spec } = pod;
  return namesOf([
    ...list(spec?.imagePullSecrets).map((reference) => reference?.name),
    ...containersOf(spec).flatMap(secretsOfContainer),
    ...list(spec?.volumes).flatMap(secretsOfVolume),
  ]);
}

/**
 * The names of all config maps that a pod's containers (of every sort) and volumes refer to. They are in the pod's namespace.
 *
 * @example
 * ```ts
 * import { podConfigMapNames } from 'pod-status-manager/object-managers';
 *
 * const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
 * console.log([...podConfigMapNames({ spec: { containers: [], volumes } })].join()); // settings
 * ```
 */
export function podConfigMapNames(pod: Pod): Set<string> {
  const { spec } = pod;
  return namesOf([...containersOf(spec).flatMap(configMapsOfContainer), ...list(spec?.volumes).flatMap(configMapsOfVolume)]);
}

function secretsOfContainer(container: Container): unknown[] {
  return [
    ...list(container?.envFrom).map((source) => source?.secretRef?.name),
    ...list(container?.env).map((variable) => variable?.valueFrom?.secretKeyRef?.name),
  ];
}

function configMapsOfContainer(container: Container): unknown[] {
  return [
    ...list(container?.envFrom).map((source) => source?.configMapRef?.name),
    ...list(container?.env).map((variable) => variable?.valueFrom?.configMapKeyRef?.name),
  ];
}

function secretsOfVolume(volume: Volume): unknown[] {
  return [
    volume?.secret?.secretName,
    ...list(volume?.projected?.sources).map((source) => source?.secret?.name),
    volume?.azureFile?.secretName,
    volume?.cephfs?.secretRef?.name,
    volume?.cinder?.secretRef?.name,
    volume?.csi?.nodePublishSecretRef?.name,
    volume?.flexVolume?.secretRef?.name,
    volume?.iscsi?.secretRef?.name,
    volume?.rbd?.secretRef?.name,
    volume?.scaleIO?.secretRef?.name,
    volume?.storageos?.secretRef?.name,
  ];
}

function configMapsOfVolume(volume: Volume): unknown[] {
  return [volume?.configMap?.name, ...list(volume?.projected?.sources).map((source) => source?.configMap?.name)];
}

function containersOf(spec: Pod['spec']): Container[] {
  return [...list(spec?.initContainers), ...list(spec?.containers), ...list(spec?.ephemeralContainers)];
}

/** A list as Go may write it, or as a careless caller may: anything that is no list counts as an empty one. */
function list<T>(value: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}

/** An empty name refers to nothing. */
function namesOf(names: readonly unknown[]): Set<string> {
  return new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''));
}
