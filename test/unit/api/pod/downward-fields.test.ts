import { describe, expect, it } from 'vitest';
import { goQuote } from '../../../../src/api/json/go-quote.ts';
import { metadataField, resourceField } from '../../../../src/api/pod/pod-fields.ts';

const pod = {
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'u1',
    labels: { zone: 'a', 'example.com/app': 'shop' },
    annotations: { 'Example.com/Note': 'two\nlines' },
  },
  spec: {
    initContainers: [{ name: 'first', image: 'i', resources: { requests: { memory: '1500Ki' } } }],
    containers: [
      { name: 'app', image: 'i', resources: { limits: { cpu: '1250m', 'hugepages-2Mi': '4Mi' }, requests: { memory: '64Mi' } } },
    ],
  },
};

describe('metadataField', () => {
  it.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'u1'],
    ['metadata.labels', 'example.com/app="shop"\nzone="a"'],
    ["metadata.labels['zone']", 'a'],
    ["metadata.labels['example.com/app']", 'shop'],
    ["metadata.labels['absent']", ''],
    ["metadata.labels['constructor']", ''],
    ["metadata.annotations['Example.com/Note']", 'two\nlines'],
    ['metadata.annotations', 'Example.com/Note="two\\nlines"'],
  ])('%s is %j', (path, value) => {
    expect(metadataField(pod, path)).toBe(value);
  });

  it('is empty for a pod without labels', () => {
    expect(metadataField({}, 'metadata.labels')).toBe('');
  });

  it.each([
    ['spec.nodeName', 'unsupported fieldPath: spec.nodeName'],
    ["metadata.name['x']", 'fieldPath "metadata.name[\'x\']" does not support subscript'],
    ["metadata.labels['a b']", "invalid key subscript in metadata.labels['a b']"],
  ])('refuses %s', (path, message) => {
    expect(() => metadataField(pod, path)).toThrow(message);
  });
});

describe('resourceField', () => {
  const node = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi' };
  it.each([
    ['app', 'limits.cpu', undefined, '2'],
    ['app', 'limits.cpu', '1m', '1250'],
    ['app', 'limits.cpu', '0', '2'],
    ['app', 'limits.memory', '1Mi', '8192'],
    ['app', 'limits.ephemeral-storage', '1Gi', '100'],
    ['app', 'limits.hugepages-2Mi', '1Mi', '4'],
    ['app', 'requests.memory', '1Mi', '64'],
    ['app', 'requests.cpu', '1m', '0'],
    ['first', 'requests.memory', '1Mi', '2'],
    ['first', 'requests.memory', undefined, '1536000'],
  ])('of %s, %s in %s is %s', (container, resource, divisor, value) => {
    expect(resourceField(pod, container, { resource, divisor }, node)).toBe(value);
  });

  it('refuses a container and a resource that are not there', () => {
    expect(() => resourceField(pod, 'other', { resource: 'limits.cpu' }, node)).toThrow('container other not found');
    const pods = { resource: 'limits.pods' };
    expect(() => resourceField(pod, 'app', pods, node)).toThrow('unsupported container resource : limits.pods');
  });
});

describe('goQuote', () => {
  it.each([
    ['plain', '"plain"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\u0000\u007f', '"\\x00\\x7f"'],
    ['é ü 語 😀', '"é ü 語 😀"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"�"'],
  ])('%j becomes %s', (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });
});
