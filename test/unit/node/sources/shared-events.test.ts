import { describe, expect, it } from 'vitest';
import { nodeEventOutline, podEventOutline } from '../../../../src/node/sources/shared-events.ts';

const pod = (metadata: object, spec: object, more: object = {}) =>
  Buffer.from(
    JSON.stringify({
      type: 'MODIFIED',
      object: {
        ...{ kind: 'Pod', apiVersion: 'v1' },
        metadata: { name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '12', ...metadata },
        spec,
        ...more,
      },
    }),
  );

describe('the outline of an event', () => {
  it('has the version of the pod and its node', () => {
    expect(podEventOutline(pod({ labels: { app: 'web' } }, { nodeName: 'n1' }))).toEqual({ version: '12', keys: ['n1'] });
  });

  it.each([
    ['a label', pod({ labels: { nodeName: 'n2' } }, { nodeName: 'n1' }), ['n2', 'n1']],
    ['the text of an annotation', pod({ annotations: { a: '"nodeName":"n2"' } }, { nodeName: 'n1' }), ['n1']],
    ['a text that ends in a backslash', pod({ annotations: { a: '\\"nodeName":"n2"' } }, { nodeName: 'n1' }), ['n1']],
    ['a name within another', pod({ labels: { 'x/nodeName': 'n2' } }, { nodeName: 'n1' }), ['n1']],
    ['a version in a label', pod({ labels: { resourceVersion: '99' } }, { nodeName: 'n1' }), ['n1']],
  ])('is not misled by %s: the node is among its keys', (_, line, keys) => {
    expect(podEventOutline(line)).toEqual({ version: '12', keys });
  });

  it.each([
    ['a value that is no text', pod({}, { nodeName: 5 })],
    ['a value with a backslash', pod({}, { nodeName: 'n\\1' })],
    ['many labels', pod({}, { nodeName: 'n1' }, { a: Array.from({ length: 5 }, () => ({ nodeName: 'n1' })) })],
    ['another order of fields', Buffer.from('{"object":{"metadata":{"resourceVersion":"12"}},"type":"ADDED"}')],
    ['a bookmark', Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}}')],
    ['an error', Buffer.from('{"type":"ERROR","object":{"code":410}}')],
    ['no JSON', Buffer.from('{"type":"MODI')],
  ])('is none where the bytes are not as the apiserver writes them: %s', (_, line) => {
    expect(podEventOutline(line)).toBeUndefined();
  });

  it('has the version of a Node and its name', () => {
    const line = (metadata: object) =>
      Buffer.from(JSON.stringify({ type: 'ADDED', object: { kind: 'Node', apiVersion: 'v1', metadata } }));
    expect(nodeEventOutline(line({ name: 'n1', uid: 'u', resourceVersion: '7' }))).toEqual({ version: '7', keys: ['n1'] });
    expect(nodeEventOutline(line({ labels: {}, name: 'n1', uid: 'u', resourceVersion: '7' }))).toBeUndefined();
  });
});
