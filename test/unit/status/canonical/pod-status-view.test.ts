import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { WirePodStatus } from '../../../../src/api/json/types.ts';
import { podConditionView, podStatusView } from '../../../../src/status/canonical/pod-status-view.ts';
import { Harness, testPod } from '../status-harness.ts';

const time = '2026-01-02T03:04:05Z';
const later = '2026-01-02T03:04:06Z';
const container = (name: string, more: object) => ({ name, image: '', imageID: '', ready: true, restartCount: 0, ...more });

const status: WirePodStatus = {
  phase: 'Running',
  startTime: time,
  podIPs: [{ ip: '10.0.0.1' }],
  conditions: [{ type: 'Ready', status: 'True', lastProbeTime: time, lastTransitionTime: later }],
  containerStatuses: [
    container('a', { state: { running: { startedAt: time } } }),
    container('b', { lastState: { terminated: { exitCode: 1, startedAt: time, finishedAt: later } } }),
  ],
};

/** The same as plain data, with ordinary Dates. */
const plain = {
  phase: 'Running',
  startTime: new Date(time),
  podIPs: [{ ip: '10.0.0.1' }],
  conditions: [{ type: 'Ready', status: 'True', lastProbeTime: new Date(time), lastTransitionTime: new Date(later) }],
  containerStatuses: [
    container('a', { state: { running: { startedAt: new Date(time) } } }),
    container('b', { lastState: { terminated: { exitCode: 1, startedAt: new Date(time), finishedAt: new Date(later) } } }),
  ],
};

describe('podStatusView', () => {
  it('gives a Date at every time, a new one at each read', () => {
    const view = podStatusView(status);
    expect(view.startTime).toBeInstanceOf(Date);
    expect(view.startTime).toEqual(new Date(time));
    expect(view.startTime).not.toBe(view.startTime);
  });

  it('cannot be changed, whatever a reader does with its objects, lists and times', () => {
    const view = podStatusView(status);
    view.startTime?.setFullYear(1999);
    view.conditions?.[0]?.lastTransitionTime?.setTime(0);
    view.containerStatuses?.[1]?.lastState?.terminated?.finishedAt?.setTime(0);
    expect(() => Object.assign(view, { startTime: new Date(0) })).toThrow(TypeError);
    expect(() => Object.assign(view, { phase: 'Failed' })).toThrow(TypeError);
    expect(() => view.conditions?.push({ type: 'x', status: 'x' })).toThrow(TypeError);
    for (const key of Reflect.ownKeys(view)) {
      expect(Reflect.set(view, key, 'other')).toBe(false);
      expect(Reflect.deleteProperty(view, key)).toBe(false);
    }
    expect(() => Object.defineProperty(view, 'startTime', { value: 'x' })).toThrow(TypeError);
    expect(podStatusView(status)).toEqual(view);
    expect(view).toEqual(plain);
  });

  it('is plain data for a comparison', () => {
    const view = podStatusView(status);
    expect(view).toEqual(plain);
    expect(view).toStrictEqual(plain);
    expect(plain).toStrictEqual(view);
    expect(isDeepStrictEqual(view, plain)).toBe(true);
    expect(isDeepStrictEqual(plain, view)).toBe(true);
    expect(view).not.toEqual({ ...plain, startTime: new Date(later) });
    expect(isDeepStrictEqual(view, podStatusView({ ...status, startTime: later }))).toBe(false);
  });

  it('is plain data for a copy and for JSON', () => {
    const view = podStatusView(status);
    expect(JSON.stringify(view)).toBe(JSON.stringify(plain));
    expect(structuredClone(view)).toStrictEqual(plain);
    for (const copy of [{ ...view }, Object.assign({}, view)]) {
      expect(copy).toStrictEqual(plain);
      expect(Object.getOwnPropertyDescriptor(copy, 'startTime')).toHaveProperty('value', new Date(time));
      expect(Reflect.ownKeys(copy)).toEqual(Object.keys(plain));
    }
    expect(Object.entries(view).map(([key]) => key)).toEqual(Object.keys(plain));
    expect('startTime' in view && Object.hasOwn(view, 'startTime')).toBe(true);
  });

  it('has plain prototypes, and is frozen at every depth', () => {
    const look = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || value instanceof Date) return;
      expect(Object.getPrototypeOf(value)).toBe(Array.isArray(value) ? Array.prototype : Object.prototype);
      expect(Object.isFrozen(value)).toBe(true);
      for (const inner of Object.values(value)) look(inner);
    };
    look(podStatusView(status));
  });

  it('can be read through an object that inherits from it, and through a proxy', () => {
    const view = podStatusView(status);
    expect(Object.create(view).startTime).toEqual(new Date(time));
    expect(new Proxy(view, {}).startTime).toEqual(new Date(time));
  });

  it('leaves what Kubernetes 1.36 does not know as it stands on the wire, frozen', () => {
    const unknown = { startTime: 'noon', startedAt: time, list: [{ finishedAt: later }] };
    const parts = { fieldOf137: unknown, finishedAt: time };
    const given = {
      ...parts,
      conditions: [{ type: 'Ready', status: 'True', ...parts, startTime: 'noon' }],
      containerStatuses: [container('a', parts)],
    };
    const view = podStatusView(given as object as WirePodStatus);
    expect(view).toStrictEqual(given);
    expect(Object.isFrozen((view as { fieldOf137?: { list: object[] } }).fieldOf137?.list[0])).toBe(true);
  });
});

describe('podConditionView', () => {
  it('gives the times of one condition', () => {
    const view = podConditionView({ type: 'Ready', status: 'True', lastTransitionTime: time });
    view.lastTransitionTime?.setTime(0);
    expect(view).toStrictEqual({ type: 'Ready', status: 'True', lastTransitionTime: new Date(time) });
  });
});

describe('StatusManager.getPodStatus', () => {
  it('gives the next reader what the last one could not change, and the same object', () => {
    const { manager } = new Harness({ started: false });
    manager.setPodStatus(testPod(), { phase: 'Running', startTime: new Date(time) });
    const first = manager.getPodStatus('12345678');
    first?.startTime?.setFullYear(1999);
    expect(manager.getPodStatus('12345678')?.startTime).toEqual(new Date(time));
    expect(manager.getPodStatus('12345678')).toBe(first);
  });

  it('gives a status that can be set again, and is no change then', () => {
    const { manager } = new Harness({ started: false });
    manager.setPodStatus(testPod(), status);
    const view = manager.getPodStatus('12345678');
    expect(manager.setPodStatus(testPod(), view ?? {})).toBe(false);
    expect(manager.setPodStatus(testPod(), { ...view, message: 'm' })).toBe(true);
    expect(manager.getPodStatus('12345678')).toEqual({ ...view, message: 'm' });
  });
});
