import { describe, expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { withClaimHealth } from '../../../../src/kubelet/dra/claim-health.ts';
import { DeviceHealth } from '../../../../src/kubelet/dra/device-health.ts';
import type { DraDeviceHealth } from '../../../../src/kubelet.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { heldBytes } from '../../../support/held-bytes.ts';

const deviceWith = (more: Partial<DraDeviceHealth> = {}): DraDeviceHealth => ({
  ...{ poolName: 'p', deviceName: 'd', health: 'Healthy', timeoutSeconds: 0, message: '' },
  ...more,
});

function setUp() {
  const clock = new FakeClock();
  const told: string[] = [];
  const onChange = (driver: string, devices: readonly { readonly deviceName: string }[]) =>
    void told.push(`${driver} ${devices.map(({ deviceName }) => deviceName).join(' ')}`);
  return { clock, told, health: new DeviceHealth({ onChange, clock: safeClock(clock) }) };
}

describe('how devices are', () => {
  it('is told when it changes, and counts for 30 s, or as long as the driver says', async () => {
    const { clock, told, health } = setUp();
    const plugin = {};
    expect(health.of('a', 'p', 'd').health).toBe('Unknown');
    health.report('a', plugin, [deviceWith(), deviceWith({ deviceName: 'e', timeoutSeconds: 100 })]);
    health.report('a', plugin, [deviceWith(), deviceWith({ deviceName: 'e', timeoutSeconds: 100 })]);
    expect(told).toEqual(['a d e']);
    await clock.advance(31_000);
    expect([health.of('a', 'p', 'd').health, health.of('a', 'p', 'e').health]).toEqual(['Unknown', 'Healthy']);
    // one that is not named any more goes once it is old
    health.report('a', plugin, [deviceWith({ deviceName: 'e', health: 'Unhealthy', message: 'broken' })]);
    expect(told.slice(1)).toEqual(['a e d']);
    expect(health.of('a', 'p', 'e')).toMatchObject({ health: 'Unhealthy', message: 'broken' });
  });

  it('is what the newest plugin of a driver says that knows the device, and one that ends takes only its own words along', () => {
    const { told, health } = setUp();
    const [older, newer] = [{}, {}];
    health.report('a', older, [deviceWith(), deviceWith({ deviceName: 'e' })]);
    health.report('a', newer, [deviceWith({ health: 'Unhealthy' })]);
    const both = () => [health.of('a', 'p', 'd').health, health.of('a', 'p', 'e').health];
    expect(both()).toEqual(['Unhealthy', 'Healthy']);
    health.clear('a', newer);
    expect(both()).toEqual(['Healthy', 'Healthy']);
    health.clear('a', older);
    expect(both()).toEqual(['Unknown', 'Unknown']);
    expect(told.at(-1)).toBe('a d e');
  });

  it('is bounded, whatever a driver says', () => {
    const { told, health } = setUp();
    const many = Array.from({ length: 20_000 }, (_, n) => deviceWith({ deviceName: `d${n}` }));
    health.report('a', {}, [
      deviceWith({ deviceName: 'x'.repeat(10_000) }),
      deviceWith({ message: 'm'.repeat(10_000) }),
      ...many,
    ]);
    expect(told[0]?.split(' ')).toHaveLength(10_000);
    expect(health.of('a', 'p', 'd').message).toBe(`${'m'.repeat(1021)}...`);
    expect(health.of('a', 'p', 'd19999').health).toBe('Unknown');
  });

  it('keeps the beginning of a long message, and not the message', () => {
    const { health } = setUp();
    let devices = 0;
    const held = heldBytes(() => {
      for (let n = 0; n < 20; n += 1) {
        devices += 1;
        const message = Buffer.alloc(1024 * 1024, 'm').toString('latin1');
        health.report('a', {}, [deviceWith({ deviceName: `d${devices}`, message })]);
      }
    });
    expect(held).toBeLessThan(4 * 1024 * 1024);
    expect(health.of('a', 'p', 'd1').health).toBe('Healthy');
  });
});

describe('the status of a container', () => {
  const device = (deviceName: string, requestNames: readonly string[], cdiDeviceIDs: readonly string[]) => ({
    ...{ poolName: 'p', deviceName, requestNames, cdiDeviceIDs },
  });
  const devices = [device('d', ['big'], ['a/b=d']), device('e', ['small'], []), device('again', ['big'], ['a/b=d'])];
  const claim = { namespace: 'default', name: 'made', uid: 'u', podUIDs: new Set<string>(), drivers: new Map([['a', devices]]) };
  const statusOf = (claims: object[]) => {
    const { health } = setUp();
    health.report('a', {}, [deviceWith(), deviceWith({ deviceName: 'e', health: 'Unhealthy', message: 'hot' })]);
    const pod = {
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        containers: [{ name: 'app', resources: { claims } }, { name: 'plain' }],
        resourceClaims: [
          { name: 'gpu', resourceClaimTemplateName: 't' },
          { name: 'gone', resourceClaimName: 'gone' },
        ],
      },
      status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'made' }] },
    };
    const status = { containerStatuses: [{ name: 'app' }, { name: 'plain' }] };
    const claimOf = (_: string, name: string) => (name === 'made' ? claim : undefined);
    return withClaimHealth(pod as never, status as never, { claimOf, health }).containerStatuses;
  };

  it('has each device of its claims once', () => {
    const resources = [
      { resourceID: 'a/b=d', health: 'Healthy' },
      { resourceID: 'a/p/e', health: 'Unhealthy', message: 'hot' },
    ];
    const allocatedResourcesStatus = [{ name: 'claim:gpu', resources }];
    expect(statusOf([{ name: 'gpu' }, { name: 'gone' }])).toEqual([{ name: 'app', allocatedResourcesStatus }, { name: 'plain' }]);
  });

  it('has those of a request where it names one, also one of several alternatives', () => {
    const health = statusOf([{ name: 'gpu', request: 'small/first' }])?.[0]?.allocatedResourcesStatus;
    expect(health).toEqual([
      { name: 'claim:gpu/small/first', resources: [{ resourceID: 'a/p/e', health: 'Unhealthy', message: 'hot' }] },
    ]);
  });
});
