import { describe } from 'vitest';
import { FakeMounter } from '../../../../src/testing.ts';
import { driverContract } from '../../../support/plugins/driver-contract.ts';
import { DriverWorld } from '../../../support/plugins/driver-world.ts';
import { FakeDriver } from '../../../support/plugins/fake-driver.ts';

describe('a storage driver in this process', () => {
  driverContract(() => DriverWorld.make(new FakeMounter(), (root, mounter) => new FakeDriver({ root, mounter })));
});
