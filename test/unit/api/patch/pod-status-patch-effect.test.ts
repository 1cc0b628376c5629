import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/api/json/types.ts';
import { applyPodStatusPatch, createPodStatusPatch } from '../../../../src/api/patch/pod-status-patch.ts';
import { asJson, effective, hasRepeatedKeys, podStatus, unordered } from './effective-status.ts';

const strategicType = 'application/strategic-merge-patch+json';

interface TableCase {
  readonly fn: string;
  readonly in: { uid: string; old: JsonObject; new: JsonObject; patch: JsonObject };
  readonly out: JsonObject;
}

const tables = gunzipSync(readFileSync(new URL('../../../conformance/tables-public.jsonl.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as TableCase);

describe('the recorded patches of the Go status manager', () => {
  const created = tables.filter((one) => one.fn === 'createPodStatusPatch');
  const applied = tables.filter((one) => one.fn === 'applyPodStatusPatch');
  const statusAfter = (old: JsonObject, body: unknown) =>
    effective(asJson(applyPodStatusPatch(podStatus(old), { type: strategicType, body })));

  it('are there', () => {
    expect(Math.min(created.length, applied.length)).toBeGreaterThan(100);
  });

  it('have the effect of ours', () => {
    for (const { in: given, out } of created) {
      const ours = createPodStatusPatch(podStatus(given.old), podStatus(given.new), { uid: given.uid });
      expect(statusAfter(given.old, ours.body)).toEqual(statusAfter(given.old, out));
      expect(ours.unchanged).toBe(!('status' in out));
    }
  });

  it('have the effect of ours in the JSON format, but where a key repeats: there ours makes the new status', () => {
    for (const { in: given, out } of created) {
      const ours = createPodStatusPatch(podStatus(given.old), podStatus(given.new), { uid: given.uid, format: 'json' });
      const wanted = hasRepeatedKeys(given.old) ? given.new : statusAfter(given.old, out);
      expect(unordered(asJson(applyPodStatusPatch(podStatus(given.old), ours)))).toEqual(unordered(wanted));
    }
  });

  it('apply as they did in Go', () => {
    for (const { in: given, out } of applied) expect(statusAfter(given.old, given.patch)).toEqual(effective(out));
  });
});

describe('a patch of any two statuses', () => {
  const time = fc.constantFrom('1999-12-31T00:00:00Z', '2000-01-01T00:00:00Z');
  const condition = fc.record(
    {
      type: fc.constantFrom('Ready', 'PodScheduled', 'Initialized', 'a.io/x', 'b.io/y~z'),
      status: fc.constantFrom('True', 'False'),
      reason: fc.constantFrom('A', 'B'),
      lastTransitionTime: time,
    },
    { requiredKeys: ['type', 'status'] },
  );
  const container = fc.record(
    {
      name: fc.constantFrom('a', 'b', 'c'),
      ready: fc.boolean(),
      started: fc.boolean(),
      state: fc.oneof(
        fc.record({ running: fc.record({ startedAt: time }) }),
        fc.record({ waiting: fc.record({ reason: fc.constant('R') }) }),
      ),
      allocatedResources: fc.record({ cpu: fc.constantFrom('1', '2') }),
      user: fc.record({ linux: fc.record({ uid: fc.nat(2), supplementalGroups: fc.array(fc.nat(2)) }) }),
    },
    { requiredKeys: ['name'] },
  );
  const ip = fc.record({ ip: fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1') });
  const claim = fc.record(
    { name: fc.constantFrom('a', 'b', 'c'), resourceClaimName: fc.constantFrom('p', 'q') },
    { requiredKeys: ['name'] },
  );
  const status = fc.record(
    {
      phase: fc.constantFrom('Pending', 'Running'),
      message: fc.constantFrom('', 'x', 'y'),
      observedGeneration: fc.nat(2),
      conditions: fc.uniqueArray(condition, { selector: (one) => one.type }),
      podIPs: fc.uniqueArray(ip, { selector: (one) => one.ip }),
      resourceClaimStatuses: fc.uniqueArray(claim, { selector: (one) => one.name }),
      containerStatuses: fc.array(container, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>;

  const patched = (old: JsonObject, next: JsonObject, format: 'strategic' | 'json') => {
    const patch = createPodStatusPatch(podStatus(old), podStatus(next), { uid: 'u', resourceVersion: '1', format });
    const result = asJson(applyPodStatusPatch(podStatus(old), patch));
    expect(createPodStatusPatch(podStatus(result), podStatus(next), { uid: 'u', format }).unchanged).toBe(true);
    return result;
  };

  it('makes the one of the other, order included', () => {
    fc.assert(
      fc.property(status, status, (old, next) => {
        expect(effective(patched(old, next, 'strategic'))).toEqual(effective(next));
      }),
    );
  });

  it('makes the one of the other in the JSON format, but for the order of conditions', () => {
    fc.assert(
      fc.property(status, status, (old, next) => {
        expect(unordered(patched(old, next, 'json'))).toEqual(unordered(next));
      }),
    );
  });
});
