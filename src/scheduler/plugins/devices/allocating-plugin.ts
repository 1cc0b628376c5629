import { randomUUID } from 'node:crypto';
import { ClaimAllocator } from '../../devices/claim-allocator.ts';
import { DeviceSelectors } from '../../devices/selectors/device-selectors.ts';
import { noSignature, withSignature } from '../../framework/placed-plugin.ts';
import { type Plugin, type PluginHandle, type SharedKey, sharedKey } from '../../framework/plugin.ts';
import { dynamicResourcesBy } from './dynamic-resources.ts';

const selectorsKey: SharedKey<DeviceSelectors> = sharedKey('DeviceSelectors');

/** The plugin DynamicResources, with the devices that drivers publish. Takes kube-scheduler's `filterTimeout` and `bindingTimeout`. */
export function dynamicResources(args: unknown, handle: PluginHandle): Plugin {
  // made with the first pod that has claims: most clusters have none
  const selectors = {
    matches: (...asked: Parameters<DeviceSelectors['matches']>): boolean =>
      handle.shared(selectorsKey, () => new DeviceSelectors()).matches(...asked),
  };
  const plugin = dynamicResourcesBy((needs) => new ClaimAllocator({ ...needs, selectors, shareId: randomUUID }), args, handle);
  return withSignature(plugin, noSignature);
}
