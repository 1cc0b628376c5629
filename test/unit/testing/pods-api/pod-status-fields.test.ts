import { V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { parseFields, statusTypes } from '../../../../src/api/manifest/pod-types.ts';

describe('the fields of a PodStatus', () => {
  it('are the same as in client-node', () => {
    const published = V1PodStatus.getAttributeTypeMap().map(({ baseName }) => baseName);
    expect(
      parseFields(statusTypes.PodStatus)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(published.sort());
  });
});
