import { describe, expect, it } from 'vitest';
import { DeviceSelectorError } from '../../../../../src/scheduler/devices/selectors/device-selector-error.ts';
import { DeviceSelectors } from '../../../../../src/scheduler/devices/selectors/device-selectors.ts';
import type { SelectedDevice } from '../../../../../src/scheduler/devices/selectors/device-values.ts';

const device: SelectedDevice = {
  driver: 'gpu.example.com',
  attributes: {
    model: { string: 'A100' },
    cores: { int: 8 },
    healthy: { bool: true },
    'other.example.com/version': { version: '1.2.3' },
  },
  capacity: { memory: { value: '40Gi' } },
};

function failureOf(expression: string, of = device): DeviceSelectorError {
  try {
    new DeviceSelectors().matches(expression, of);
  } catch (error) {
    if (error instanceof DeviceSelectorError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('device selectors', () => {
  const selectors = new DeviceSelectors();

  it.each([
    ['device.driver == "gpu.example.com"', true],
    ['device.attributes["gpu.example.com"].model == "A100"', true],
    ['device.attributes["gpu.example.com"].cores > 8', false],
    ['device.attributes["gpu.example.com"].healthy', true],
    ['device.attributes["other.example.com"].version.isGreaterThan(semver("1.0.0"))', true],
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0', true],
    ['device.allowMultipleAllocations', false],
    ['"model" in device.attributes["absent.example.com"]', false],
    ['device.attributes["gpu.example.com"].?absent.orValue(true)', true],
    ['"absent.example.com" in device.attributes', false],
    ['has(device.attributes["absent.example.com"].model)', false],
    ['cel.bind(gpu, device.attributes["gpu.example.com"], gpu.healthy && gpu.cores == 8)', true],
    ['device.attributes.exists(domain, domain == "other.example.com")', true],
  ])('select by %s: %s', (expression, matches) => {
    expect(selectors.matches(expression, device)).toBe(matches);
  });

  it('see who allows more than one allocation', () => {
    expect(selectors.matches('device.allowMultipleAllocations', { ...device, allowMultipleAllocations: true })).toBe(true);
  });

  it('fail at a device without the attribute that they name', () => {
    expect(failureOf('device.attributes["gpu.example.com"].absent == 1')).toMatchObject({
      code: 'ERR_DEVICE_SELECTOR',
      during: 'evaluate',
      message:
        'The device selector "device.attributes[\\"gpu.example.com\\"].absent == 1" failed at a device: there is no "absent"',
    });
  });

  it('fail where the result is neither true nor false', () => {
    expect(failureOf('device.attributes["gpu.example.com"].model').message).toContain('the result is neither true nor false');
  });

  it.each([
    [{ ...device, attributes: { x: {} } }, 'the attribute x of the device has no value that can be used'],
    [{ ...device, attributes: { x: { version: '1.2' } } }, 'the attribute x of the device has no value that can be used'],
    [{ ...device, capacity: { x: { value: 'much' } } }, 'the capacity x of the device is no quantity'],
  ])('fail at a device that makes no sense', (broken, problem) => {
    expect(failureOf('true', broken)).toMatchObject({ during: 'evaluate', message: expect.stringContaining(problem) });
  });

  it.each([
    ['device.driver', 'line 1, column 1: it has to be true or false, not of type string'],
    ['dyn(true)', 'line 1, column 1: it has to be true or false, not of type dyn'],
    ['true &&\n  device.nothing', 'line 2, column 9: a value of type kubernetes.DRADevice has no field nothing'],
    ['ip("10.0.0.1") == 1', 'line 1, column 3: the function ip() is not offered in device selectors here'],
    [`"${'a'.repeat(10 * 1024)}" == ""`, 'it has more than 10240 bytes'],
  ])('say what cannot be compiled, and where: %#', (expression, problem) => {
    expect(failureOf(expression)).toMatchObject({ during: 'compile', message: expect.stringContaining(problem) });
  });

  it.each([
    'lists.range(1000000).all(x, lists.range(1000000).all(y, true))',
    `lists.range(100000).map(x, "a").join().matches("${'(a*)*'.repeat(20)}x")`,
    `cel.bind(a, lists.range(1000), ${'cel.bind(a, a + a, '.repeat(200)}a.size() > 0${')'.repeat(200)})`,
    'lists.range(9223372036854775807).size() > 0',
    `${'optional.of(1)'}${'.optMap(x, x)'.repeat(600)}.hasValue()`,
    `${'!'.repeat(9000)}true`,
    `${'('.repeat(5000)}true${')'.repeat(5000)}`,
    `[${'1,'.repeat(5000)}] == []`,
  ])('answer or fail soon, whatever they ask: %#', (expression) => {
    let outcome: unknown;
    try {
      outcome = selectors.matches(expression, device);
    } catch (error) {
      outcome = error;
    }
    expect(typeof outcome === 'boolean' || outcome instanceof DeviceSelectorError).toBe(true);
  });

  it('keep only so many compiled expressions, and still answer', () => {
    const few = new DeviceSelectors({ mostExpressions: 2 });
    const expressions = [1, 2, 3, 1].map((n) => `device.attributes["gpu.example.com"].cores > ${n * 3}`);
    expect(expressions.map((expression) => few.matches(expression, device))).toEqual([true, true, false, true]);
  });
});
