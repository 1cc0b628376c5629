import type { DevicePluginConnector } from '../../../src/kubelet.ts';

/** For an agent to whose sockets nobody comes. */
export const noDevicePlugins: DevicePluginConnector = {
  devicePlugin: () => {
    throw new Error('there is no device plugin');
  },
  serveDeviceRegistration: async () => ({ close: async () => {} }),
  servePodResources: async () => ({ close: async () => {} }),
  allocationBytes: () => new Uint8Array(),
  readAllocation: () => {
    throw new Error('there is no device plugin');
  },
};
