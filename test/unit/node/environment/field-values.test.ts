import { describe, expect, it } from 'vitest';
import { resourceField } from '../../../../src/api/pod/pod-fields.ts';
import { containerResourceValue, podFieldValue } from '../../../../src/node/environment/pod-field.ts';
import type { BareParts } from '../../../support/pods.ts';
import { shopPod } from '../../kubelet/containers/shop-pod.ts';

const addresses = { podIPs: ['10.0.0.7', 'fd00::7'], hostIPs: ['192.168.0.1', 'fe80::1'] };

const podWith = (spec: BareParts['spec'] = {}) => shopPod({ nodeName: 'node-1', serviceAccountName: 'seller', ...spec });

describe('podFieldValue', () => {
  it.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', 'u-1'],
    ['spec.nodeName', 'node-1'],
    ['spec.host', 'node-1'],
    ['spec.serviceAccountName', 'seller'],
    ['status.podIP', '10.0.0.7'],
    ['status.podIPs', '10.0.0.7,fd00::7'],
    ['status.hostIP', '192.168.0.1'],
    ['status.hostIPs', '192.168.0.1,fe80::1'],
    ["metadata.labels['none']", ''],
  ])('%s is %s', (fieldPath, expected) => {
    expect(podFieldValue(podWith(), { fieldPath }, addresses)).toBe(expected);
  });

  it('is empty for the address of a pod that has none yet', () => {
    expect(podFieldValue(podWith(), { fieldPath: 'status.podIP' }, { ...addresses, podIPs: [] })).toBe('');
  });

  it.each([
    [{ fieldPath: 'status.reason' }, 'field label not supported: status.reason'],
    [{ fieldPath: 'status.phase' }, 'unsupported fieldPath: status.phase'],
    [{ fieldPath: "spec.nodeName['x']" }, 'field label does not support subscript'],
    [{ fieldPath: 'metadata.name', apiVersion: 'v2' }, 'unsupported pod version: v2'],
  ])('refuses %j', (selector, message) => {
    expect(() => podFieldValue(podWith(), selector, addresses)).toThrow(message);
  });

  it('refuses the address of a node that has none yet', () => {
    expect(() => podFieldValue(podWith(), { fieldPath: 'status.hostIP' }, { podIPs: [], hostIPs: [] })).toThrow(
      'the node has no address yet',
    );
  });
});

describe('resource fields', () => {
  const app = {
    name: 'app',
    resources: {
      requests: { cpu: '250m', memory: '33Mi', 'hugepages-2Mi': '4Mi' },
      limits: { cpu: '1500m', memory: '64Mi', 'ephemeral-storage': '2Gi' },
    },
  };
  const bare = { name: 'bare' };
  const pod = podWith({ containers: [app, bare], initContainers: [{ name: 'init' }] });
  const allocatable = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi' };

  it.each([
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '1m', '1500'],
    ['requests.cpu', '0', '1'],
    ['limits.memory', undefined, '67108864'],
    ['requests.memory', '1Mi', '33'],
    ['requests.memory', '10Mi', '4'],
    ['limits.ephemeral-storage', '1Gi', '2'],
    ['requests.ephemeral-storage', undefined, '0'],
    ['requests.hugepages-2Mi', '1Mi', '4'],
    ['limits.hugepages-2Mi', undefined, '0'],
  ])('%s in units of %s is %s', (resource, divisor, expected) => {
    expect(containerResourceValue(pod, app, { resource, divisor }, allocatable)).toBe(expected);
    expect(resourceField(pod, 'app', { resource, divisor }, allocatable)).toBe(expected);
  });

  it('takes what the node can allocate where a container has no limit', () => {
    expect(containerResourceValue(pod, bare, { resource: 'limits.cpu' }, allocatable)).toBe('4');
    expect(resourceField(pod, 'init', { resource: 'limits.memory', divisor: '1Gi' }, allocatable)).toBe('8');
    // in an environment the kubelet gives defaults to regular containers only
    expect(containerResourceValue(pod, bare, { resource: 'limits.cpu', containerName: 'init' }, allocatable)).toBe('0');
  });

  it('takes the limit of the pod itself before that of the node, in an environment', () => {
    const limited = podWith({ containers: [bare], resources: { limits: { cpu: '2' } } });
    expect(containerResourceValue(limited, bare, { resource: 'limits.cpu' }, allocatable)).toBe('2');
    expect(resourceField(limited, 'bare', { resource: 'limits.cpu' }, allocatable)).toBe('4');
  });

  it('refuses other resources and containers', () => {
    expect(() => containerResourceValue(pod, app, { resource: 'limits.pods' }, allocatable)).toThrow(
      'unsupported container resource',
    );
    expect(() => resourceField(pod, 'no', { resource: 'limits.cpu' }, allocatable)).toThrow('container no not found');
  });
});
