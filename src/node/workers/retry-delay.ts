// Behaviour of completeWork in pkg/kubelet/pod_workers.go, v1.36.3.

import { errorText } from '../../base/errors.ts';
import { earliestBackoffEnd } from './backoff-error.ts';

/**
 * In the message of an error that soon passes: a call that rejects with it is repeated after 1 s, and up to half a second. The
 * text is the kubelet's, and what counts is that the message contains it.
 */
export const networkNotReadyMessage = 'network is not ready';
const networkRetryMs = 1000;
/** Up to this share of a delay is added to it, by chance, so that pods spread. */
const jitter = 0.5;

export interface RetryOptions {
  readonly resyncIntervalMs: number;
  readonly backOffPeriodMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** How long after a call that succeeded the pod is synced again, in milliseconds. */
export function resyncDelayMs({ resyncIntervalMs, random }: RetryOptions): number {
  return resyncIntervalMs * (1 + random() * jitter);
}

/** How long a pod waits for others of its full name before it is looked at again, in milliseconds. */
export function startDelayMs({ backOffPeriodMs, random }: RetryOptions): number {
  return backOffPeriodMs * (1 + random() * jitter);
}

/** How long after a call that failed the call is repeated, in milliseconds. */
export function failureDelayMs(error: unknown, now: number, { resyncIntervalMs, backOffPeriodMs, random }: RetryOptions): number {
  const spread = 1 + random() * jitter;
  if (errorText(error).includes(networkNotReadyMessage)) return networkRetryMs * spread;
  const until = earliestBackoffEnd(error);
  const delayMs = until === undefined ? backOffPeriodMs : Math.max(0, Math.min(until - now, resyncIntervalMs));
  return delayMs * spread;
}
