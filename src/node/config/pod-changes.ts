// Behaviour of pkg/kubelet/config/config.go (checkAndUpdatePod), v1.36.3.

import { isJsonObject } from '../../api/json/json.ts';
import type { Pod } from '../../api/json/types.ts';
import { configMirrorAnnotationKey, configSourceAnnotationKey } from '../../api/pod/pod-identity.ts';
import { sameContent } from './same-content.ts';

/** When the agent first saw the pod; written by the config. */
export const configSeenAnnotationKey = 'kubernetes.io/config.seen';

/** They say where the agent has a pod from. A change of one of them is no change of the pod. */
export const localAnnotationKeys: readonly string[] = [
  configSourceAnnotationKey,
  configMirrorAnnotationKey,
  configSeenAnnotationKey,
];

type Annotations = Readonly<Record<string, string>>;
type Metadata = NonNullable<Pod['metadata']>;

/** Whose metadata a known pod has after a change: mostly those of the first sight, as in the kubelet, or the newest. */
export type MetadataOf = 'firstSeen' | 'latest';

/** What a list says of a pod that is known: the operation, if it says anything, and the pod from now on. */
export interface PodChange {
  readonly op: 'UPDATE' | 'DELETE' | 'RECONCILE' | undefined;
  readonly pod: Pod;
}

/** The pod as it is kept from its first sight on. `given` itself stays as it is. */
export function newPod(given: Pod, source: string, seenAt: string): Pod {
  const annotations = {
    ...annotationsOf(given),
    [configSourceAnnotationKey]: source,
    [configSeenAnnotationKey]: seenAt,
  };
  return { ...given, metadata: { ...given.metadata, annotations } };
}

/** Compares the pod that is kept with the one that a list has; neither is changed. */
export function changeOf(kept: Pod, given: Pod, metadataOf: MetadataOf): PodChange {
  if (differ(kept, given)) {
    const op = given.metadata?.deletionTimestamp ? 'DELETE' : 'UPDATE';
    return { op, pod: changed(kept, given, metadataOf) };
  }
  if (!sameContent(kept.status ?? {}, given.status ?? {})) {
    return { op: 'RECONCILE', pod: withStatus(metadataOf === 'latest' ? changed(kept, given, metadataOf) : kept, given) };
  }
  return { op: undefined, pod: metadataOf === 'latest' ? changed(kept, given, metadataOf) : kept };
}

function differ(kept: Pod, given: Pod): boolean {
  const [a, b] = [kept.metadata ?? {}, given.metadata ?? {}];
  return (
    !sameContent(kept.spec ?? {}, given.spec ?? {}) ||
    !sameContent(a.labels ?? {}, b.labels ?? {}) ||
    !sameContent(a.deletionTimestamp, b.deletionTimestamp) ||
    !sameContent(a.deletionGracePeriodSeconds, b.deletionGracePeriodSeconds) ||
    !sameAnnotations(annotationsOf(kept), annotationsOf(given))
  );
}

function sameAnnotations(kept: Annotations, given: Annotations): boolean {
  const isOther = (one: Annotations, other: Annotations) => (key: string) =>
    !localAnnotationKeys.includes(key) && !(Object.hasOwn(other, key) && other[key] === one[key]);
  return !Object.keys(given).some(isOther(given, kept)) && !Object.keys(kept).some(isOther(kept, given));
}

function changed(kept: Pod, given: Pod, metadataOf: MetadataOf): Pod {
  const [a, b]: [Metadata, Metadata] = [kept.metadata ?? {}, given.metadata ?? {}];
  const identity = { name: a.name, namespace: a.namespace, uid: a.uid };
  const { labels, deletionTimestamp, deletionGracePeriodSeconds, generation } = b;
  const metadata = withoutAbsent({
    ...(metadataOf === 'latest' ? { ...b, ...identity } : a),
    ...{ labels, deletionTimestamp, deletionGracePeriodSeconds, generation },
    annotations: mergedAnnotations(annotationsOf(kept), annotationsOf(given)),
  });
  return withStatus(withoutAbsent({ ...kept, spec: given.spec, metadata }), given);
}

/** The given annotations; the local ones stay as they are where the kept pod has them. */
function mergedAnnotations(kept: Annotations, given: Annotations): Annotations {
  const local = localAnnotationKeys.filter((key) => Object.hasOwn(kept, key)).map((key) => [key, kept[key] ?? '']);
  return { ...given, ...Object.fromEntries(local) };
}

function withStatus(pod: Pod, { status }: Pod): Pod {
  return withoutAbsent({ ...pod, status });
}

/** The same object, without the members that are undefined. */
function withoutAbsent<T extends object>(object: T): T {
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) delete object[key as keyof T];
  }
  return object;
}

function annotationsOf(pod: Pod): Annotations {
  const annotations: unknown = pod.metadata?.annotations;
  return isJsonObject(annotations) ? (annotations as Annotations) : {};
}
