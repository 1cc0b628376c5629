import { describe, expect, it } from 'vitest';
import { DeviceAllocationError } from '../../../../src/scheduler/devices/device-allocation-error.ts';
import type { ClaimRequest, DeviceClass, SelectableDevice } from '../../../../src/scheduler/devices/device-types.ts';
import { PooledDevice, PooledSlice } from '../../../../src/scheduler/devices/pooled-device.ts';
import { claimName, type RequestPlan, requestPlans } from '../../../../src/scheduler/devices/request-plan.ts';
import {
  alternativesOf,
  anyClass,
  attributeSelector,
  claimOf,
  deviceOf,
  judgeByText,
  requestOf,
  sliceOf,
} from './devices-world.ts';

const slice = new PooledSlice(sliceOf('s', []), 0);

function plansOf(
  request: ClaimRequest,
  deviceClass: DeviceClass | undefined = anyClass,
  asked: string[] = [],
): readonly RequestPlan[] {
  const matches = (expression: string, device: SelectableDevice) => {
    asked.push(expression);
    return judgeByText(expression, device);
  };
  return requestPlans(claimOf([request]), () => deviceClass, { matches }).flat();
}

function planOf(...given: Parameters<typeof plansOf>): RequestPlan {
  const [plan] = plansOf(...given);
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

describe('a request', () => {
  it('has one plan, and each of its alternatives has one', () => {
    expect(plansOf(requestOf('r', 2)).map(({ fullName, count }) => [fullName, count])).toEqual([['r', 2]]);
    expect(plansOf(alternativesOf('r', 1, 'All')).map(({ fullName, count }) => [fullName, count])).toEqual([
      ['r/s0', 1],
      ['r/s1', undefined],
    ]);
  });

  it.each<[string, ClaimRequest]>([
    ['unsupported request type', { name: 'r' }],
    ['unsupported count mode Some', requestOf('r', 1, { allocationMode: 'Some' })],
    ['missing device class name', requestOf('r', 1, { deviceClassName: '' })],
    ['selector #1: CEL expression empty', requestOf('r', 1, { selectors: [attributeSelector('a'), {}] })],
    ['the capacity memory is no quantity', requestOf('r', 1, { capacity: { requests: { memory: 'much' } } })],
  ])('is refused: %s', (message, request) => {
    expect(() => plansOf(request)).toThrow(`claim d/c, request r`);
    expect(() => plansOf(request)).toThrow(message);
  });

  it('is refused without its class', () => {
    expect(() => requestPlans(claimOf([requestOf('r')]), () => undefined, { matches: judgeByText })).toThrow(
      'could not retrieve device class any',
    );
  });
});

describe('selectors', () => {
  const classWith = { ...anyClass, spec: { selectors: [attributeSelector('a')] } };
  const request = requestOf('r', 1, { selectors: [attributeSelector('b'), attributeSelector('c')] });
  const device = (...names: readonly string[]) =>
    new PooledDevice(slice, deviceOf('d', Object.fromEntries(names.map((name) => [name, 1]))));

  it('are asked in order, those of the class first, until one says no', () => {
    const asked: string[] = [];
    const plan = planOf(request, classWith, asked);
    expect([plan.selects(device('a', 'b', 'c')), plan.selects(device('a', 'c'))]).toEqual([true, false]);
    expect(asked).toEqual(['a', 'b', 'c', 'a', 'b']);
  });

  it('are asked once about a device', () => {
    const asked: string[] = [];
    const plan = planOf(request, classWith, asked);
    const one = device();
    expect([plan.selects(one), plan.selects(one)]).toEqual([false, false]);
    expect(asked).toEqual(['a']);
  });

  it('that fail say whose they are', () => {
    const failing = { ...anyClass, spec: { selectors: [attributeSelector('!')] } };
    expect(() => planOf(request, failing).selects(device())).toThrow('class any: selector #0: no such key');
    const own = planOf(requestOf('r', 1, { selectors: [attributeSelector('!')] }));
    expect(() => own.selects(device())).toThrow(DeviceAllocationError);
    expect(() => own.selects(device())).toThrow('claim d/c: selector #0: no such key');
  });
});

describe('taints', () => {
  const keptOff = (effect: string, tolerations: NonNullable<ClaimRequest['exactly']>['tolerations'] = []) => {
    const device = new PooledDevice(slice, deviceOf('d', {}, { taints: [{ key: 'broken', value: 'yes', effect }] }));
    return planOf(requestOf('r', 1, { tolerations })).isKeptOff(device);
  };

  it('keep a request off by their effects', () => {
    expect(['NoSchedule', 'NoExecute', 'None', 'Later'].map((effect) => keptOff(effect))).toEqual([true, true, false, false]);
  });

  it.each([
    [false, { key: 'broken', operator: 'Exists' }],
    [false, { operator: 'Exists' }],
    [false, { key: 'broken', operator: 'Equal', value: 'yes' }],
    [true, { key: 'broken', operator: 'Equal', value: 'no' }],
    [true, { key: 'other', operator: 'Exists' }],
    [true, { operator: 'Exists', effect: 'NoExecute' }],
    [true, { key: 'broken', operator: 'Other', value: 'yes' }],
  ])('keep a request off (%s) that tolerates %j', (expected, toleration) => {
    expect(keptOff('NoSchedule', [toleration])).toBe(expected);
  });
});

it('uses up what it asks for of a device', () => {
  const device = new PooledDevice(slice, deviceOf('d', {}, { capacity: { memory: { value: '10' } } }));
  const plan = planOf(requestOf('r', 1, { capacity: { requests: { memory: '3' } } }));
  expect(plan.useOf(device)?.get('memory')?.text).toBe('3');
  expect(plan.useOf(new PooledDevice(slice, deviceOf('e')))).toBeUndefined();
});

it('names a claim by its namespace', () => {
  expect([claimName(claimOf([])), claimName({ metadata: { name: 'x' }, spec: {} })]).toEqual(['d/c', 'x']);
});
