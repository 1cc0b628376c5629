import { describe } from 'vitest';
import { deviceContract } from '../../../support/plugins/device-contract.ts';
import { FakeDevicePlugin } from '../../../support/plugins/fake-device-plugin.ts';

describe('a device plugin in this process', () => {
  deviceContract((root) => new FakeDevicePlugin(root));
});
