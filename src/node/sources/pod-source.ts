import { isJsonObject } from '../../api/json/json.ts';
import type { Pod, WirePod } from '../../api/json/types.ts';
import type { ManifestOrigin } from '../../api/manifest/static-pods.ts';
import { apiserverSource, configSourceAnnotationKey } from '../../api/pod/pod-identity.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';

/**
 * Takes the full list of a source's pods, and takes the place of the list before. Never throws and never waits. A pod that was
 * sent must not be changed afterwards: one that has changed is another object, and the same object says that nothing has.
 */
export type SendPods = (pods: readonly Pod[]) => void;

/**
 * Where pods come from: a file, a URL, an apiserver, or the embedder. A source sends its full list at its start, once it knows
 * it, and again whenever the list has changed; the same list again does no harm.
 */
export interface PodSource {
  /** Called once. A promise that it returns is not waited for; what it rejects with is logged. */
  start(send: SendPods): unknown;
  /** Called once, after `start`. When it has settled, `send` is called no more. */
  stop(): unknown;
  /** When the source last heard from where its pods come from, in milliseconds since the epoch; undefined before the first time. */
  lastObservedAt?(): number | undefined;
  /** Why the pods could not be read last; undefined once they were read again, and before any failure. */
  lastFailure?(): LastFailure | undefined;
}

/** The pods of one manifest, defaulted and checked. Throws for a manifest that is none, or that breaks a rule. */
export type DecodeManifest = (text: string, origin: ManifestOrigin) => readonly Pod[];

export function manifestText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/**
 * The same pod, changed in place. Its config source is `api`, as in the kubelet, whatever its annotations say: a tenant
 * may write them, and a pod with another source counts as static.
 */
export function receivedPod(pod: WirePod): WirePod {
  pod.metadata ??= {};
  const { metadata } = pod;
  if (!isJsonObject(metadata.annotations)) metadata.annotations = {};
  metadata.annotations[configSourceAnnotationKey] = apiserverSource;
  return pod;
}
