import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/api/json/types.ts';
import { applyJsonPatch, changedPaths, createGuardedJsonPatch } from '../../../../src/api/patch/json-patch.ts';

const uid = { uid: 'u' };
const pod = (status?: JsonObject): JsonObject => ({ metadata: { uid: 'u', resourceVersion: '5' }, ...(status && { status }) });
const conditions = (...names: string[]): JsonObject => ({ conditions: names.map((type) => ({ type, status: 'True' })) });
const statusAfter = (old: JsonObject, next: JsonObject) =>
  applyJsonPatch(pod(old), createGuardedJsonPatch(old, next, uid)).status;

describe('createGuardedJsonPatch', () => {
  it('is empty when nothing differs, guards included', () => {
    expect(createGuardedJsonPatch(conditions('A'), conditions('A'), { uid: 'u', resourceVersion: '5' })).toEqual([]);
  });

  it('tests uid and resourceVersion before it changes anything', () => {
    expect(
      createGuardedJsonPatch(
        { phase: 'Pending', reason: 'R' },
        { phase: 'Running', message: 'm' },
        { uid: 'u', resourceVersion: '5' },
      ),
    ).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: '/metadata/resourceVersion', value: '5' },
      { op: 'replace', path: '/status/phase', value: 'Running' },
      { op: 'remove', path: '/status/reason' },
      { op: 'add', path: '/status/message', value: 'm' },
    ]);
  });

  it.each([[undefined], [{}]])('adds the status of a pod that has none (%j)', (old) => {
    const patch = createGuardedJsonPatch(old, { phase: 'Running' }, uid);
    expect(patch.at(-1)).toEqual({ op: 'add', path: '/status', value: { phase: 'Running' } });
    expect(applyJsonPatch(pod(), patch)).toEqual(pod({ phase: 'Running' }));
  });

  it('changes a condition where it stands and tests its type first', () => {
    const next: JsonObject = {
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'B', status: 'False' },
      ],
    };
    expect(createGuardedJsonPatch(conditions('A', 'B'), next, uid).slice(1)).toEqual([
      { op: 'test', path: '/status/conditions/1/type', value: 'B' },
      { op: 'replace', path: '/status/conditions/1/status', value: 'False' },
    ]);
  });

  it('removes several conditions from the end, and appends the new ones', () => {
    expect(createGuardedJsonPatch(conditions('A', 'B', 'C', 'D'), conditions('E', 'B'), uid).slice(1)).toEqual([
      { op: 'test', path: '/status/conditions/3/type', value: 'D' },
      { op: 'remove', path: '/status/conditions/3' },
      { op: 'test', path: '/status/conditions/2/type', value: 'C' },
      { op: 'remove', path: '/status/conditions/2' },
      { op: 'test', path: '/status/conditions/0/type', value: 'A' },
      { op: 'remove', path: '/status/conditions/0' },
      { op: 'add', path: '/status/conditions/-', value: { type: 'E', status: 'True' } },
    ]);
    expect(statusAfter(conditions('A', 'B', 'C', 'D'), conditions('E', 'B'))).toEqual(conditions('B', 'E'));
  });

  it('takes an order of conditions for no difference', () => {
    expect(createGuardedJsonPatch(conditions('A', 'B'), conditions('B', 'A'), uid)).toEqual([]);
  });

  it('fails, and renames nothing, where another writer has put a condition in front', () => {
    const patch = createGuardedJsonPatch(conditions('A', 'B'), { conditions: [{ type: 'A', status: 'False' }] }, uid);
    expect(() => applyJsonPatch(pod(conditions('Foreign', 'A', 'B')), patch)).toThrow(/test \/status\/conditions\/0\/type/);
  });

  it('leaves a condition that another client appended, even when ours all go', () => {
    const patch = createGuardedJsonPatch(conditions('A', 'B'), { phase: 'Running' }, uid);
    expect(applyJsonPatch(pod(conditions('A', 'B', 'Foreign')), patch).status).toEqual({
      phase: 'Running',
      ...conditions('Foreign'),
    });
  });

  it('matches repeated types one to one', () => {
    const old: JsonObject = {
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'A', status: 'False' },
      ],
    };
    expect(statusAfter(old, conditions('A'))).toEqual(conditions('A'));
    expect(statusAfter(conditions('A'), old)).toEqual(old);
  });

  it('changes members of a container where the names still stand, and tests the name', () => {
    const container = (name: string, ready: boolean, state: JsonObject) => ({ name, ready, state });
    const old: JsonObject = { containerStatuses: [container('a', true, {}), container('b', false, { waiting: {} })] };
    const next: JsonObject = { containerStatuses: [container('a', true, {}), container('b', true, { running: {} })] };
    expect(createGuardedJsonPatch(old, next, uid).slice(1)).toEqual([
      { op: 'test', path: '/status/containerStatuses/1/name', value: 'b' },
      { op: 'add', path: '/status/containerStatuses/1/ready', value: true },
      { op: 'remove', path: '/status/containerStatuses/1/state/waiting' },
      { op: 'add', path: '/status/containerStatuses/1/state/running', value: {} },
    ]);
    expect(statusAfter(old, next)).toEqual(next);
  });

  it('replaces container lists whose names differ, lists inside containers, and addresses, whole', () => {
    const named = (...names: string[]): JsonObject => ({ containerStatuses: names.map((name) => ({ name })) });
    expect(createGuardedJsonPatch(named('a', 'b'), named('b'), uid)[1]).toEqual({
      op: 'replace',
      path: '/status/containerStatuses',
      value: [{ name: 'b' }],
    });
    const mounted = (mountPath: string): JsonObject => ({
      containerStatuses: [{ name: 'a', volumeMounts: [{ name: 'v', mountPath }] }],
    });
    expect(createGuardedJsonPatch(mounted('/x'), mounted('/y'), uid)[2]).toEqual({
      op: 'replace',
      path: '/status/containerStatuses/0/volumeMounts',
      value: [{ name: 'v', mountPath: '/y' }],
    });
    expect(createGuardedJsonPatch({ podIPs: [{ ip: '1.1.1.1' }] }, { podIPs: [{ ip: '2.2.2.2' }] }, uid)[1]).toEqual({
      op: 'replace',
      path: '/status/podIPs',
      value: [{ ip: '2.2.2.2' }],
    });
  });

  it('adds a list, or a map, as a whole where the old one is empty: the server stores neither', () => {
    const next = conditions('A');
    expect(createGuardedJsonPatch({ phase: 'Running', conditions: [] }, { phase: 'Running', ...next }, uid).slice(1)).toEqual([
      { op: 'add', path: '/status/conditions', value: next.conditions },
    ]);
    const limited = (limits: JsonObject): JsonObject => ({ containerStatuses: [{ name: 'a', resources: { limits } }] });
    expect(createGuardedJsonPatch(limited({}), limited({ cpu: '1' }), uid).slice(2)).toEqual([
      { op: 'add', path: '/status/containerStatuses/0/resources/limits', value: { cpu: '1' } },
    ]);
  });

  it('escapes names in paths', () => {
    const resources = (value: string): JsonObject => ({ allocatedResources: { 'example.com/gpu~1': value } });
    expect(createGuardedJsonPatch(resources('1'), resources('2'), uid)[1]).toEqual({
      op: 'replace',
      path: '/status/allocatedResources/example.com~1gpu~01',
      value: '2',
    });
  });

  it('refuses a condition without a type', () => {
    expect(() => createGuardedJsonPatch(conditions('A'), { conditions: [{ status: 'True' }] }, uid)).toThrow(/the key type/);
  });
});

