import { describe } from 'vitest';
import { LinuxMounter } from '../../../src/kubelet.ts';
import { driverContract } from '../../support/plugins/driver-contract.ts';
import { DriverWorld } from '../../support/plugins/driver-world.ts';
import { hasRealDriver, RealDriver } from '../../support/plugins/real-driver.ts';
import { requireOwnMounts } from './own-mounts.ts';

requireOwnMounts();

describe.skipIf(!(await hasRealDriver()))('csi-driver-host-path', () => {
  driverContract(() => DriverWorld.make(new LinuxMounter(), (root) => new RealDriver(root)));
});
