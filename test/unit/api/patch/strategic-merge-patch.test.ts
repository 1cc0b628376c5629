import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/api/json/types.ts';
import { podSchema } from '../../../../src/api/patch/patch-schemas.ts';
import {
  applyPodPatch,
  applyStrategicMergePatch,
  createStrategicMergePatch,
} from '../../../../src/api/patch/strategic-merge-patch.ts';

const types = (pod: JsonObject) => ((pod.status as JsonObject).conditions as JsonObject[]).map((one) => one.type);
const withTypes = (...names: string[]): JsonObject => ({
  status: { conditions: names.map((type) => ({ type, status: 'True' })) },
});

function create(old: JsonObject, next: JsonObject): JsonObject {
  const patch = createStrategicMergePatch(old, next, podSchema);
  expect(applyPodPatch(old, patch)).toEqual(next);
  return patch;
}

describe('createStrategicMergePatch', () => {
  it('is empty for equal pods', () => {
    expect(create(withTypes('A', 'B'), withTypes('A', 'B'))).toEqual({});
  });

  it('sends null for a member that goes', () => {
    expect(create({ metadata: { labels: { a: '1', b: '' } } }, { metadata: { labels: { b: '' } } })).toEqual({
      metadata: { labels: { a: null } },
    });
  });

  it('deletes a dropped element by its key and names the order of the rest', () => {
    expect(create(withTypes('A', 'B', 'C'), withTypes('C', 'A'))).toEqual({
      status: { conditions: [{ type: 'B', $patch: 'delete' }], '$setElementOrder/conditions': [{ type: 'C' }, { type: 'A' }] },
    });
  });

  it('sends an order of its own when nothing but the order changes', () => {
    expect(create(withTypes('A', 'B'), withTypes('B', 'A'))).toEqual({
      status: { '$setElementOrder/conditions': [{ type: 'B' }, { type: 'A' }] },
    });
  });

  it('deletes an address that is replaced, since addresses merge by ip', () => {
    expect(create({ status: { podIPs: [{ ip: '10.0.0.1' }] } }, { status: { podIPs: [{ ip: '10.0.0.2' }] } })).toEqual({
      status: {
        podIPs: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1', $patch: 'delete' }],
        '$setElementOrder/podIPs': [{ ip: '10.0.0.2' }],
      },
    });
  });

  it('names the members to retain of a resource claim', () => {
    const claims = (resourceClaimName?: string): JsonObject => ({
      status: { resourceClaimStatuses: [{ name: 'a', ...(resourceClaimName === undefined ? {} : { resourceClaimName }) }] },
    });
    expect(create(claims('x'), claims())).toEqual({
      status: {
        resourceClaimStatuses: [{ name: 'a', resourceClaimName: null, $retainKeys: ['name'] }],
        '$setElementOrder/resourceClaimStatuses': [{ name: 'a' }],
      },
    });
  });

  it('adds to and deletes from a list of strings', () => {
    expect(create({ metadata: { finalizers: ['a', 'b'] } }, { metadata: { finalizers: ['c', 'b'] } })).toEqual({
      metadata: {
        finalizers: ['c'],
        '$deleteFromPrimitiveList/finalizers': ['a'],
        '$setElementOrder/finalizers': ['c', 'b'],
      },
    });
  });

  it('merges nested keyed lists of containers', () => {
    const pod = (containerPort: number): JsonObject => ({
      spec: { containers: [{ name: 'a', ports: [{ containerPort: 1 }, { containerPort, protocol: 'UDP' }] }, { name: 'b' }] },
    });
    expect(create(pod(2), pod(3))).toEqual({
      spec: {
        containers: [
          {
            name: 'a',
            ports: [
              { containerPort: 3, protocol: 'UDP' },
              { containerPort: 2, $patch: 'delete' },
            ],
            '$setElementOrder/ports': [{ containerPort: 1 }, { containerPort: 3 }],
          },
        ],
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
      },
    });
  });

  it('sends tolerations whole, which have no merge key', () => {
    const pod = (...keys: string[]): JsonObject => ({ spec: { tolerations: keys.map((key) => ({ key })) } });
    expect(create(pod('a', 'b'), pod('a'))).toEqual({ spec: { tolerations: [{ key: 'a' }] } });
  });

  it('deletes a key that repeats less often than before, as Go does', () => {
    const old: JsonObject = { status: { conditions: [{ type: 'A' }, { type: 'A' }] } };
    expect(createStrategicMergePatch(old, { status: { conditions: [{ type: 'A' }] } }, podSchema)).toEqual({
      status: { conditions: [{ type: 'A', $patch: 'delete' }], '$setElementOrder/conditions': [{ type: 'A' }] },
    });
  });
});

