import { describe } from 'vitest';
import { FakeMounter } from '../../../../src/testing.ts';
import { claimContract } from '../../../support/plugins/claim-contract.ts';
import { driverContract } from '../../../support/plugins/driver-contract.ts';
import { DriverWorld } from '../../../support/plugins/driver-world.ts';
import { FakeDriver } from '../../../support/plugins/fake-driver.ts';

describe('a storage driver in this process', () => {
  // STAGE_UNSTAGE_VOLUME and EXPAND_VOLUME
  const capabilities = [1, 3];
  const make = () => DriverWorld.make(new FakeMounter(), (root, mounter) => new FakeDriver({ root, mounter, capabilities }));
  driverContract(make);
  claimContract(make);
});
