import { describe, expect, it, onTestFinished } from 'vitest';
import { DRAPlugin } from '../../../../src/kubelet/plugins/proto/dra_v1_pb.ts';
import type { DraService } from '../../../../src/kubelet.ts';
import { GrpcPlugins } from '../../../../src/plugins.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { FakeDraDriver } from '../../../support/plugins/fake-dra-driver.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

async function setUp(service: DraService = 'v1.DRAPlugin') {
  const fake = new FakeDraDriver(await tempDir());
  await fake.startDriver();
  const clock = new FakeClock();
  const driver = new GrpcPlugins({ clock }).draDriver(fake.socketPath, service);
  onTestFinished(async () => {
    driver.close();
    await fake[Symbol.asyncDispose]();
  });
  return { fake, clock, driver };
}

const claim = { namespace: 'default', name: 'a', uid: 'u' };

describe('a driver of dynamic resource allocation over its socket', () => {
  it.each(['v1.DRAPlugin', 'v1beta1.DRAPlugin'] as const)('makes claims ready and undoes that: %s', async (service) => {
    const { fake, driver } = await setUp(service);
    const device = { poolName: 'p', deviceName: 'a', requestNames: [], cdiDeviceIDs: ['gpu.example.com/device=a'] };
    expect(await driver.prepare([claim])).toEqual(new Map([['u', { devices: [device], error: '' }]]));
    fake.answers.NodeUnprepareResources = () => ({ claims: { u: { error: 'busy' } } });
    expect(await driver.unprepare([claim])).toEqual(new Map([['u', 'busy']]));
    expect(fake.calls).toEqual([`${service} NodePrepareResources a`, `${service} NodeUnprepareResources a`]);
  });

  it('says which share of a device a claim has', async () => {
    const { fake, driver } = await setUp();
    fake.answers.NodePrepareResources = () => ({
      claims: { u: { devices: [{ poolName: 'p', deviceName: 'd', shareId: 's' }] } },
    });
    const answer = await driver.prepare([claim]);
    expect(answer.get('u')?.devices[0]).toMatchObject({ deviceName: 'd', shareID: 's' });
  });

  it('that hangs is given up after 45 s, and one that says more than 4 MiB is not read', async () => {
    const { fake, driver, clock } = await setUp();
    fake.answers.NodePrepareResources = () => 'nothing';
    const late = driver.prepare([claim]).catch((error: unknown) => error);
    await until(() => fake.calls.length === 1);
    await clock.advance(45_000);
    expect(await late).toMatchObject({ grpcCode: 'DeadlineExceeded', call: 'NodePrepareResources', isFinal: false });
    fake.answers.NodePrepareResources = () => ({ claims: { u: { error: 'x'.repeat(5_000_000) } } });
    await expect(driver.prepare([claim])).rejects.toMatchObject({ grpcCode: 'ResourceExhausted' });
  });

  it('tells how its devices are, until its process ends', async () => {
    const { fake, driver } = await setUp();
    const told: unknown[] = [];
    const watch = (async () => {
      for await (const devices of driver.watchHealth(new AbortController().signal)) told.push(...devices);
    })().catch((error: unknown) => error);
    await until(() => fake.watches === 1);
    const device = { poolName: 'p', deviceName: 'd' };
    fake.tellHealth([{ device, health: 2, healthCheckTimeoutSeconds: 7n, message: 'hot' }, { device, health: 1 }, { health: 9 }]);
    await until(() => told.length === 3);
    expect(told).toEqual([
      { ...device, health: 'Unhealthy', timeoutSeconds: 7, message: 'hot' },
      { ...device, health: 'Healthy', timeoutSeconds: 0, message: '' },
      { poolName: '', deviceName: '', health: 'Unknown', timeoutSeconds: 0, message: '' },
    ]);
    await fake.stopDriver();
    expect(await watch).toMatchObject({ code: 'ERR_PLUGIN_CALL' });
  });

  it('has no such service: nobody hears of devices', async () => {
    const { fake, driver } = await setUp();
    await fake.stopDriver();
    await fake.startDriver([DRAPlugin]);
    const first = driver.watchHealth(new AbortController().signal)[Symbol.asyncIterator]();
    await expect(first.next()).rejects.toMatchObject({ grpcCode: 'Unimplemented' });
  });

  it('says whether it answers, also after its process was killed and has come back', async () => {
    const { fake, driver, clock } = await setUp();
    const told: boolean[] = [];
    driver.watchConnection((isConnected) => told.push(isConnected));
    await until(() => told.length === 1);
    await fake.stopDriver();
    await until(() => told.length === 2);
    await clock.advance(99);
    await fake.startDriver();
    await clock.advance(1);
    await until(() => told.length === 3);
    expect(told).toEqual([true, false, true]);
    driver.close();
    await fake.stopDriver();
    expect(told).toHaveLength(3);
  });
});
