import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodStatus, WirePodStatus } from '../../../../src/index.ts';
import { normalizeStatus } from '../../../../src/status/canonical/normalize-status.ts';
import { PodStatuses, updateStatusInternal } from '../../../../src/status/status-cache.ts';

const pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'uid-1' },
  spec: { restartPolicy: 'Always', containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'b' }, { name: 'a' }] },
};
const times = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'];

/** A time in every form, or none. */
const time = fc.oneof(
  fc.constantFrom(...times, '2026-01-02T03:04:05.678Z', null, undefined),
  fc.constantFrom(...times).map((text) => new Date(Date.parse(text) + 1)),
);
const text = fc.constantFrom('', 'x', 'y', null, undefined);
/** What a member may hold that Kubernetes 1.36 does not know. */
const unknown = fc.constantFrom(
  '',
  'x',
  0,
  false,
  null,
  undefined,
  [],
  ['', null],
  {},
  { startTime: 'soon', limits: { cpu: '' } },
);
const state = fc.constantFrom(
  undefined,
  null,
  {},
  { running: { startedAt: times[0] } },
  { running: { startedAt: new Date(times[0] ?? '') }, waiting: null },
  { waiting: { reason: '', message: 'pulling' } },
  { terminated: { exitCode: 0, message: 'm'.repeat(2000) } },
  { terminated: { message: 'é'.repeat(3000) } },
);
const container = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    state,
    lastState: state,
    ready: fc.boolean(),
    image: text,
    containerID: fc.constantFrom('containerd://1', undefined),
    started: fc.constantFrom(true, false, null),
    allocatedResources: fc.constantFrom({ cpu: '1' }, { cpu: '1000m' }, { cpu: 1 }, {}),
    volumeMounts: fc.constantFrom([], [{ name: 'v', mountPath: '' }], null),
    fieldOf137: unknown,
  },
  { requiredKeys: ['name'] },
);
const containers = fc.uniqueArray(container, { maxLength: 2, selector: ({ name }) => name });
const condition = fc.record(
  {
    type: fc.constantFrom('Ready', 'PodScheduled', 'PodResizePending', 'example.com/own', 'example.com/foreign'),
    status: fc.constantFrom('True', 'False'),
    reason: text,
    lastProbeTime: time,
    lastTransitionTime: time,
    fieldOf137: unknown,
  },
  { requiredKeys: ['type', 'status'] },
);
const anyStatus = fc.record(
  {
    phase: fc.constantFrom('Pending', 'Running'),
    message: text,
    podIPs: fc.constantFrom([], [{ ip: '10.0.0.1' }], undefined),
    startTime: time,
    fieldOf137: unknown,
    conditions: fc.array(condition, { maxLength: 4 }),
    containerStatuses: containers,
    initContainerStatuses: containers,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<unknown> as fc.Arbitrary<PodStatus>;

type Members = { [key: string]: unknown };

/** Every object in `value`, itself included. */
function objectsIn(value: unknown): Members[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  const inside = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inside : [value as Members, ...inside];
}

/** `status`, and a copy of it in which one member holds something else, or is gone. */
const nearlyTheSame = fc
  .record({
    status: anyStatus,
    which: fc.nat(),
    member: fc.nat(),
    value: fc.constantFrom('', 'x', 0, false, null, undefined, []),
  })
  .map(({ status, which, member, value }): PodStatus[] => {
    const changed = structuredClone(status);
    const objects = objectsIn(changed).filter((object) => Object.keys(object).length > 0);
    const object = objects[which % objects.length] ?? {};
    const keys = Object.keys(object);
    const key = keys[member % keys.length];
    if (key !== undefined) object[key] = value;
    return [status, changed, status];
  });

const ownedConditionTypes = new Set(['example.com/own']);

/** The stored statuses, one a step; a refusal in place of a status that is refused. */
function play(statuses: readonly PodStatus[], share: boolean): (WirePodStatus | undefined | string)[] {
  const podStatuses = new PodStatuses();
  return statuses.map((status, step) => {
    const previous = podStatuses.get('uid-1')?.status;
    try {
      updateStatusInternal(podStatuses, {
        pod,
        podUID: 'uid-1',
        status: normalizeStatus(pod, status, share ? { previous, ownedConditionTypes } : undefined),
        fallback: () => ({}),
        force: false,
        podIsFinished: false,
        isAcknowledged: () => false,
        now: Date.parse('2026-02-03T04:05:06Z') + step * 1000,
        elapsed: () => step * 1000,
        ownedConditionTypes,
      });
    } catch (error) {
      return String(error);
    }
    return structuredClone(podStatuses.get('uid-1')?.status);
  });
}

describe('a status that shares equal parts with the previous one', () => {
  it('is equal, step by step, to a status copied as a whole', () => {
    const several = fc.array(anyStatus, { minLength: 2, maxLength: 4 }).chain((statuses) =>
      // a status shares much only when an equal or similar one came before
      fc.shuffledSubarray([...statuses, ...structuredClone(statuses)], { minLength: statuses.length }),
    );
    fc.assert(
      fc.property(several, (statuses) => {
        expect(play(statuses, true)).toEqual(play(statuses, false));
      }),
      { numRuns: 500 },
    );
  });

  it('comes to the same where one member is gone or holds something else', () => {
    fc.assert(
      fc.property(nearlyTheSame, (statuses) => {
        expect(play(statuses, true)).toEqual(play(statuses, false));
      }),
      { numRuns: 2000 },
    );
  });

  it('is the status before itself, member for member, where nothing has changed', () => {
    const given: PodStatus = {
      phase: 'Running',
      message: '',
      podIPs: [],
      conditions: [
        { type: 'Ready', status: 'True', reason: '', lastTransitionTime: new Date(times[0] ?? '') },
        { type: 'example.com/foreign', status: 'True', message: '' },
      ],
      containerStatuses: [{ name: 'a', containerID: '', state: { running: {} } }] as never,
    };
    const previous = normalizeStatus(pod, given);
    const again = normalizeStatus(pod, structuredClone(given), { previous });
    expect(again).toEqual(previous);
    expect(again).not.toBe(previous);
    for (const key of ['conditions', 'containerStatuses'] as const) expect(again[key]).toBe(previous[key]);
  });

  it('shares equal parts by reference, and no others', () => {
    const before = normalizeStatus(pod, status('a', true));
    const after = normalizeStatus(pod, status('b', false), { previous: before });
    expect(after.podIPs).toBe(before.podIPs);
    expect(after.containerStatuses?.[0]).toBe(before.containerStatuses?.[0]);
    expect(after.containerStatuses?.[1]).not.toBe(before.containerStatuses?.[1]);
    expect(after.containerStatuses?.[1]?.ready).toBe(false);
  });

  it('never changes a shared part: it changes the order in a copy', () => {
    const before = normalizeStatus(pod, { initContainerStatuses: containersNamed('b', 'a') });
    const snapshot = structuredClone(before);
    const reordered = { ...pod, spec: { ...pod.spec, initContainers: [{ name: 'a' }, { name: 'b' }] } };
    const after = normalizeStatus(reordered, { initContainerStatuses: containersNamed('b', 'a') }, { previous: before });
    expect(after.initContainerStatuses?.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(before).toEqual(snapshot);
  });

  it('cuts a shared message to fewer bytes when the pod now has more containers', () => {
    const message = 'm'.repeat(3000);
    const ended = {
      containerStatuses: [{ ...containersNamed('a')[0], state: { terminated: { exitCode: 1, message } } }],
    } as PodStatus;
    const before = normalizeStatus(pod, ended);
    const grown = { ...pod, spec: { ...pod.spec, ephemeralContainers: [{ name: 'c' }, { name: 'd' }] } };
    const after = normalizeStatus(grown, ended, { previous: before });
    expect(before.containerStatuses?.[0]?.state?.terminated?.message).toHaveLength(3000);
    expect(after.containerStatuses?.[0]?.state?.terminated?.message).toHaveLength(2048);
  });

  it('keeps the given times of two conditions of one type', () => {
    const twice = (second: string): PodStatus => ({
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Ready', status: 'True', lastTransitionTime: new Date(second) },
      ],
    });
    const previous = normalizeStatus(pod, twice(times[0] ?? ''));
    const after = normalizeStatus(pod, twice(times[1] ?? ''), { previous });
    expect(after.conditions?.[1]?.lastTransitionTime).toBe(times[1]);
  });

  it('refuses an invalid status, also when the previous one is similar', () => {
    const before = normalizeStatus(pod, { conditions: [{ type: 'Ready', status: 'True' }] });
    const bad = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 'yesterday' }] };
    expect(() => normalizeStatus(pod, bad, { previous: before })).toThrow(/lastTransitionTime/);
  });
});

function containersNamed(...names: string[]) {
  return names.map((name) => ({ name, ready: true, restartCount: 0, image: 'i', imageID: '' }));
}

function status(reason: string, ready: boolean): PodStatus {
  const [a, b] = containersNamed('a', 'b');
  return {
    reason,
    podIPs: [{ ip: '10.0.0.1' }],
    containerStatuses: [a, { ...b, ready }] as NonNullable<PodStatus['containerStatuses']>,
  };
}
