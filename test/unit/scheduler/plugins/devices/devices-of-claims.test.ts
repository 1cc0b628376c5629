import { expect, it } from 'vitest';
import { amountOrNone } from '../../../../../src/scheduler/devices/capacity-rules.ts';
import { DevicesOfClaims } from '../../../../../src/scheduler/plugins/devices/devices-of-claims.ts';
import { allocationOf } from './claim-world.ts';

const share = (shareID: string, memory: string) => ({ shareID, consumedCapacity: { memory } });

it('counts whole devices by claim, without those with admin access', () => {
  const taken = new DevicesOfClaims();
  taken.set('c', allocationOf('a', { device: 'b', adminAccess: true }));
  taken.set('e', allocationOf('a'));
  expect([...taken.devices]).toEqual(['gpu.example.com/n1/a']);
  taken.set('c', undefined);
  expect(taken.devices.size).toBe(1);
  taken.set('e', allocationOf('b'));
  expect([...taken.devices]).toEqual(['gpu.example.com/n1/b']);
  taken.set('e', null);
  expect([taken.devices.size, taken.claims]).toEqual([0, 0]);
});

it('adds up what shares use of a device', () => {
  const taken = new DevicesOfClaims();
  taken.set('c', allocationOf(share('1', '1Gi'), share('2', '512Mi')));
  taken.set('e', allocationOf(share('3', '1G')));
  expect([...taken.sharedDevices]).toEqual(['gpu.example.com/n1/a']);
  expect(taken.consumedCapacity.get('gpu.example.com/n1/a')).toEqual({ memory: String(1.5 * 2 ** 30 + 1e9) });
  taken.set('e', undefined);
  expect(taken.consumedCapacity.get('gpu.example.com/n1/a')).toEqual({ memory: String(1.5 * 2 ** 30) });
  taken.set('c', undefined);
  expect([taken.sharedDevices.size, taken.consumedCapacity.size, taken.devices.size]).toEqual([0, 0, 0]);
});

it('takes a share that cannot be read for the whole device', () => {
  const taken = new DevicesOfClaims();
  taken.set('c', allocationOf(share('1', 'much')));
  expect([...taken.devices]).toEqual(['gpu.example.com/n1/a']);
});

it('takes a share of less than nothing for the whole device: it would make room for others', () => {
  const taken = new DevicesOfClaims();
  taken.set('c', allocationOf(share('1', '-5Gi')));
  expect([[...taken.devices], taken.consumedCapacity.size]).toEqual([['gpu.example.com/n1/a'], 0]);
});

it('keeps the size of amounts for which there is no suffix', () => {
  const taken = new DevicesOfClaims();
  taken.set('c', allocationOf(share('1', '1e99'), share('2', '1e21')));
  const { memory = '' } = taken.consumedCapacity.get('gpu.example.com/n1/a') ?? {};
  expect(amountOrNone(memory)?.nano).toBe(10n ** 108n + 10n ** 30n);
  taken.set('c', allocationOf(share('1', '999E')));
  expect(taken.consumedCapacity.get('gpu.example.com/n1/a')).toEqual({ memory: '999E' });
});

it('knows a device by a share of nothing, which has been counted for its counters, as long as there is one', () => {
  const taken = new DevicesOfClaims();
  const device = 'gpu.example.com/n1/a';
  taken.set('c', allocationOf(share('1', '0')));
  expect(taken.consumedCapacity.has(device)).toBe(true);
  taken.set('e', allocationOf(share('2', '1Gi')));
  taken.set('e', undefined);
  expect([taken.consumedCapacity.has(device), taken.sharedDevices.has(device)]).toEqual([true, true]);
  taken.set('c', allocationOf({ shareID: '1' }));
  expect([taken.consumedCapacity.has(device), taken.sharedDevices.has(device)]).toEqual([false, true]);
});
