import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isStatusManagerError } from '../../../../src/base/errors.ts';
import { PluginCallError } from '../../../../src/kubelet.ts';
import { GrpcPlugins } from '../../../../src/plugins.ts';
import { FakeClock, FakeMounter } from '../../../../src/testing.ts';
import { FakeDriver } from '../../../support/plugins/fake-driver.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

async function setUp(capabilities: readonly number[] = []) {
  const fake = new FakeDriver({ root: await tempDir(), mounter: new FakeMounter(), capabilities });
  await fake.startDriver();
  await fake.startRegistrar();
  const clock = new FakeClock();
  const plugins = new GrpcPlugins({ clock });
  const driver = plugins.csiNode(fake.socketPath);
  const registration = plugins.registration(fake.registrationPath);
  onTestFinished(async () => {
    driver.close();
    registration.close();
    await fake[Symbol.asyncDispose]();
  });
  return { fake, clock, driver, registration };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
const publish = { volumeID: 'v', targetPath: '/target', readonly: false, accessMode: 'SINGLE_NODE_WRITER' } as const;

describe('a plugin over its sockets', () => {
  it('says what it is, and is told of its registration', async () => {
    const { fake, registration } = await setUp();
    const info = { type: 'CSIPlugin', name: fake.name, endpoint: fake.socketPath, supportedVersions: ['1.0.0'] };
    expect(await registration.getInfo()).toEqual(info);
    await registration.notify({ registered: false, error: 'because' });
    expect(fake.statuses).toMatchObject([{ pluginRegistered: false, error: 'because' }]);
  });

  it('is not read beyond what such a plugin says', async () => {
    const { fake, registration } = await setUp();
    fake.answers.GetInfo = () => ({ name: 'x'.repeat(100_000) });
    expect(await failureOf(registration.getInfo())).toMatchObject({ code: 'ERR_PLUGIN_CALL', grpcCode: 'ResourceExhausted' });
  });

  it('answers all calls of a storage driver', async () => {
    const { fake, driver } = await setUp([1, 6, 9]);
    expect(await driver.getPluginInfo()).toEqual({ name: fake.name, vendorVersion: '1' });
    expect(await driver.probe()).toBe(true);
    const topology = { 'topology.hostpath.csi/node': 'node-1' };
    expect(await driver.getInfo()).toEqual({ nodeID: 'node-1', maxVolumesPerNode: 7, topology });
    // 9 is a capability of some later version
    expect([...(await driver.getCapabilities())]).toEqual(['STAGE_UNSTAGE_VOLUME', 'VOLUME_MOUNT_GROUP']);
    fake.answers.NodeStageVolume = () => ({});
    const stage = { volumeID: 'v', stagingTargetPath: '/stage', accessMode: 'MULTI_NODE_MULTI_WRITER', fsType: 'ext4' } as const;
    await driver.stageVolume({ ...stage, mountFlags: ['ro'], volumeMountGroup: '7', publishContext: { device: 'a' } });
    expect(fake.callsOf('NodeStageVolume')[0]?.request).toMatchObject({
      volumeId: 'v',
      publishContext: { device: 'a' },
      volumeCapability: {
        accessMode: { mode: 5 },
        accessType: { case: 'mount', value: { fsType: 'ext4', mountFlags: ['ro'], volumeMountGroup: '7' } },
      },
    });
    fake.answers.NodeUnstageVolume = () => ({});
    await driver.unstageVolume('v', '/stage');
    fake.answers.NodePublishVolume = () => ({});
    await driver.publishVolume({ ...publish, block: true, volumeContext: { a: 'b' }, secrets: { key: 'hidden' } });
    expect(fake.callsOf('NodePublishVolume')[0]?.request).toMatchObject({
      volumeContext: { a: 'b' },
      secrets: { key: 'hidden' },
      volumeCapability: { accessType: { case: 'block' }, accessMode: { mode: 1 } },
    });
    fake.answers.NodeExpandVolume = () => ({ capacityBytes: 2n ** 40n });
    expect(await driver.expandVolume({ ...publish, volumePath: '/target', requiredBytes: 2 ** 40 })).toBe(2 ** 40);
    fake.answers.NodeGetVolumeStats = () => ({ usage: [{ unit: 1, available: 1n, total: 3n, used: 2n }, { unit: 0 }] });
    const usage = [{ unit: 'BYTES', available: 1, total: 3, used: 2 }];
    expect(await driver.getVolumeStats('v', '/target')).toEqual(usage);
    await driver.unpublishVolume('v', '/target');
    expect(fake.callsOf('NodeUnpublishVolume')[0]?.request).toMatchObject({ volumeId: 'v', targetPath: '/target' });
  });

  it.each([
    [5, 'NotFound', true],
    [13, 'Internal', true],
    [1, 'Canceled', false],
    [8, 'ResourceExhausted', false],
    [10, 'Aborted', false],
    [14, 'Unavailable', false],
  ])('fails with the words of the driver: code %i is %s, final: %s', async (code, grpcCode, isFinal) => {
    const { fake, driver } = await setUp();
    fake.answers.NodePublishVolume = () => ({ code, details: 'as the driver says' });
    const error = await failureOf(driver.publishVolume(publish));
    expect(error).toBeInstanceOf(PluginCallError);
    expect(error).toMatchObject({ grpcCode, isFinal, call: 'NodePublishVolume' });
    expect(String(error)).toBe(`PluginCallError: rpc error: code = ${grpcCode} desc = as the driver says`);
    expect(isStatusManagerError(error, 'ERR_PLUGIN_CALL')).toBe(true);
  });

  it('shows no secret in an error, also where the driver does', async () => {
    const { fake, driver } = await setUp();
    fake.answers.NodePublishVolume = () => ({ code: 16, details: 'wrong password s3cr3t-word for robot' });
    const error = await failureOf(driver.publishVolume({ ...publish, secrets: { password: 's3cr3t-word' } }));
    expect(String(error)).toContain('wrong password ***stripped*** for robot');
    const whole = (one: unknown): string => (one instanceof Error ? `${one.stack}${whole(one.cause)}` : String(one));
    expect(whole(error)).not.toContain('s3cr3t');
  });

  it('shows no secret in part, where one is the beginning of another', async () => {
    const { fake, driver } = await setUp();
    fake.answers.NodePublishVolume = () => ({ code: 16, details: 'wrong: s3cr3t-word-and-more' });
    const secrets = { short: 's3cr3t-word', long: 's3cr3t-word-and-more' };
    const error = await failureOf(driver.publishVolume({ ...publish, secrets }));
    expect(String(error)).toContain('wrong: ***stripped***');
    expect(String(error)).not.toContain('-and-more');
  });

  it.each(['volumeContext', 'secrets'])('shows no token of a service account that came in its %s', async (place) => {
    const { fake, driver } = await setUp();
    const [vault, other] = ['token-of-vault', 'token-of-vault-2'];
    const expirationTimestamp = '2030-01-01T00:00:00Z';
    const tokens = { vault: { token: vault, expirationTimestamp }, '': { token: other, expirationTimestamp } };
    const text = JSON.stringify(tokens);
    fake.answers.NodePublishVolume = () => ({
      code: 16,
      details: `wrong: ${other}, ${vault} of ${text} (${JSON.stringify(text)})`,
    });
    const given = { 'csi.storage.k8s.io/serviceAccount.tokens': text, size: '10Gi-of-it' };
    const error = await failureOf(driver.publishVolume({ ...publish, [place]: given }));
    expect(String(error)).toContain('wrong: ***stripped***, ***stripped*** of ***stripped*** (');
    expect(String(error)).not.toContain('token-of-vault');
    fake.answers.NodePublishVolume = () => ({ code: 3, details: 'no such size 10Gi-of-it' });
    const shown = await failureOf(driver.publishVolume({ ...publish, volumeContext: { size: '10Gi-of-it' } }));
    expect(String(shown)).toContain('no such size 10Gi-of-it');
  });

  it('is not waited for longer than two minutes, and nobody knows then what it has done', async () => {
    const { fake, clock, driver } = await setUp();
    fake.answers.NodePublishVolume = () => 'nothing';
    const failing = failureOf(driver.publishVolume(publish));
    await until(() => fake.callsOf('NodePublishVolume').length === 1);
    await clock.advance(119_999);
    expect(await Promise.race([failing, Promise.resolve('waits')])).toBe('waits');
    await clock.advance(1);
    expect(await failing).toMatchObject({ grpcCode: 'DeadlineExceeded', isFinal: false });
  });

  it('comes back after it has restarted', async () => {
    const { fake, driver } = await setUp();
    await driver.getInfo();
    await fake.stopDriver();
    expect(await failureOf(driver.getInfo())).toMatchObject({ grpcCode: 'Unavailable' });
    await fake.startDriver();
    await until(async () => (await failureOf(driver.getInfo())) === undefined);
    expect(fake.callsOf('NodeGetInfo').length).toBeGreaterThan(1);
  });

  it('is refused where the options are none', () => {
    expect(() => new GrpcPlugins({ clock: 7 as never })).toThrow('clock');
    expect(() => new GrpcPlugins({ socket: join('/', 'x') } as never)).toThrow('socket');
  });
});
