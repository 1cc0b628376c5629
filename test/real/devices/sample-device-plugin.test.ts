import { describe } from 'vitest';
import { deviceContract } from '../../support/plugins/device-contract.ts';
import { requireSamplePlugin, SampleDevicePlugin } from '../../support/plugins/sample-device-plugin.ts';
import { requireOwnMounts } from '../kernel/own-mounts.ts';

requireOwnMounts();
await requireSamplePlugin();

describe('the sample device plugin of Kubernetes', () => {
  deviceContract((root) => new SampleDevicePlugin(root));
});
