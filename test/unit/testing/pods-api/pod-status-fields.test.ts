import { V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { podStatusFieldNames } from '../../../../src/testing/pods-api/pod-status-fields.ts';

describe('podStatusFieldNames', () => {
  it('are the same as in client-node', () => {
    const published = V1PodStatus.getAttributeTypeMap().map(({ baseName }) => baseName);
    expect([...podStatusFieldNames].sort()).toEqual(published.sort());
  });
});
