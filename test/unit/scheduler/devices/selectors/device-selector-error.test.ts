import { expect, it } from 'vitest';
import { DeviceSelectorError } from '../../../../../src/scheduler/devices/selectors/device-selector-error.ts';

it('an error of a device selector keeps only the beginning of a long expression', () => {
  const error = new DeviceSelectorError('a'.repeat(10_000), 'compile', 'b'.repeat(10_000));
  expect(error.expression).toBe('a'.repeat(200));
  expect(error.message.length).toBeLessThan(500);
});
