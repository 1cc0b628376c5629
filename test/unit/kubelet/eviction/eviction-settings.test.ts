import { describe, expect, it } from 'vitest';
import { type AgentSettings, resolveSettings } from '../../../../src/kubelet/agent/agent-settings.ts';

describe('the settings of eviction', () => {
  it('take the kubelet’s thresholds where none is given, and beside given ones where they are to be merged', () => {
    const defaults = resolveSettings({}).evictionHard;
    const evictionHard = { 'memory.available': '500Mi', 'pid.available': '10%' };
    expect(defaults).toMatchObject({ 'memory.available': '100Mi', 'imagefs.available': '15%' });
    expect(resolveSettings({ evictionHard }).evictionHard).toEqual(evictionHard);
    expect(resolveSettings({ evictionHard, mergeDefaultEvictionSettings: true }).evictionHard).toEqual({
      ...defaults,
      ...evictionHard,
    });
  });

  it.each<[AgentSettings, string]>([
    [
      { evictionHard: { 'memory.available': '0' } },
      'Expected `evictionHard.memory.available` to be a share up to "100%", or a quantity above 0',
    ],
    [{ evictionHard: { 'memory.available': '101%' } }, 'Expected `evictionHard.memory.available` to be a share'],
    [{ evictionHard: { 'memory.available': '-5Mi' } }, 'Expected `evictionHard.memory.available` to be a share'],
    [
      { evictionHard: { 'cpu.available': '5' } },
      'Expected `evictionHard` to be an object with memory.available, allocatableMemory.available',
    ],
    [{ evictionHard: null as never }, 'Expected `evictionHard` to be an object'],
    [
      { evictionSoft: { 'memory.available': '1Gi' } },
      'Expected `evictionSoftGracePeriodMs.memory.available` to be a number: evictionSoft has this',
    ],
    [
      { evictionSoft: { 'memory.available': '1Gi' }, evictionSoftGracePeriodMs: { 'memory.available': -1 } },
      'Expected `evictionSoftGracePeriodMs.memory.available` to be a number from 0',
    ],
    [{ evictionSoftGracePeriodMs: { memory: 1 } }, 'Expected `evictionSoftGracePeriodMs` to be an object with memory.available'],
    [
      { evictionMinimumReclaim: { 'nodefs.available': '0%' } },
      'Expected `evictionMinimumReclaim.nodefs.available` to be a share above "0%"',
    ],
    [
      { evictionMinimumReclaim: { 'nodefs.available': '-1' } },
      'Expected `evictionMinimumReclaim.nodefs.available` to be a share above',
    ],
    [{ evictionMaxPodGracePeriodSeconds: -1 }, 'Expected `evictionMaxPodGracePeriodSeconds` to be an integer from 0 up'],
    [{ evictionPressureTransitionPeriodMs: -1 }, 'Expected `evictionPressureTransitionPeriodMs` to be a number from 0'],
    [{ kernelMemcgNotification: 'yes' as never }, 'Expected `kernelMemcgNotification` to be a boolean'],
    [{ localStorageCapacityIsolation: 1 as never }, 'Expected `localStorageCapacityIsolation` to be a boolean'],
    [{ imageMaximumGCAgeMs: 120_000 }, 'Expected `imageMaximumGCAgeMs` to be 0, or more than imageMinimumGCAgeMs (120000)'],
    [{ imageGCLowThresholdPercent: 90 }, 'Expected `imageGCLowThresholdPercent` to be at most imageGCHighThresholdPercent'],
    [
      { serializeImagePulls: true, maxParallelImagePulls: 2 },
      'Expected `maxParallelImagePulls` to be 1, unless serializeImagePulls is false',
    ],
  ])('refuse %j', (given, message) => {
    expect(() => resolveSettings(given)).toThrow(message);
  });

  it('allow what the kubelet allows', () => {
    const allowed: AgentSettings = {
      evictionHard: { 'memory.available': '100%', 'nodefs.available': '0%', 'allocatableMemory.available': '1Gi' },
      evictionSoft: { 'pid.available': '12.5%', 'containerfs.available': '5%' },
      evictionSoftGracePeriodMs: { 'pid.available': 0, 'nodefs.available': 5 },
      evictionMinimumReclaim: { 'pid.available': '0', 'nodefs.available': '1%' },
      imageMaximumGCAgeMs: 120_001,
    };
    expect(resolveSettings(allowed)).toMatchObject(allowed);
  });

  it('pull images side by side where several may be pulled at a time', () => {
    const serialize = (given: AgentSettings): boolean => resolveSettings(given).serializeImagePulls;
    expect([serialize({}), serialize({ maxParallelImagePulls: 1 }), serialize({ maxParallelImagePulls: 2 })]).toEqual([
      true,
      true,
      false,
    ]);
    expect(serialize({ maxParallelImagePulls: 1, serializeImagePulls: false })).toBe(false);
  });
});
