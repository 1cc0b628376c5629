import { wordsOfAttempt } from '../../../../src/scheduler/cycle/failure-words.ts';
import { type Diagnosis, FitError } from '../../../../src/scheduler/framework/fit-error.ts';
import type { PluginRejection } from '../../../../src/scheduler/framework/plugin.ts';
import type { FailedAttempt } from '../../../../src/scheduler/reports/last-attempts.ts';
import type { KnownOfAttempts } from '../../../../src/scheduler/reports/pod-problem.ts';

export const full: PluginRejection = {
  plugin: 'NodeResourcesFit',
  code: 'Unschedulable',
  reasons: ['Insufficient cpu', 'Too many pods'],
};
export const tainted: PluginRejection = {
  plugin: 'TaintToleration',
  code: 'UnschedulableAndUnresolvable',
  reasons: ['node(s) had untolerated taint(s)'],
};

export function diagnosis(failures: Readonly<Record<string, PluginRejection>>, more: Partial<Diagnosis> = {}): Diagnosis {
  const byName = new Map(Object.entries(failures));
  const rejectors = new Set([...byName.values()].map(({ plugin }) => plugin));
  return {
    nodes: byName.size,
    failures: byName,
    rest: undefined,
    isRejectedAsSuch: false,
    rejectors,
    pending: new Set(),
    ...more,
  };
}

export function knownOf(more: Partial<KnownOfAttempts>): KnownOfAttempts {
  return {
    uid: 'a',
    place: undefined,
    placed: undefined,
    last: undefined,
    binding: undefined,
    victims: [],
    nominatedNodeName: undefined,
    asked: [],
    preemptionRetryAt: undefined,
    isSuspended: false,
    nodeNames: () => [],
    now: 0,
    wallTime: (time) => time,
    asksForEvents: () => true,
    maxInUnschedulableMs: 300_000,
    ...more,
  };
}

/** An attempt that found no node. */
export function failedFit(at: number, found: Diagnosis): FailedAttempt {
  return {
    at,
    words: wordsOfAttempt(new FitError({}, found), undefined),
    isTold: false,
    diagnosis: found,
    preemption: undefined,
  };
}
