// Gates and their defaults after pkg/features/kube_features.go, v1.36.3.

import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../../../src/kubelet/agent/agent-settings.ts';

const refusal = (gate: string, value: unknown) => () => resolveSettings({ featureGates: { [gate]: value as boolean } });

describe('a feature gate', () => {
  it.each([
    ['NodeSwap', true],
    ['GitRepoVolumeDriver', false],
    ['PodLevelResources', true],
    ['SELinuxMount', false],
    ['AllAlpha', false],
    // the agent does the same with both
    ['EventedPLEG', true],
    ['EventedPLEG', false],
    // the agent does what it says
    ['MemoryQoS', true],
    ['MemoryQoS', false],
    // gates of the scheduler, of the apiserver, of Go's client
    ['GangScheduling', true],
    ['WatchList', false],
    ['ClientsAllowCBOR', true],
  ])('%s may be %s', (gate, value) => {
    expect(resolveSettings({ featureGates: { [gate]: value } }).featureGates).toEqual({ [gate]: value });
  });

  it.each([
    ['NodeSwap', false, 'true, since Kubernetes v1.36 lets nobody turn it off'],
    ['GitRepoVolumeDriver', true, 'false, since Kubernetes v1.36 lets nobody turn it on'],
    ['PodLevelResources', false, 'true, since this agent always does what the gate turns on'],
    ['PodLogsQuerySplitStreams', true, 'false, since this agent does not do what the gate turns on'],
    ['AllAlpha', true, 'name the gates'],
    ['AllBeta', true, 'name the gates'],
    ['AllBeta', false, 'name the gates'],
    ['DynamicKubeletConfig', true, 'left out, since Kubernetes v1.36 has no such gate'],
    ['toString', true, 'left out, since Kubernetes v1.36 has no such gate'],
    ['NodeSwap', 'true', 'boolean'],
  ])('%s cannot be %s', (gate, value, rule) => {
    expect(refusal(gate, value)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(`featureGates.${gate}`) }),
    );
    expect(refusal(gate, value)).toThrow(rule);
  });

  it('is in a list of a size that somebody writes', () => {
    const gates = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`Gate${index}`, true]));
    expect(() => resolveSettings({ featureGates: gates })).toThrow('at most 500');
    expect(() => resolveSettings({ featureGates: ['NodeSwap'] as never })).toThrow('an object of gates');
  });
});
