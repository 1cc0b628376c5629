import type { V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import {
  applyPodStatusPatch,
  createPodStatusPatch,
  createWirePodStatusPatch,
} from '../../../../src/api/patch/pod-status-patch.ts';
import { asJson, effective, podStatus, wireStatus } from './effective-status.ts';

const strategicType = 'application/strategic-merge-patch+json';

const running: V1PodStatus = {
  phase: 'Running',
  conditions: [
    { type: 'Ready', status: 'True' },
    { type: 'PodScheduled', status: 'True' },
  ],
  containerStatuses: ['c1', 'c2'].map((name) => ({ name, ready: true, image: '', imageID: '', restartCount: 0 })),
  message: 'Message',
};

const podUID = { uid: 'myuid' };

describe('createPodStatusPatch', () => {
  it('sends the uid alone when nothing changes [T-UP-01]', () => {
    const patch = createPodStatusPatch(running, structuredClone(running), podUID);
    expect(patch.unchanged).toBe(true);
    expect(JSON.stringify(patch.body)).toBe('{"metadata":{"uid":"myuid"}}');
  });

  it('sends a changed message and nothing else [T-UP-02]', () => {
    const patch = createPodStatusPatch(running, { ...running, message: 'random message' }, podUID);
    expect(patch).toEqual({
      type: strategicType,
      unchanged: false,
      body: { metadata: { uid: 'myuid' }, status: { message: 'random message' } },
    });
  });

  it('sends a changed condition with the order of all of them [T-UP-03]', () => {
    const next = structuredClone(running);
    next.conditions = [
      { type: 'Ready', status: 'False' },
      { type: 'PodScheduled', status: 'True' },
    ];
    expect(createPodStatusPatch(running, next, podUID).body).toEqual({
      metadata: { uid: 'myuid' },
      status: {
        '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'PodScheduled' }],
        conditions: [{ status: 'False', type: 'Ready' }],
      },
    });
  });

  it('sends a list of container statuses whole, as the API encodes them [T-UP-04]', () => {
    const next = { ...running, initContainerStatuses: [{ name: 'init-container', ready: true }] } as V1PodStatus;
    expect(createPodStatusPatch(running, next, podUID).body).toEqual({
      metadata: { uid: 'myuid' },
      status: {
        initContainerStatuses: [
          { image: '', imageID: '', lastState: {}, name: 'init-container', ready: true, restartCount: 0, state: {} },
        ],
      },
    });
  });

  it('carries the resourceVersion beside the uid, changed or not', () => {
    const options = { uid: 'u', resourceVersion: '7' };
    expect(createPodStatusPatch({}, {}, options).body).toEqual({ metadata: options });
    expect(createPodStatusPatch({}, { phase: 'Failed' }, options).body).toEqual({
      metadata: options,
      status: { phase: 'Failed' },
    });
  });

  it.each([
    [
      'a Date and the same time as text',
      { startTime: new Date('2000-01-01T00:00:00.999Z') },
      { startTime: '2000-01-01T00:00:00Z' },
    ],
    ['a null and an absent member', { startTime: null }, {}],
    ['an undefined and an absent member', { message: undefined }, {}],
    ['an empty list and none', { conditions: [] }, {}],
    [
      'a null time in a condition',
      { conditions: [{ type: 'A', status: 'True', lastProbeTime: null }] },
      { conditions: [{ type: 'A', status: 'True' }] },
    ],
    [
      'the zero members of a container status',
      { containerStatuses: [{ name: 'a', ready: false, restartCount: 0, image: '', imageID: '', state: {}, lastState: {} }] },
      { containerStatuses: [{ name: 'a' }] },
    ],
  ])('takes %s for equal, in both formats and both ways', (_name, a, b) => {
    for (const format of ['strategic', 'json'] as const) {
      const options = { uid: 'u', format };
      expect(createPodStatusPatch(podStatus(a), podStatus(b), options).unchanged).toBe(true);
      expect(createPodStatusPatch(podStatus(b), podStatus(a), options).unchanged).toBe(true);
    }
  });

  it.each([
    ['not started and unknown', { containerStatuses: [{ name: 'a', started: false }] }, { containerStatuses: [{ name: 'a' }] }],
    [
      'running since an unknown time and no state',
      { containerStatuses: [{ name: 'a', state: { running: {} } }] },
      { containerStatuses: [{ name: 'a' }] },
    ],
  ])('tells %s apart', (_name, a, b) => {
    for (const format of ['strategic', 'json'] as const) {
      const patch = createPodStatusPatch(podStatus(a), podStatus(b), { uid: 'u', format });
      expect(patch.unchanged).toBe(false);
      expect(effective(asJson(applyPodStatusPatch(podStatus(a), patch)))).toEqual(effective(b));
    }
  });

  it('turns Dates into whole seconds on the way out', () => {
    const next = { startTime: new Date('2000-01-01T00:00:00.250Z') };
    expect(createPodStatusPatch({}, next, podUID).body).toEqual({
      metadata: { uid: 'myuid' },
      status: { startTime: '2000-01-01T00:00:00Z' },
    });
  });

  it('changes neither of the statuses it compares', () => {
    const [old, next] = [structuredClone(running), { ...structuredClone(running), conditions: [], message: 'other' }];
    const copies = structuredClone([old, next]);
    createPodStatusPatch(old, next, podUID);
    createWirePodStatusPatch(wireStatus(old), wireStatus(next), podUID);
    expect([old, next]).toEqual(copies);
  });

  it('makes the same patch of wire JSON', () => {
    const [old, next] = [running, { ...running, phase: 'Failed', containerStatuses: [{ name: 'c1', ready: false }] }];
    const options = { uid: 'u', resourceVersion: '1' };
    expect(createWirePodStatusPatch(wireStatus(old), wireStatus(next), options)).toEqual(
      createPodStatusPatch(old, podStatus(next), options),
    );
  });

  it.each([
    [{ uid: '' }, 'ERR_INVALID_OPTION', 'uid'],
    [{ uid: 'u', format: 'merge' }, 'ERR_INVALID_OPTION', 'format'],
    [{ uid: 'u', resourceversion: '5' }, 'ERR_INVALID_OPTION', 'options.resourceversion'],
  ])('refuses the options %j', (options, code, name) => {
    expect(() => createPodStatusPatch({}, {}, options as typeof podUID)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(name) }),
    );
  });

  it.each([[new Date(Number.NaN)], [() => 1], [1n]])('refuses a status with the value %s', (startTime) => {
    expect(() => createPodStatusPatch({}, podStatus({ startTime }), podUID)).toThrow(/newStatus\.startTime/);
  });
});

describe('applyPodStatusPatch', () => {
  it('counts the guards on the metadata as met', () => {
    const patch = createPodStatusPatch(
      running,
      { ...running, phase: 'Failed' },
      { uid: 'u', resourceVersion: '3', format: 'json' },
    );
    expect(applyPodStatusPatch(running, patch).phase).toBe('Failed');
  });

  it.each([
    ['a JSON Patch that is no list', { type: 'application/json-patch+json', body: {} }],
    ['a strategic merge patch that is no object', { type: strategicType, body: [] }],
    ['another media type', { type: 'application/merge-patch+json', body: {} }],
  ])('refuses %s', (_name, patch) => {
    expect(() => applyPodStatusPatch({}, patch as Parameters<typeof applyPodStatusPatch>[1])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
    );
  });
});
