// After pkg/apis/core/v1/helper/qos/qos_test.go, v1.36.3: TestComputePodQOS.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/api/json/types.ts';
import { computePodQOSClass } from '../../../../src/api/pod/pod-qos-class.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';

const container = (requests: JsonObject, limits: JsonObject): JsonObject => ({ name: 'c', resources: { requests, limits } });

describe('computePodQOSClass', () => {
  it.each([
    ['no resources', [{ name: 'c' }], 'BestEffort'],
    ['zero amounts', [container({ cpu: '0' }, {})], 'BestEffort'],
    ['other resources', [container({ 'example.com/gpu': '1' }, { 'example.com/gpu': '1' })], 'BestEffort'],
    ['a request', [container({ cpu: '100m' }, {})], 'Burstable'],
    ['one limit of two', [container({ cpu: '1' }, { cpu: '1' })], 'Burstable'],
    ['less requested than the limit', [container({ cpu: '1', memory: '1Gi' }, { cpu: '2', memory: '1Gi' })], 'Burstable'],
    ['all limits, in other units', [container({ cpu: '1', memory: '1024Mi' }, { cpu: '1000m', memory: '1Gi' })], 'Guaranteed'],
    ['all limits, and nothing asked for', [container({}, { cpu: '1', memory: '1' })], 'Burstable'],
    ['numbers', [container({ cpu: 1, memory: 1 }, { cpu: '1', memory: '1' })], 'Guaranteed'],
    ['what is no quantity', [container({ cpu: 'much', memory: null }, { cpu: '1e' })], 'BestEffort'],
    ['more than any node has', [container({}, { cpu: '1e2000000000' })], 'Burstable'],
    ['one container of two', [container({ cpu: '1', memory: '1' }, { cpu: '1', memory: '1' }), { name: 'd' }], 'Burstable'],
  ])('%s', (_what, containers, expected) => {
    expect(computePodQOSClass({ containers })).toBe(expected);
  });

  it('counts init containers, and the resources of the pod itself before those of containers', () => {
    const full = container({ cpu: '1', memory: '1' }, { cpu: '1', memory: '1' });
    expect(computePodQOSClass({ containers: [full], initContainers: [{ name: 'i' }] })).toBe('Burstable');
    expect(computePodQOSClass({ containers: [{ name: 'c' }], resources: full.resources ?? {} })).toBe('Guaranteed');
  });

  it('asks the pod itself for both limits', () => {
    const resources = { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1' } };
    expect(computePodQOSClass({ containers: [], resources })).toBe('Burstable');
  });

  it.each([
    undefined,
    null,
    {},
    { containers: 7 },
    { containers: [null, 'c'] },
  ])('is BestEffort for a spec such as %j', (spec) => {
    expect(computePodQOSClass(spec)).toBe('BestEffort');
  });

  it('uses the limits as requests when a pod is created without requests', () => {
    const limits = { cpu: '1', memory: '1Gi' };
    const pod = buildPod({ spec: { containers: [{ name: 'c', image: 'i', resources: { limits } }] } });
    expect(new PodStore().create(pod).status?.qosClass).toBe('Guaranteed');
  });
});
