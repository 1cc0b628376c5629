import { describe, expect, it } from 'vitest';
import { isAbsentInStatus, type PatchField, podSchema } from '../../../../src/api/patch/patch-schemas.ts';

/** Path of each list that merges, its key, and whether its elements retain named members only; from the published API of 1.36. */
function mergedLists(fields: Readonly<Record<string, PatchField>>, path = ''): string[] {
  return Object.entries(fields).flatMap(([name, { strategy, mergeKey = '-', retainKeys = false, members }]) => {
    const own = strategy === 'merge' ? [`${path}${name} ${mergeKey}${retainKeys ? ' retainKeys' : ''}`] : [];
    return [...own, ...mergedLists(members?.fields ?? {}, `${path}${name}.`)];
  });
}

describe('podSchema', () => {
  it('merges the lists that the API says merge, and no others', () => {
    const inContainers = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) => [
      `spec.${list} name`,
      `spec.${list}.ports containerPort`,
      `spec.${list}.env name`,
      `spec.${list}.volumeMounts mountPath`,
      `spec.${list}.volumeDevices devicePath`,
    ]);
    const expected = [
      'metadata.ownerReferences uid',
      'metadata.finalizers -',
      ...inContainers,
      'spec.volumes name retainKeys',
      'spec.imagePullSecrets name',
      'spec.hostAliases ip',
      'spec.topologySpreadConstraints topologyKey',
      'spec.schedulingGates name',
      'spec.resourceClaims name retainKeys',
      'status.conditions type',
      'status.podIPs ip',
      'status.hostIPs ip',
      'status.resourceClaimStatuses name retainKeys',
    ];
    expect(mergedLists(podSchema.fields).sort()).toEqual(expected.sort());
  });
});

describe('isAbsentInStatus', () => {
  it.each([
    ['message', ''],
    ['ready', false],
    ['restartCount', 0],
    ['conditions', []],
    ['state', {}],
    ['lastState', { terminated: null }],
    ['allocatedResources', {}],
    ['startTime', null],
  ])('takes %s: %j for absent', (key, value) => {
    expect(isAbsentInStatus(key, value)).toBe(true);
  });

  it.each([
    ['started', false],
    ['resourceClaimName', ''],
    ['recursiveReadOnly', ''],
    ['stopSignal', ''],
    ['running', {}],
    ['state', { waiting: {} }],
    ['message', 'x'],
    ['ready', true],
  ])('takes %s: %j for a value', (key, value) => {
    expect(isAbsentInStatus(key, value)).toBe(false);
  });
});
