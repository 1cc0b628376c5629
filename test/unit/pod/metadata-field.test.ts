import { describe, expect, it } from 'vitest';
import { metadataField } from '../../../src/pod/metadata-field.ts';
import type { Pod } from '../../../src/wire/types.ts';

function podWith(metadata: Pod['metadata']): Pod {
  return { metadata: { name: 'web', namespace: 'shop', uid: 'u-1', ...metadata } };
}

describe('metadataField', () => {
  it('writes all labels sorted by key, each value quoted as Go quotes it', () => {
    const pod = podWith({ labels: { b: 'two', a: 'line\n"q"\\ \u0001\u007f\u0085 ü\u{10ffff}\u00a0' } });
    expect(metadataField(pod, 'metadata.labels')).toBe('a="line\\n\\"q\\"\\\\ \\x01\\x7f\\u0085 ü\\U0010ffff\\u00a0"\nb="two"');
  });

  it('gives one annotation, and empty text for one that is not there', () => {
    const pod = podWith({ annotations: { 'example.com/Zone': 'x' } });
    expect(metadataField(pod, "metadata.annotations['example.com/Zone']")).toBe('x');
    expect(metadataField(pod, "metadata.annotations['constructor']")).toBe('');
    expect(metadataField(pod, 'metadata.annotations')).toBe('example.com/Zone="x"');
    expect(metadataField(podWith({}), 'metadata.labels')).toBe('');
  });

  it.each([
    ['spec.nodeName', 'unsupported fieldPath: spec.nodeName'],
    ["metadata.name['x']", 'does not support subscript'],
    ["metadata.labels['a b']", 'invalid key subscript'],
  ])('refuses %s', (path, message) => {
    expect(() => metadataField(podWith({}), path)).toThrow(message);
  });
});
