import { describe, expect, it, vi } from 'vitest';
import { checkContainers } from '../../../../src/api/manifest/container-rules.ts';
import { checkPodAnnotations } from '../../../../src/api/manifest/metadata-rules.ts';
import { checkTopologySpread } from '../../../../src/api/manifest/scheduling-rules.ts';
import { Counter, numbered } from '../../../support/counted.ts';

const size = 2000;
const fewLooks = 40 * size;

describe('rules for a manifest with thousands of entries', () => {
  const counter = new Counter();
  const claims = counter.readingAll(
    numbered(size, (i) => ({ name: `claim-${i}` })),
    'name',
  );
  const containers = counter.readingAll(
    numbered(size, (i) => ({
      name: `c${i}`,
      image: 'i',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'Always',
      resources: { claims: [{ name: `claim-${i}` }] },
    })),
    'name',
  );

  it('look a few times at each container for annotations', () => {
    const prefix = 'container.apparmor.security.beta.kubernetes.io/';
    const annotations = Object.fromEntries(numbered(size, (i) => [`${prefix}c${i}`, 'unconfined']));
    expect(counter.during(() => checkPodAnnotations(annotations, { containers }))).toBeLessThan(fewLooks);
  });

  it('look a few times at each resource claim', () => {
    const spec = { containers, resourceClaims: claims };
    expect(counter.during(() => checkContainers(spec, new Map()))).toBeLessThan(fewLooks);
  });

  it('search no list of keys for each key', () => {
    const matchLabelKeys = numbered(size, (i) => `k${i}`);
    const search = vi.spyOn(matchLabelKeys, 'includes');
    const matchExpressions = numbered(size, (i) => ({ key: `other${i}`, operator: 'Exists' }));
    const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    checkTopologySpread([{ ...constraint, matchLabelKeys, labelSelector: { matchExpressions } }]);
    expect(search).not.toHaveBeenCalled();
  });
});
