import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, PodStatus, WirePod } from '../../../src/api/json/types.ts';
import { createPodStatusPatch } from '../../../src/api/patch/pod-status-patch.ts';
import { canonicalPodStatus, normalizedOf } from '../../../src/status/canonical/canonical-status.ts';
import { normalizeStatus } from '../../../src/status/canonical/normalize-status.ts';
import { isPodStatusByKubeletEqual } from '../../../src/status/rules/pod-status-equality.ts';
import { PodStore } from '../../../src/testing/pods-api/pod-store.ts';
import { pairSpec, statusPair } from '../../support/status-pairs.ts';
import { effective, podStatus, unordered } from '../api/patch/effective-status.ts';
import { runs, seeds } from './seeds.ts';
import { reworded } from './statuses.ts';

const pod: WirePod = { metadata: { name: 'a', namespace: 'default', uid: 'u' }, spec: pairSpec };

describe.each(seeds())('functions over any status (seed %i)', (seed) => {
  const parameters = { seed, numRuns: runs(150) };

  it('normalise idempotently, whatever the order and the types of the status', () => {
    fc.assert(
      fc.property(statusPair, ({ old }) => {
        const given = structuredClone(old);
        const once = normalizeStatus(pod, podStatus(given));
        expect(given).toEqual(old);
        expect(normalizeStatus(pod, once)).toStrictEqual(once);
        const other = normalizeStatus(pod, reworded(once) as PodStatus);
        expect(isPodStatusByKubeletEqual(once, other)).toBe(true);
      }),
      parameters,
    );
  });

  it('normalise what is canonical already to the same', () => {
    fc.assert(
      fc.property(statusPair, ({ old }) => {
        const canonical = canonicalPodStatus(podStatus(old));
        const before = structuredClone(canonical);
        expect(normalizedOf(pod, canonical)).toStrictEqual(normalizeStatus(pod, podStatus(old)));
        expect(canonical).toStrictEqual(before);
      }),
      parameters,
    );
  });

  it.each(['strategic', 'json'] as const)('make a patch that turns one status into the other on a server (%s)', (format) => {
    fc.assert(
      fc.property(statusPair, ({ old, next }) => {
        const store = new PodStore({ validate: false, fillIns: false });
        const { resourceVersion } = store.put({ ...pod, status: old }).metadata ?? {};
        const patch = createPodStatusPatch(podStatus(old), podStatus(next), { uid: 'u', resourceVersion, format });
        const left = store.patch('default', 'a', { ...patch, subresource: 'status' }).status as unknown as JsonObject;
        // the JSON format appends, so the order of conditions and claims may differ
        const meaning = format === 'json' ? unordered : effective;
        expect(meaning(left)).toEqual(meaning(next));
        expect(patch.unchanged).toBe(isDeepStrictEqual(meaning(old), meaning(next)));
      }),
      parameters,
    );
  });
});
