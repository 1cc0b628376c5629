// Behaviour of pkg/kubelet/config/common.go applyDefaults, v1.36.3.
import { createHash } from 'node:crypto';
import type { Json, WirePod } from '../json/types.ts';
import { configHashAnnotationKey } from '../pod/pod-identity.ts';
import type { PodSpec } from './types/pod-parts.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Where a manifest came from. */
export interface ManifestOrigin {
  /** The path of a file, or a URL. */
  readonly source: string;
  /** True for a file, which holds one pod. Other origins may also hold a list of pods. */
  readonly isFile: boolean;
  /** The node that runs the pods. Its name, in lower case, is appended to theirs. */
  readonly nodeName: string;
}

/** Makes a pod one of this node: its uid (unless it has one), its name, and what it tolerates. */
export function makeStatic(pod: WirePod & { spec: PodSpec }, origin: ManifestOrigin): void {
  const metadata = pod.metadata ?? {};
  pod.metadata = metadata;
  metadata.uid ??= uidOf(pod, origin);
  metadata.name = `${metadata.name}-${origin.nodeName.toLowerCase()}`;
  metadata.namespace ??= 'default';
  metadata.annotations = { ...metadata.annotations, [configHashAnnotationKey]: metadata.uid };
  pod.spec.nodeName = origin.nodeName;
  if (origin.isFile) pod.spec.tolerations = withNoExecute(pod.spec.tolerations ?? []);
  pod.status = { ...pod.status, phase: 'Pending' };
}

/** The same for the same manifest from the same place, and another one otherwise: for files, on each node. */
function uidOf(pod: WirePod, { source, isFile, nodeName }: ManifestOrigin): string {
  const place = isFile ? ['host', nodeName, 'file', source] : ['url', source];
  return createHash('sha256')
    .update(JSON.stringify([place, sorted(pod as Json)]))
    .digest('hex')
    .slice(0, 32);
}

/** The value with its members in the order of their names. */
function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** With the toleration of whatever a node may suffer: a toleration of the same taints is replaced. */
function withNoExecute(tolerations: readonly Toleration[]): Toleration[] {
  const all: Toleration = { operator: 'Exists', effect: 'NoExecute' };
  const isSame = ({ key, value, operator, effect }: Toleration) =>
    key === undefined && value === undefined && operator === all.operator && effect === all.effect;
  const found = tolerations.some(isSame);
  return [...tolerations.map((toleration) => (isSame(toleration) ? { ...all } : toleration)), ...(found ? [] : [all])];
}
