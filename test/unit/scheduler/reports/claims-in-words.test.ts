import { describe, expect, it } from 'vitest';
import { claimsInWords } from '../../../../src/scheduler/reports/claims-in-words.ts';
import { helpForFailedPlugin } from '../../../../src/scheduler/reports/plugin-help.ts';

describe('claimsInWords', () => {
  const metadata = { name: 'web', namespace: 'ns' };

  it('names claims, those from templates too, and the template of one that is not made', () => {
    const resourceClaims = [
      { name: 'a', resourceClaimName: 'shared' },
      { name: 'b', resourceClaimTemplateName: 'gpu' },
      { name: 'c', resourceClaimTemplateName: 'net' },
    ];
    const resourceClaimStatuses = [{ name: 'b', resourceClaimName: 'web-b-1' }];
    const spec = { containers: [], resourceClaims };
    expect(claimsInWords({ pod: { metadata, spec, status: { resourceClaimStatuses } } })).toBe(
      'Claims of devices of the pod: ns/shared, ns/web-b-1, one of the template net, which is not made yet.',
    );
    expect(claimsInWords({ pod: { metadata, spec: { containers: [] } } })).toBeUndefined();
  });

  it('names no more than three, and long names only in part', () => {
    const resourceClaims = Array.from({ length: 9 }, (_, index) => ({
      name: `${index}`,
      resourceClaimName: 'n'.repeat(100_000),
    }));
    const words = claimsInWords({ pod: { metadata, spec: { containers: [], resourceClaims } } }) ?? '';
    expect(words).toMatch(/ and 6 more\.$/);
    expect(words.length).toBeLessThan(1000);
  });
});

describe('helpForFailedPlugin', () => {
  it('has words for what users wrote into claims alone', () => {
    expect(helpForFailedPlugin('DynamicResources', 'filter', 'CEL compile error')).toContain('in the claim or its template');
    expect(helpForFailedPlugin('DynamicResources', 'preBind', 'create claim')).toContain('could not be written');
    for (const message of [
      'node n: timed out trying to allocate devices',
      'searches for devices of the namespace d have taken too long',
    ])
      expect(helpForFailedPlugin('DynamicResources', 'filter', message)).toContain('Ask for less in the claims');
    expect(helpForFailedPlugin('NodeName', 'filter', 'broken')).toBeUndefined();
  });
});
