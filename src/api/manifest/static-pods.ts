// Behaviour of pkg/kubelet/config/common.go tryDecodeSinglePod and tryDecodePodList, v1.36.3.

import { createHash } from 'node:crypto';
import { invalidArgument } from '../../base/errors.ts';
import { requireObject, requireText } from '../../base/options.ts';
import type { Json, WirePod } from '../json/types.ts';
import { configHashAnnotationKey } from '../pod/pod-identity.ts';
import { podConfigMapNames, podSecretNames } from '../pod/pod-references.ts';
import { InvalidManifestError, ManifestFault, refuse } from './invalid-manifest.ts';
import { setPodDefaults } from './pod-defaults.ts';
import { checkPod } from './pod-rules.ts';
import type { ManifestPodSpec, Volume } from './pod-types.ts';
import { type ManifestValue, readManifest, shown } from './read-manifest.ts';
import { presentFields, typedValue } from './typed-value.ts';

type StaticPod = WirePod & { spec: ManifestPodSpec };

/**
 * The static pods of one manifest (YAML or JSON): a Pod, or, where it is no file, also a PodList. Each has the defaults of the
 * apiserver, a uid, the node's name behind its own, and the annotation kubernetes.io/config.hash, and each is checked as the
 * apiserver and the kubelet do it.
 *
 * Throws InvalidManifestError (ERR_INVALID_MANIFEST) for whatever is no such pod; its `parsed` says whether it was a pod at
 * all. One bad pod spoils its list. Throws ERR_INVALID_ARGUMENT for arguments of the wrong type. Never throws anything else.
 *
 * @example
 * ```ts
 * import { decodeStaticPods } from 'pod-status-manager/node';
 *
 * const manifest = `
 * apiVersion: v1
 * kind: Pod
 * metadata: { name: web }
 * spec:
 *   containers: [{ name: app, image: 'app:1' }]
 * `;
 * const [pod] = decodeStaticPods(manifest, { source: '/etc/pods/web.yaml', isFile: true, nodeName: 'node-1' });
 * console.log(pod?.metadata?.namespace, pod?.metadata?.name); // default web-node-1
 * ```
 */
export function decodeStaticPods(text: string, origin: ManifestOrigin): WirePod[] {
  requireArguments(text, origin);
  let parsed = false;
  try {
    const pods = typedPods(readManifest(text), !origin.isFile);
    parsed = true;
    return pods.map((pod) => finished(pod, origin));
  } catch (cause) {
    const fault = cause instanceof ManifestFault ? cause : new ManifestFault('', 'a pod', text, { cause });
    throw new InvalidManifestError(origin.source, parsed, fault);
  }
}

function requireArguments(text: unknown, origin: unknown): void {
  if (typeof text !== 'string') throw invalidArgument('text', 'a string', text);
  requireObject('origin', origin);
  const { source, nodeName, isFile } = origin as Partial<ManifestOrigin>;
  requireText('origin.source', source);
  requireText('origin.nodeName', nodeName);
  if (typeof isFile !== 'boolean') throw invalidArgument('origin.isFile', 'a boolean', isFile);
}

/** The pods, with the types of their fields checked. */
function typedPods(value: ManifestValue, mayBeList: boolean): StaticPod[] {
  if (!(value instanceof Map)) return refuse('', 'an object', shown(value));
  const [apiVersion, kind] = [value.get('apiVersion') ?? null, value.get('kind') ?? null];
  if (apiVersion !== 'v1') refuse('apiVersion', '"v1"', shown(apiVersion));
  if (kind === 'Pod') return [typedValue('#Pod', value, '') as unknown as StaticPod];
  if (kind !== 'PodList' || !mayBeList) refuse('kind', mayBeList ? '"Pod" or "PodList"' : '"Pod"', shown(kind));
  return (typedValue('#PodList', value, '') as unknown as { readonly items: StaticPod[] }).items;
}

function finished({ apiVersion: _apiVersion, kind: _kind, ...pod }: StaticPod, origin: ManifestOrigin): WirePod {
  if (!pod.metadata?.name) refuse('metadata.name', 'given', pod.metadata?.name);
  setPodDefaults(pod);
  makeStatic(pod, origin);
  checkPod(pod);
  refuseApiReferences(pod);
  return presentFields('#Pod', pod as never) as WirePod;
}

// Behaviour of pkg/kubelet/config/common.go applyDefaults, v1.36.3.

type Toleration = NonNullable<ManifestPodSpec['tolerations']>[number];

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
function makeStatic(pod: WirePod & { spec: ManifestPodSpec }, origin: ManifestOrigin): void {
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

// Behaviour of pkg/api/pod HasAPIObjectReference, v1.36.3: a static pod runs without an apiserver.

/** Volumes that only an apiserver can give, with what they refer to. */
const volumeReferences: { readonly [K in keyof Volume]?: string } = {
  configMap: 'config maps',
  secret: 'secrets',
  csi: 'CSI drivers',
  glusterfs: 'endpoints',
  persistentVolumeClaim: 'persistent volume claims',
  ephemeral: 'persistent volume claims',
  azureFile: 'secrets',
};

/** Throws a fault for a pod that refers to an object of the apiserver. */
function refuseApiReferences(pod: WirePod & { spec: ManifestPodSpec }): void {
  const { spec } = pod;
  if (spec.serviceAccountName !== undefined)
    refuseReference('spec.serviceAccountName', 'service accounts', spec.serviceAccountName);
  for (const name of podSecretNames(pod)) refuseReference('spec', 'secrets', name);
  for (const name of podConfigMapNames(pod)) refuseReference('spec', 'config maps', name);
  if ((spec.resourceClaims ?? []).length > 0) refuseReference('spec.resourceClaims', 'resource claims', spec.resourceClaims);
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const kind of Object.keys(volume)) {
      const what = volumeReferences[kind as keyof Volume];
      if (what !== undefined) refuseReference(`spec.volumes[${index}].${kind}`, what, {});
    }
    for (const [at, source] of (volume.projected?.sources ?? []).entries()) {
      const isLocal = Object.keys(source).join() === 'downwardAPI';
      if (!isLocal) refuseReference(`spec.volumes[${index}].projected.sources[${at}]`, 'objects of the apiserver', source);
    }
  }
}

function refuseReference(path: string, what: string, value: unknown): never {
  return refuse(path, `free of references to ${what}, which a static pod may not have`, value);
}
