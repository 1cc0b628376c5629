// Behaviour of pkg/kubelet/types/pod_update.go and pkg/kubelet/container (full names), v1.36.3.
import { invalidArgument } from '../../base/errors.ts';
import { requirePathSegment, requireText } from '../../base/options.ts';
import type { Pod } from '../json/types.ts';

/** Says where the agent has a pod from: `file`, `http` or `api`. */
export const configSourceAnnotationKey = 'kubernetes.io/config.source';
/** Marks a mirror pod; its value is the hash of the static pod it stands for. */
export const configMirrorAnnotationKey = 'kubernetes.io/config.mirror';
/** The hash of a static pod's own manifest. */
export const configHashAnnotationKey = 'kubernetes.io/config.hash';

/** The config source of a pod that came from the apiserver. */
export const apiserverSource = 'api';

/** A name and a namespace, which together name a static pod and its mirror pod. */
export interface PodFullName {
  /** The pod's name. */
  readonly name: string;
  /** The pod's namespace. */
  readonly namespace: string;
}

/** The pod's uid; empty for a pod that has none. */
export function podUIDOf({ metadata }: Pod): string {
  return metadata?.uid ?? '';
}

/**
 * True for a pod that came from anywhere but the apiserver. A pod that does not say where it came from is not static.
 *
 * @example
 * ```ts
 * import { isStaticPod } from 'pod-status-manager';
 *
 * console.log(isStaticPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } })); // true
 * ```
 */
export function isStaticPod(pod: Pod): boolean {
  const source = podSourceOf(pod);
  return source !== undefined && source !== apiserverSource;
}

/** The source that the agent has the pod from: `api`, `file`, ...; undefined for a pod that does not say it. */
export function podSourceOf(pod: Pod): string | undefined {
  return annotation(pod, configSourceAnnotationKey);
}

/**
 * True for a pod with the mirror annotation, whatever its value, also an empty one.
 *
 * @example
 * ```ts
 * import { isMirrorPod } from 'pod-status-manager';
 *
 * console.log(isMirrorPod({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'abc' } } })); // true
 * ```
 */
export function isMirrorPod(pod: Pod): boolean {
  return annotation(pod, configMirrorAnnotationKey) !== undefined;
}

/**
 * True when `mirrorPod` was made from exactly this version of `pod`: same name, and the hash it carries is the pod's.
 *
 * @example
 * ```ts
 * import { isMirrorPodOf } from 'pod-status-manager';
 *
 * const staticPod = { metadata: { name: 'web-node-1', namespace: 'default', annotations: { 'kubernetes.io/config.hash': 'abc' } } };
 * const mirrorPod = { metadata: { ...staticPod.metadata, annotations: { 'kubernetes.io/config.mirror': 'abc' } } };
 * console.log(isMirrorPodOf(mirrorPod, staticPod)); // true
 * ```
 */
export function isMirrorPodOf(mirrorPod: Pod, pod: Pod): boolean {
  if (mirrorPod.metadata?.name !== pod.metadata?.name || mirrorPod.metadata?.namespace !== pod.metadata?.namespace) return false;
  const hash = annotation(mirrorPod, configMirrorAnnotationKey);
  return hash !== undefined && hash === (annotation(pod, configHashAnnotationKey) ?? '');
}

/** True when `mirrorPod` was made from another version of `pod`. False where one of them does not say of which version it is. */
export function isMirrorPodOfAnother(mirrorPod: Pod, pod: Pod): boolean {
  const hash = annotation(pod, configHashAnnotationKey);
  const mirrored = annotation(mirrorPod, configMirrorAnnotationKey);
  return hash !== undefined && mirrored !== undefined && hash !== mirrored;
}

/** `name_namespace`: what a static pod and its mirror pod have in common. */
export function podFullName(pod: Pod): string {
  return buildPodFullName(pod.metadata?.name ?? '', pod.metadata?.namespace ?? '');
}

/** A pod as the kubelet's messages name it, such as `web_default(uid)`. */
export function podText(pod: Pod): string {
  return `${podFullName(pod)}(${podUIDOf(pod)})`;
}

/**
 * `name_namespace`, as the kubelet writes it: a static pod and its mirror pod have the same.
 *
 * @example
 * ```ts
 * import { buildPodFullName } from 'pod-status-manager';
 *
 * console.log(buildPodFullName('web', 'default')); // web_default
 * ```
 */
export function buildPodFullName(name: string, namespace: string): string {
  return `${name}_${namespace}`;
}

/**
 * The inverse of {@link buildPodFullName}. Throws ERR_INVALID_ARGUMENT unless there are exactly two parts and neither is empty.
 *
 * @example
 * ```ts
 * import { parsePodFullName } from 'pod-status-manager';
 *
 * const { name, namespace } = parsePodFullName('web_default');
 * console.log(name, namespace); // web default
 * ```
 */
export function parsePodFullName(fullName: string): PodFullName {
  const [name, namespace, ...rest] = fullName.split('_');
  if (!name || !namespace || rest.length > 0) throw invalidArgument('podFullName', 'of the form "name_namespace"', fullName);
  return { name, namespace };
}

function annotation(pod: Pod, key: string): string | undefined {
  const annotations = pod.metadata?.annotations;
  return annotations != null && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

export interface IdentifiedPod<P extends Pod = Pod> {
  readonly pod: P;
  readonly uid: string;
  readonly fullName: string;
}

/** The pod's uid. Throws ERR_INVALID_ARGUMENT for a pod without a uid, or without a name or namespace that fits into a path. */
export function requirePod(pod: Pod): string {
  if (typeof pod !== 'object' || pod === null) throw invalidArgument('pod', 'an object', pod);
  const { uid, name, namespace } = pod.metadata ?? {};
  requireText('pod.metadata.uid', uid);
  requirePathSegment('pod.metadata.name', name);
  requirePathSegment('pod.metadata.namespace', namespace);
  return uid;
}

/** What a pod is kept under. Throws as {@link requirePod} does. */
export function identify<P extends Pod>(pod: P): IdentifiedPod<P> {
  return { pod, uid: requirePod(pod), fullName: podFullName(pod) };
}

/** True for `Succeeded` and `Failed`: no container of the pod starts any more. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}
