import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../src/api/json/types.ts';
import {
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
} from '../../src/status/conditions/generate-conditions.ts';
import { recordedCalls } from './recorded-tables.ts';

interface Input {
  readonly pod: Pod;
  readonly old: PodStatus;
  readonly conditions?: PodStatus['conditions'];
  readonly containerStatuses?: PodStatus['containerStatuses'];
  readonly phase: string;
}

/** Go writes the two times it never sets as null; ours are not there at all. */
const unsetTimes = { lastProbeTime: null, lastTransitionTime: null };

const generators = {
  generateContainersReadyCondition: ({ pod, old, containerStatuses, phase }: Input) =>
    generateContainersReadyCondition(pod, old, containerStatuses, phase),
  generatePodReadyCondition: ({ pod, old, conditions, containerStatuses, phase }: Input) =>
    generatePodReadyCondition(pod, old, conditions, containerStatuses, phase),
  generatePodInitializedCondition: ({ pod, old, containerStatuses, phase }: Input) =>
    generatePodInitializedCondition(pod, old, containerStatuses, phase),
};

describe.each(Object.entries(generators))('%s', (fn, generate) => {
  it('agrees with every recorded call of the upstream function', () => {
    const calls = recordedCalls<Input, object>(fn);
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) {
      expect({ ...unsetTimes, ...generate(call.in) }, JSON.stringify(call.in)).toStrictEqual(call.out);
    }
  });
});
