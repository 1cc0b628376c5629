import type { JsonObject, WirePod } from '../../src/api/json/types.ts';

/** An answer, which may be a refusal. A body that is not JSON is text. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A pod in a server's answer: the fields that are always there are not optional. */
export type ServedPod = WirePod & {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: NonNullable<WirePod['spec']>;
  readonly status: NonNullable<WirePod['status']>;
};

function hasKind(body: unknown, kind: string): boolean {
  return typeof body === 'object' && body !== null && 'kind' in body && body.kind === kind;
}

function unexpected(answer: Answer, kind: string): Error {
  return new Error(`Expected a ${kind}, got status ${answer.status}: ${JSON.stringify(answer.body)?.slice(0, 500)}`);
}

/** The pod of an answer; throws an error with the answer when it is no pod. */
export function podOf(answer: Answer): ServedPod {
  if (answer.status >= 300 || !hasKind(answer.body, 'Pod')) throw unexpected(answer, 'Pod');
  return answer.body as ServedPod;
}

/** An object of any resource in a server's answer. */
export type ServedObject = JsonObject & {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: JsonObject & { readonly name: string; readonly uid: string; readonly resourceVersion: string };
};

/** The object of an answer; throws an error with the answer when it is a refusal. */
export function objectOf(answer: Answer): ServedObject {
  if (answer.status >= 300 || hasKind(answer.body, 'Status')) throw unexpected(answer, 'object');
  return answer.body as ServedObject;
}

export interface ServedList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly ServedObject[];
}

export function listOf(answer: Answer): ServedList {
  if (answer.status !== 200 || hasKind(answer.body, 'Status')) throw unexpected(answer, 'list');
  return answer.body as ServedList;
}

export interface ServedPodList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ServedPod[];
}

export function podListOf(answer: Answer): ServedPodList {
  if (answer.status !== 200 || !hasKind(answer.body, 'PodList')) throw unexpected(answer, 'PodList');
  return answer.body as ServedPodList;
}
