// Behaviour of pkg/kubelet/config/common.go tryDecodeSinglePod and tryDecodePodList, v1.36.3.

import { invalidArgument } from '../../base/errors.ts';
import { requireObject, requireText } from '../../base/options.ts';
import type { WirePod } from '../json/types.ts';
import { refuseApiReferences } from './api-references.ts';
import { setPodDefaults } from './defaults/pod-defaults.ts';
import { checkPod } from './rules/pod-rules.ts';
import { type ManifestOrigin, makeStatic } from './static-pod.ts';
import { InvalidManifestError, ManifestFault, refuse } from './text/invalid-manifest.ts';
import { type ManifestValue, shown } from './text/manifest-value.ts';
import { readManifest } from './text/read-manifest.ts';
import type { PodSpec } from './types/pod-parts.ts';
import { presentFields } from './types/present-fields.ts';
import { typedValue } from './types/typed-value.ts';

type StaticPod = WirePod & { spec: PodSpec };

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