describe('applyJsonPatch', () => {
  const patch = createGuardedJsonPatch({ phase: 'Pending' }, { phase: 'Running' }, { uid: 'u', resourceVersion: '5' });

  it('changes neither the pod nor the operations', () => {
    const before = pod({ phase: 'Pending' });
    const copies = structuredClone([before, patch]);
    expect(applyJsonPatch(before, patch)).toEqual(pod({ phase: 'Running' }));
    expect([before, patch]).toEqual(copies);
  });

  it.each([
    ['another uid', { metadata: { uid: 'other', resourceVersion: '5' }, status: { phase: 'Pending' } }, 'test /metadata/uid'],
    [
      'another resourceVersion',
      { metadata: { uid: 'u', resourceVersion: '6' }, status: { phase: 'Pending' } },
      'test /metadata/resourceVersion',
    ],
    ['a missing member', pod({ message: 'secret' }), 'replace /status/phase'],
    ['a missing parent', pod(), 'replace /status/phase'],
  ])('refuses a pod with %s, and shows the operation alone', (_name, other, operation) => {
    const refused = expect.objectContaining({
      code: 'ERR_INVALID_ARGUMENT',
      message: expect.stringMatching(`\\(${operation}\\)$`),
    });
    expect(() => applyJsonPatch(other as JsonObject, patch)).toThrow(refused);
  });

  it.each([
    ['an operation that does not exist', { op: 'merge', path: '/status' }],
    ['a removal behind the end', { op: 'remove', path: '/status/conditions/1' }],
    ['an addition behind the end', { op: 'add', path: '/status/conditions/2', value: {} }],
    ['an addition to nothing', { op: 'add', path: '/status/a/b', value: 1 }],
    ['a test of nothing', { op: 'test', path: '/status/a', value: null }],
    ['what is no operation', null],
    ['the removal of the pod', { op: 'replace', path: '', value: 1 }],
  ])('refuses %s', (_name, operation) => {
    expect(() => applyJsonPatch(pod(conditions('A')), [operation])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
    );
  });
});

describe('changedPaths', () => {
  it('names what differs by JSON pointer', () => {
    const old: JsonObject = { phase: 'Pending', conditions: [{ type: 'A', status: 'True' }] };
    const next: JsonObject = { phase: 'Running', conditions: [{ type: 'A', status: 'False' }], message: 'm' };
    expect(changedPaths(old, next).sort()).toEqual(['/conditions/0/status', '/message', '/phase']);
    expect(changedPaths(old, structuredClone(old))).toEqual([]);
  });
});