describe('a list in which a key repeats', () => {
  it('says what the second element lacks, as it is merged into the first', () => {
    const first = { type: 'A', status: 'True', lastTransitionTime: '2000-01-01T00:00:00Z' };
    const old: JsonObject = { status: { conditions: [first] } };
    const next: JsonObject = { status: { conditions: [{ type: 'A', status: 'False', reason: '' }, first] } };
    const patch = createStrategicMergePatch(old, next, podSchema);
    const second = { type: 'A', status: 'False', lastProbeTime: null, lastTransitionTime: null };
    expect(patch).toEqual({ status: { conditions: [second], '$setElementOrder/conditions': [{ type: 'A' }, { type: 'A' }] } });
    expect(applyPodPatch(old, patch)).toEqual({ status: { conditions: [{ type: 'A', status: 'False' }] } });
  });
});

describe('applyPodPatch', () => {
  it('leaves the conditions of other writers as they are, in their place', () => {
    const patch = createStrategicMergePatch(withTypes('A', 'C'), withTypes('A', 'D', 'C'), podSchema);
    const result = applyPodPatch(withTypes('Foreign', 'A', 'Other', 'C'), patch);
    expect(types(result)).toEqual(['Foreign', 'A', 'D', 'Other', 'C']);
  });

  it('puts an element that is both set and deleted at its place anew, without its old members', () => {
    const pod: JsonObject = { status: { conditions: [{ type: 'A', reason: 'old' }, { type: 'B' }] } };
    const patch = {
      status: {
        conditions: [
          { type: 'A', status: 'True' },
          { type: 'A', $patch: 'delete' },
        ],
      },
    };
    expect(applyPodPatch(pod, patch)).toEqual({ status: { conditions: [{ type: 'A', status: 'True' }, { type: 'B' }] } });
  });

  it('goes without the room that a deletion leaves when it orders what is left', () => {
    const order = (...names: string[]) => names.map((type) => ({ type }));
    const patch = (...deleted: string[]): JsonObject => ({
      status: {
        conditions: [{ type: 'D' }, ...deleted.map((type) => ({ type, $patch: 'delete' }))],
        '$setElementOrder/conditions': order('D'),
      },
    });
    expect(types(applyPodPatch(withTypes('A', 'B', 'C'), patch()))).toEqual(['D', 'A', 'B', 'C']);
    expect(types(applyPodPatch(withTypes('A', 'B', 'C'), patch('A')))).toEqual(['B', 'C', 'D']);
  });

  it.each([
    ['a list', { conditions: [{ $patch: 'replace' }, { type: 'Z' }] }, { conditions: [{ type: 'Z' }] }],
    ['an object', { $patch: 'replace', phase: 'Failed', message: null }, { phase: 'Failed' }],
  ])('replaces %s when told to', (_name, status, expected) => {
    expect(applyPodPatch(withTypes('A', 'B'), { status } as JsonObject)).toEqual({ status: expected });
  });

  it('empties an object that is to be deleted', () => {
    expect(applyPodPatch(withTypes('A'), { status: { $patch: 'delete' } })).toEqual({ status: {} });
  });

  it('drops nulls and directives from what is new', () => {
    const patch: JsonObject = {
      metadata: { labels: { a: '1', b: null } },
      status: {
        conditions: [
          { type: 'A', reason: null },
          { type: 'B', $patch: 'delete' },
        ],
        '$setElementOrder/conditions': [{ type: 'A' }],
      },
    };
    expect(applyPodPatch({}, patch)).toEqual({
      metadata: { labels: { a: '1' } },
      status: { conditions: [{ type: 'A' }] },
    });
  });

  it('replaces a list without merge key by the list of the patch, less its nulls', () => {
    const pod: JsonObject = { status: { containerStatuses: [{ name: 'a', ready: true }, { name: 'b' }] } };
    const patch = { status: { containerStatuses: [{ name: 'a', state: { running: { startedAt: null } } }] } };
    expect(applyPodPatch(pod, patch)).toEqual({ status: { containerStatuses: [{ name: 'a', state: { running: {} } }] } });
  });

  it('takes an empty list of the pod for none', () => {
    const patch = { status: { conditions: [{ type: 'A' }, { type: 'B', $patch: 'drop' }] } };
    expect(applyPodPatch({ status: { conditions: [] } }, patch)).toEqual({ status: { conditions: [{ type: 'A' }] } });
  });

  it('keeps the members that $retainKeys names and no others', () => {
    const pod: JsonObject = { spec: { volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }] } };
    const patch = { spec: { volumes: [{ name: 'v', hostPath: { path: '/x' }, $retainKeys: ['name', 'hostPath'] }] } };
    expect(applyPodPatch(pod, patch)).toEqual({ spec: { volumes: [{ name: 'v', hostPath: { path: '/x' } }] } });
  });

  it('deletes from lists of strings', () => {
    const pod: JsonObject = { metadata: { finalizers: ['a', 'b', 'c'] } };
    expect(applyPodPatch(pod, { metadata: { '$deleteFromPrimitiveList/finalizers': ['b'], finalizers: ['d'] } })).toEqual({
      metadata: { finalizers: ['d', 'a', 'c'] },
    });
  });

  it('changes neither the pod nor the patch', () => {
    const pod = withTypes('A', 'B');
    const patch: JsonObject = {
      status: {
        phase: null,
        conditions: [{ type: 'C' }, { type: 'B', status: null }, { type: 'A', $patch: 'delete' }],
        '$setElementOrder/conditions': [{ type: 'C' }, { type: 'B' }],
      },
    };
    const copies = structuredClone([pod, patch]);
    expect(types(applyPodPatch(pod, patch))).toEqual(['C', 'B']);
    expect([pod, patch]).toEqual(copies);
  });

  it('takes no member from the prototype of objects', () => {
    expect(applyPodPatch({ metadata: {} }, { metadata: { constructor: { a: 1 } } })).toEqual({
      metadata: { constructor: { a: 1 } },
    });
  });

  it.each([
    ['an element without its merge key', { conditions: [{ status: 'True' }] }, /merge key type/],
    [
      'an order that contradicts the list',
      { conditions: [{ type: 'B' }, { type: 'A' }], '$setElementOrder/conditions': [{ type: 'A' }, { type: 'B' }] },
      /\$setElementOrder\/conditions, in the same order/,
    ],
    ['an order that is no list', { '$setElementOrder/conditions': 'A' }, /\$setElementOrder\/conditions.*a list/],
    [
      'an order where there is nothing to order',
      { podIPs: [], '$setElementOrder/podIPs': [{ ip: '10.0.0.1' }] },
      /podIPs.*elements to order/,
    ],
    ['an order of no field', { '$setElementOrder-conditions': [] }, /\$setElementOrder\/<field>/],
    ['an unknown directive of an object', { $patch: 'drop' }, /\$patch.*'replace' or 'delete'/],
    ['an unknown directive of an element', { conditions: [{ type: 'A', $patch: 'drop' }] }, /\$patch in conditions/],
    [
      'the directive to merge, which the apiserver does not know either',
      { conditions: [{ type: 'A', $patch: 'merge' }] },
      /"merge"/,
    ],
    ['retained keys without a member that is set', { $retainKeys: ['phase'], message: 'x' }, /\$retainKeys/],
    ['a list of two kinds', { conditions: [{ type: 'A' }, 'B'] }, /one type/],
    ['a list of lists', { conditions: [[]] }, /conditions/],
  ])('refuses %s', (_name, status, rule) => {
    const apply = () => applyStrategicMergePatch(withTypes('A', 'B'), { status } as unknown as JsonObject, podSchema);
    expect(apply).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringMatching(rule) }));
  });
});
