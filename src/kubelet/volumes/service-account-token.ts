import type { Pod } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';

/** Which token is asked for. */
export interface TokenRequest {
  /** The service account, in the pod's namespace. */
  readonly serviceAccountName: string;
  /** Whom the token is for; empty: the apiserver. */
  readonly audience: string;
  /** How long the token is to be valid, in seconds. */
  readonly expirationSeconds: number;
}

/** A token of a service account that is bound to one pod. */
export interface ServiceAccountToken {
  /** The token itself. Secret. */
  readonly token: string;
  /** When it ends to be valid, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The pod that a token is bound to. */
export interface TokenPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Throws ERR_INVALID_ARGUMENT for a pod that lacks its namespace, name or uid. */
export function tokenPodOf({ metadata }: Pod): TokenPod {
  const { namespace, name, uid } = metadata ?? {};
  if (!namespace) throw invalidArgument('pod.metadata.namespace', 'a non-empty string', namespace);
  if (!name) throw invalidArgument('pod.metadata.name', 'a non-empty string', name);
  if (!uid) throw invalidArgument('pod.metadata.uid', 'a non-empty string', uid);
  return { namespace, name, uid };
}

/** The body of a TokenRequest, as the kubelet sends it. */
export function tokenRequestBody({ name, uid }: TokenPod, { audience, expirationSeconds }: TokenRequest): object {
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: audience === '' ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
}

/** What the server answers a TokenRequest with. `lifeMs` is how long the token is valid from its beginning. Throws for anything else. */
export function tokenOfAnswer(answer: unknown, askedSeconds: number): ServiceAccountToken & { readonly lifeMs: number } {
  const { spec, status } = membersOf(answer);
  const { token, expirationTimestamp } = membersOf(status);
  const expiresAt = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.NaN;
  if (typeof token !== 'string' || token === '' || !Number.isFinite(expiresAt)) {
    throw new Error('the answer to a TokenRequest holds no token');
  }
  const { expirationSeconds } = membersOf(spec);
  const seconds = typeof expirationSeconds === 'number' && expirationSeconds > 0 ? expirationSeconds : askedSeconds;
  return { token, expiresAt, lifeMs: seconds * 1000 };
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
