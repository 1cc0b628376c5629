import { invalidOption } from '../../base/errors.ts';
import type { PodInfoReading } from '../nodes/pod-info.ts';
import { classicPodReading } from './classic-amounts.ts';

/**
 * Whose way of counting pods and nodes is followed. `v1.36`: as today's nodes count themselves. `v1.22`: as the classic scheduler counted,
 * which knows no sidecars, no resources of the pod itself and no resizes, and counts the images of nodes when a node comes or changes.
 */
export type PodCounting = 'v1.22' | 'v1.36';

/** The ways of counting, for the check of an option. */
export const podCountings: readonly PodCounting[] = ['v1.22', 'v1.36'];

/** What all profiles of a scheduler ask for: they share its pods and nodes. Throws ERR_INVALID_OPTION where they do not agree. */
export function countingOf(profiles: unknown): PodCounting {
  const asked = Array.isArray(profiles) ? profiles.map(askedBy) : [];
  const [first = 'v1.36'] = asked;
  const other = asked.findIndex((counting) => counting !== first);
  if (other === -1) return first;
  const rule = `${first}, as profiles[0] counts: the profiles of a scheduler share its pods and nodes`;
  throw invalidOption(`profiles[${other}].counting`, rule, asked[other]);
}

function askedBy(profile: unknown): PodCounting {
  if (typeof profile !== 'function') return 'v1.36';
  return (profile as { readonly counting?: PodCounting }).counting ?? 'v1.36';
}

/** How pods are read; undefined: as today. */
export function podReadingOf(counting: PodCounting): PodInfoReading | undefined {
  return counting === 'v1.22' ? classicPodReading : undefined;
}
