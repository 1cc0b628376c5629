import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import type { Expected } from './expected.ts';
import type { Outcome } from './play.ts';
import type { Write } from './replay-client.ts';
import type { ResizeConditions, ServerPod } from './scenario.ts';

/** What of a pod is compared after a step. */
export type Aspect = 'notifications' | 'cache' | 'server' | 'writes' | 'resizeConditions';

export interface AspectDifference {
  readonly aspect: Aspect;
  readonly expected: unknown;
  readonly got: unknown;
}

/** One pod's part of an outcome. A pod is everything that carries one name: a static pod and its mirrors, the recreated ones. */
export interface PodView {
  readonly notifications: readonly unknown[];
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  readonly server: ServerPod | undefined;
  readonly writes: readonly Write[];
  readonly resizeConditions: ResizeConditions;
}

export function podView(outcome: Expected | Outcome, pod: string, podUIDs: ReadonlySet<string>): PodView {
  const own = <T>(byUID: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(byUID).filter(([podUID]) => podUIDs.has(podUID)));
  return {
    notifications: outcome.notifications.filter(({ podUID }) => podUIDs.has(podUID)),
    cache: own(outcome.cache),
    server: outcome.server[pod],
    writes: outcome.writes.filter((write) => write.pod === pod),
    resizeConditions: own(outcome.resizeConditions),
  };
}

export interface CompareOptions {
  /** The order of conditions counts: JSON Patch leaves them where they are and adds new ones at the end. */
  readonly conditionOrder: boolean;
}

/** The aspects in which the two differ, each with both sides. */
export function differences(expected: PodView, got: PodView, { conditionOrder }: CompareOptions): AspectDifference[] {
  const found: AspectDifference[] = [];
  for (const aspect of ['notifications', 'cache', 'server', 'writes', 'resizeConditions'] satisfies Aspect[]) {
    const [a, b] = [comparable(expected[aspect], conditionOrder), comparable(got[aspect], conditionOrder)];
    if (!isDeepStrictEqual(a, b)) found.push({ aspect, expected: a, got: b });
  }
  return found;
}
