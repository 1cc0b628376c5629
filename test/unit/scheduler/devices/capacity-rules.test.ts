import { describe, expect, it } from 'vitest';
import { amountOrNone, capacityAmount, capacityUse, readCapacity } from '../../../../src/scheduler/devices/capacity-rules.ts';
import type { DeviceCapacity } from '../../../../src/scheduler/devices/device-types.ts';

type Policy = NonNullable<DeviceCapacity['requestPolicy']>;

function used(requested: string | undefined, requestPolicy?: Policy): string | undefined {
  const capacity = readCapacity('memory', { value: '10Ki', ...(requestPolicy && { requestPolicy }) });
  const wanted = new Map(requested === undefined ? [] : [['memory', capacityAmount(requested)]]);
  return capacityUse([capacity], wanted)?.get('memory')?.text;
}

describe('what a request uses up', () => {
  it.each<[string, string | undefined, Policy | undefined, string | undefined]>([
    ['all of it, where it says nothing', undefined, undefined, '10Ki'],
    ['what it says', '3', undefined, '3'],
    ['what the policy says, where it says nothing', undefined, { default: '2' }, '2'],
    ['all of it, where the policy has no default', undefined, { validValues: ['10Ki'] }, '10Ki'],
    ['the least of a range', '1', { default: '2', validRange: { min: '4' } }, '4'],
    ['the next step of a range', '5', { default: '2', validRange: { min: '4', step: '3' } }, '7'],
    ['a step of a range', '7', { default: '2', validRange: { min: '4', step: '3' } }, '7'],
    ['in the form of bytes', '1500', { default: '2', validRange: { min: '0', step: '1Ki' } }, '2Ki'],
    ['in the form of numbers below that', '999', { default: '2', validRange: { min: '0', step: '500' } }, '1k'],
    ['nothing, beyond the range', '9', { default: '2', validRange: { min: '4', max: '8' } }, undefined],
    ['the most of a range', '8', { default: '2', validRange: { min: '4', max: '8' } }, '8'],
    ['the next valid value', '3', { default: '2', validValues: ['2', '4'] }, '4'],
    ['nothing, beyond the valid values', '5', { default: '2', validValues: ['2', '4'] }, undefined],
    ['a default, whatever is valid', undefined, { default: '3', validValues: ['2', '4'] }, '3'],
    ['nothing, where the steps have no size', '5', { default: '2', validRange: { min: '4', step: '0' } }, undefined],
    [
      'nothing, where steps begin nowhere',
      '5',
      { default: '2', validRange: { step: '1' } as Policy['validRange'] & object },
      undefined,
    ],
  ])('is %s', (_name, requested, policy, expected) => {
    expect(used(requested, policy)).toBe(expected);
  });

  it('is nothing of a device without such a capacity', () => {
    expect(capacityUse([readCapacity('memory', { value: '1' })], new Map([['other', capacityAmount('1')]]))).toBeUndefined();
  });
});

describe('a quantity', () => {
  it('is read as a server writes it', () => {
    expect(capacityAmount('1024')).toEqual({ nano: 1_024_000_000_000n, text: '1024' });
    expect(capacityAmount('0.5').text).toBe('500m');
  });

  it('is refused, or none, where it is no quantity', () => {
    expect(() => capacityAmount('much')).toThrow('Expected `quantity`');
    expect(amountOrNone('much')).toBeUndefined();
  });
});
