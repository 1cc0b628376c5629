import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { metadataField, splitFieldPath } from '../../../../src/api/pod/pod-fields.ts';
import { podFieldValue } from '../../../../src/node/environment/pod-field.ts';

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

  it.each([
    ["metadata.labels['app']", 'metadata.labels', 'app'],
    ["metadata.labels['a']['b']", 'metadata.labels', "a']['b"],
    ["['app']", "['app']", undefined],
    ["metadata.labels'']", "metadata.labels'']", undefined],
    ["metadata.labels['", "metadata.labels['", undefined],
    ["a['']", 'a', ''],
  ])('takes %s apart as the kubelet does', (fieldPath, path, key) => {
    expect(splitFieldPath(fieldPath)).toEqual({ path, key });
  });

  it('refuses a path of a megabyte without going through it again and again', () => {
    const path = `a${"['".repeat(400_000)}`;
    expect(() => metadataField(podWith({}), path)).toThrow('unsupported fieldPath');
    expect(() => podFieldValue(podWith({}), { fieldPath: path }, { podIPs: [], hostIPs: [] })).toThrow(
      'field label not supported',
    );
  });

  it('looks at each value once', () => {
    let read = 0;
    const labels = new Proxy<Record<string, string>>(
      Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, '\u0001'.repeat(100)])),
      {
        get: (target, key) => {
          read += 1;
          return Reflect.get(target, key);
        },
      },
    );
    expect(metadataField(podWith({ labels }), 'metadata.labels').length).toBeGreaterThan(80_000);
    expect(read).toBe(200);
  });
});
