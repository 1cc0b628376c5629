import { describe, expect, it } from 'vitest';
import { objectFields, podFields } from '../../../../src/api/pod/pod-log-fields.ts';

const metadata = { namespace: 'default', name: 'web', uid: 'u1', labels: { a: 'b' } };
const ofPod = { podNamespace: 'default', podName: 'web', podUID: 'u1' };

describe('the fields that name', () => {
  it('a pod are all three, and no other member', () => {
    expect(podFields(metadata)).toStrictEqual(ofPod);
    expect(podFields({ uid: 'u1' })).toEqual({ podUID: 'u1' });
    expect(podFields(undefined)).toEqual({});
  });

  it('an object are those of a pod, the node, or what names any other', () => {
    expect(objectFields('Pod', metadata)).toStrictEqual(ofPod);
    expect(objectFields('Node', metadata)).toEqual({ node: 'web' });
    expect(objectFields('Secret', metadata)).toStrictEqual({ kind: 'Secret', namespace: 'default', name: 'web', uid: 'u1' });
  });
});
