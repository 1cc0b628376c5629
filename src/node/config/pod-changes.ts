// Behaviour of pkg/kubelet/config/config.go (checkAndUpdatePod), v1.36.3.
import { isJsonObject } from '../../api/json/json.ts';
import { formatTime, hasFourDigitYear } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { configMirrorAnnotationKey, configSourceAnnotationKey } from '../../api/pod/pod-identity.ts';

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
    labels,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
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

/** A copy without the members that are undefined. An object that loses a member becomes slow, and several times as large. */
function withoutAbsent<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

function annotationsOf(pod: Pod): Annotations {
  const annotations: unknown = pod.metadata?.annotations;
  return isJsonObject(annotations) ? (annotations as Annotations) : {};
}

/** Deeper parts count as different: no pod of the API comes near it, and none may exhaust the stack. */
const deepest = 200;

/**
 * True when both values say the same in JSON: a member that is null or undefined counts as absent, a `Date` as its whole
 * second. Parts that are one object cost nothing.
 */
export function sameContent(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (a === null || a === undefined || b === null || b === undefined) return (a ?? null) === (b ?? null);
  if (a instanceof Date || b instanceof Date) return textOfTime(a) === textOfTime(b);
  if (typeof a !== 'object' || typeof b !== 'object' || depth > deepest) return false;
  if (Array.isArray(a) || Array.isArray(b)) return sameItems(a, b, depth);
  return sameMembers(a as Members, b as Members, depth);
}

type Members = Readonly<Record<string, unknown>>;

function sameItems(a: object, b: object, depth: number): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, index) => sameContent(item, b[index], depth + 1));
}

function sameMembers(a: Members, b: Members, depth: number): boolean {
  for (const key of Object.keys(a)) {
    if (!sameContent(a[key], Object.hasOwn(b, key) ? b[key] : undefined, depth + 1)) return false;
  }
  for (const key of Object.keys(b)) {
    if (!Object.hasOwn(a, key) && b[key] !== null && b[key] !== undefined) return false;
  }
  return true;
}

function textOfTime(value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  return hasFourDigitYear(value.getTime()) ? formatTime(value.getTime()) : undefined;
}

/**
 * What changed. `ADD`: pods not known before. `UPDATE`: their spec, labels or annotations changed. `DELETE`: they carry a
 * deletionTimestamp, and something of them changed. `REMOVE`: the source has them no more. `RECONCILE`: only their status
 * changed. `SET`: the pods of all sources, in mode `Snapshot` and, for a list that added or removed, `SnapshotAndUpdates`.
 */
export type PodOperation = 'SET' | 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE';

/** Pods to which one operation applies. An ADD without pods says that the source has been heard from. */
export interface PodUpdate {
  /** What has happened to all of the pods. */
  readonly op: PodOperation;
  /** The source that has sent the list. */
  readonly source: string;
  /** Shared with the config: a receiver must not change them. A pod that changes later is another object. */
  readonly pods: readonly Pod[];
}
