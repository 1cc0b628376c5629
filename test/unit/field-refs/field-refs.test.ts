import { describe, expect, it } from 'vitest';
import { metadataFieldValue, splitSubscript } from '../../../src/field-refs/metadata-field.ts';
import { podFieldValue } from '../../../src/field-refs/pod-field.ts';
import { environmentResourceValue, volumeResourceValue } from '../../../src/field-refs/resource-field.ts';
import type { Pod } from '../../../src/wire/types.ts';

const addresses = { podIPs: ['10.0.0.7', 'fd00::7'], hostIPs: ['192.168.0.1', 'fe80::1'] };

function podWith(metadata: Pod['metadata'], spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'u-1', ...metadata },
    spec: { nodeName: 'node-1', serviceAccountName: 'seller', containers: [], ...spec },
  };
}

describe('splitSubscript', () => {
  it.each([
    ["metadata.annotations['myKey']", { path: 'metadata.annotations', key: 'myKey' }],
    ["metadata.annotations['a[b]c']", { path: 'metadata.annotations', key: 'a[b]c' }],
    ["metadata.labels['']", { path: 'metadata.labels', key: '' }],
    ['metadata.labels', undefined],
    ["['x']", undefined],
    ["a[']", undefined],
  ])('takes %s apart', (path, expected) => {
    expect(splitSubscript(path)).toEqual(expected);
  });
});

describe('metadataFieldValue', () => {
  it('writes all labels sorted by key, each value quoted as Go quotes it', () => {
    const pod = podWith({ labels: { b: 'two', a: 'line\n"q"\\ \u0001\u007f\u0085 ü\u{10ffff}\u00a0' } });
    expect(metadataFieldValue(pod, 'metadata.labels')).toBe(
      'a="line\\n\\"q\\"\\\\ \\x01\\x7f\\u0085 ü\\U0010ffff\\u00a0"\nb="two"',
    );
  });

  it('gives one annotation, and empty text for one that is not there', () => {
    const pod = podWith({ annotations: { 'example.com/Zone': 'x' } });
    expect(metadataFieldValue(pod, "metadata.annotations['example.com/Zone']")).toBe('x');
    expect(metadataFieldValue(pod, "metadata.annotations['constructor']")).toBe('');
    expect(metadataFieldValue(pod, 'metadata.annotations')).toBe('example.com/Zone="x"');
    expect(metadataFieldValue(podWith({}), 'metadata.labels')).toBe('');
  });

  it.each([
    ['spec.nodeName', 'unsupported fieldPath: spec.nodeName'],
    ["metadata.name['x']", 'does not support subscript'],
    ["metadata.labels['a b']", 'invalid key subscript'],
  ])('refuses %s', (path, message) => {
    expect(() => metadataFieldValue(podWith({}), path)).toThrow(message);
  });
});

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
    expect(podFieldValue(podWith({}), { fieldPath }, addresses)).toBe(expected);
  });

  it('is empty for the address of a pod that has none yet', () => {
    expect(podFieldValue(podWith({}), { fieldPath: 'status.podIP' }, { ...addresses, podIPs: [] })).toBe('');
  });

  it.each([
    [{ fieldPath: 'status.reason' }, 'field label not supported: status.reason'],
    [{ fieldPath: 'status.phase' }, 'unsupported fieldPath: status.phase'],
    [{ fieldPath: "spec.nodeName['x']" }, 'field label does not support subscript'],
    [{ fieldPath: 'metadata.name', apiVersion: 'v2' }, 'unsupported pod version: v2'],
  ])('refuses %j', (selector, message) => {
    expect(() => podFieldValue(podWith({}), selector, addresses)).toThrow(message);
  });

  it('refuses the address of a node that has none yet', () => {
    expect(() => podFieldValue(podWith({}), { fieldPath: 'status.hostIP' }, { podIPs: [], hostIPs: [] })).toThrow('host IP');
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
  const pod = podWith({}, { containers: [app, bare], initContainers: [{ name: 'init' }] });
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
    expect(environmentResourceValue(pod, app, { resource, divisor }, allocatable)).toBe(expected);
    expect(volumeResourceValue(pod, { resource, divisor, containerName: 'app' }, allocatable)).toBe(expected);
  });

  it('takes what the node can allocate where a container has no limit', () => {
    expect(environmentResourceValue(pod, bare, { resource: 'limits.cpu' }, allocatable)).toBe('4');
    expect(volumeResourceValue(pod, { resource: 'limits.memory', divisor: '1Gi', containerName: 'init' }, allocatable)).toBe('8');
    // in an environment the kubelet gives defaults to regular containers only
    expect(environmentResourceValue(pod, bare, { resource: 'limits.cpu', containerName: 'init' }, allocatable)).toBe('0');
  });

  it('takes the limit of the pod itself before that of the node, in an environment', () => {
    const limited = podWith({}, { containers: [bare], resources: { limits: { cpu: '2' } } });
    expect(environmentResourceValue(limited, bare, { resource: 'limits.cpu' }, allocatable)).toBe('2');
    expect(volumeResourceValue(limited, { resource: 'limits.cpu', containerName: 'bare' }, allocatable)).toBe('4');
  });

  it('refuses other resources and containers', () => {
    expect(() => environmentResourceValue(pod, app, { resource: 'limits.pods' }, allocatable)).toThrow(
      'unsupported container resource',
    );
    expect(() => volumeResourceValue(pod, { resource: 'limits.cpu', containerName: 'no' }, allocatable)).toThrow(
      'container no not found',
    );
  });
});
