import type { DeviceAttribute, SelectableDevice } from '../../../src/scheduler/devices/device-types.ts';

/**
 * Judges the few expressions that the recordings hold, all of whose parts are joined by `&&`. Throws for one that is none of these,
 * and for one that asks for an attribute which is not there.
 */
export function matchesSimply(expression: string, device: SelectableDevice): boolean {
  const parts = expression.split(' && ').map((part) => {
    try {
      return judged(part, device);
    } catch (error) {
      return error as Error;
    }
  });
  // what is false is so whatever else fails
  if (parts.includes(false)) return false;
  const failure = parts.find((part) => part instanceof Error);
  if (failure !== undefined) throw failure;
  return true;
}

function judged(part: string, device: SelectableDevice): boolean {
  const [, driver] = /^device\.driver == "(.+)"$/.exec(part) ?? [];
  if (driver !== undefined) return device.driver === driver;
  const [, shared] = /^device\.allowMultipleAllocations == (true|false)$/.exec(part) ?? [];
  if (shared !== undefined) return (device.allowMultipleAllocations === true) === (shared === 'true');
  const [, name, domain] = /^"(\w+)" in device\.attributes\["([\w.]+)"\]$/.exec(part) ?? [];
  if (name !== undefined) return attributeOf(device, domain ?? '', name) !== undefined;
  const [, of, wanted, value] = /^device\.attributes\["([\w.]+)"\]\.(\w+) == (.+)$/.exec(part) ?? [];
  if (of === undefined || wanted === undefined || value === undefined)
    throw new RangeError(`a selector that is not simple: ${part}`);
  const attribute = attributeOf(device, of, wanted);
  if (attribute === undefined) throw new RangeError(`no such attribute: ${wanted}`);
  return (attribute.string ?? attribute.int) === JSON.parse(value);
}

/** A name without a domain is in that of the driver. */
function attributeOf({ driver, attributes }: SelectableDevice, domain: string, name: string): DeviceAttribute | undefined {
  return attributes[`${domain}/${name}`] ?? (domain === driver ? attributes[name] : undefined);
}
