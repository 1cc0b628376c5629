import { describe } from 'vitest';
import { LinuxMounter } from '../../../src/kubelet.ts';
import { claimContract } from '../../support/plugins/claim-contract.ts';
import { driverContract } from '../../support/plugins/driver-contract.ts';
import { DriverWorld } from '../../support/plugins/driver-world.ts';
import { RealDriver, requireRealDriver } from '../../support/plugins/real-driver.ts';
import { requireOwnMounts } from '../kernel/own-mounts.ts';

requireOwnMounts();
await requireRealDriver();

describe('csi-driver-host-path', () => {
  const make = () => DriverWorld.make(new LinuxMounter(), (root) => new RealDriver(root));
  driverContract(make);
  claimContract(make);
});
