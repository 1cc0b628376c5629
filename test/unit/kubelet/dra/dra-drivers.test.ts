import { describe, expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { DraDrivers } from '../../../../src/kubelet/dra/dra-drivers.ts';
import { type DraDriver, PluginCallError } from '../../../../src/kubelet.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { until } from '../../../support/until.ts';

function setUp() {
  const clock = new FakeClock();
  const connections = new Map<string, (isConnected: boolean) => void>();
  const told: string[] = [];
  const closed: string[] = [];
  const health = {
    asked: 0,
    reports: 0,
    read: 0,
    error: new PluginCallError('Unimplemented', 'NodeWatchResources', 'unknown service') as Error,
  };
  const services: string[] = [];
  const paths = new Map<DraDriver, string>();
  const unexpected = (): never => {
    throw new Error('no claim is made ready here');
  };
  const logs: string[] = [];
  const read: string[] = [];
  const note = (_fields: object, message: string): void => void logs.push(message);
  const drivers = new DraDrivers({
    connect: (path, service) => {
      services.push(service);
      const driver: DraDriver = {
        prepare: unexpected,
        unprepare: unexpected,
        async *watchHealth() {
          health.asked += 1;
          for (; health.reports > 0; health.reports -= 1) yield [];
          throw health.error;
        },
        watchConnection: (onChange) => void connections.set(path, onChange),
        close: () => void closed.push(path),
      };
      paths.set(driver, path);
      return driver;
    },
    slices: { keep: (name) => void told.push(`keep ${name}`), deleteLater: (name) => void told.push(`delete ${name}`) },
    health: { report: () => read.push('a report'), clear: () => {} },
    clock: safeClock(clock),
    logger: { debug: () => {}, info: note, warn: note, error: note },
  });
  const pathOf = (name: string): string | undefined => {
    const driver = drivers.driver(name);
    return driver && paths.get(driver);
  };
  return { clock, connections, told, closed, health, services, drivers, logs, read, pathOf };
}

const infoOf = (
  endpoint: string,
  supportedVersions: readonly string[] = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'],
  name = 'a.example.com',
) => ({
  ...{ type: 'DRAPlugin', name, endpoint, supportedVersions },
});

describe('drivers of dynamic resource allocation', () => {
  it('are spoken with by the first service that both know', async () => {
    const { drivers, services } = setUp();
    await drivers.register(infoOf('/1'));
    await drivers.register(infoOf('/2', ['v9.DRAPlugin', 'v1beta1.DRAPlugin']));
    expect(services).toEqual(['v1.DRAPlugin', 'v1beta1.DRAPlugin']);
    await drivers.close();
  });

  it.each([
    [infoOf('/1', []), 'endpoint /1: empty list of supported gRPC services (aka supported versions)'],
    [
      infoOf('/1', ['v1alpha3.Node']),
      'none of services supported by the plugin (["v1alpha3.Node"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
    ],
    [infoOf('/1', ['v1.DRAPlugin'], 'No Name'), 'the name of a DRA driver is a DNS subdomain'],
  ])('are refused with the reason: %j', (info, words) => {
    expect(() => setUp().drivers.validate(info)).toThrow(words);
  });

  it('of one name may be several: the newest that answers is asked, and without one that answers the slices go', async () => {
    const { drivers, connections, told, closed, pathOf } = setUp();
    expect(() => drivers.driver('a.example.com')).toThrow('DRA driver a.example.com is not registered');
    await drivers.register(infoOf('/old'));
    expect(told.splice(0)).toEqual(['delete a.example.com']);
    connections.get('/old')?.(true);
    expect(told.splice(0)).toEqual(['keep a.example.com']);
    await drivers.register(infoOf('/new'));
    expect([pathOf('a.example.com'), told.splice(0)]).toEqual(['/old', ['keep a.example.com']]);
    connections.get('/new')?.(true);
    expect(pathOf('a.example.com')).toBe('/new');
    await drivers.deregister(infoOf('/old'));
    expect([closed, told.splice(0)]).toEqual([['/old'], ['keep a.example.com', 'keep a.example.com']]);
    connections.get('/old')?.(false);
    expect(told).toEqual([]);
    connections.get('/new')?.(false);
    expect([pathOf('a.example.com'), told.splice(0)]).toEqual(['/new', ['delete a.example.com']]);
    await drivers.deregister(infoOf('/new'));
    expect([closed, told]).toEqual([['/old', '/new'], ['delete a.example.com']]);
    await drivers.close();
  });

  it('of one name are 16 at most', async () => {
    const { drivers } = setUp();
    for (let n = 0; n < 16; n += 1) await drivers.register(infoOf(`/${n}`));
    await expect(drivers.register(infoOf('/16'))).rejects.toThrow('has 16 plugins already');
    await drivers.close();
  });

  it('are asked how their devices are, every 5 s after a failure, and more and more rarely where they have no such service', async () => {
    const { drivers, clock, health } = setUp();
    await drivers.register(infoOf('/1'));
    await until(() => clock.advance(1000).then(() => health.asked === 3));
    await clock.advance(600_000);
    expect(health.asked).toBeLessThan(12);
    health.error = new Error('gone');
    await clock.advance(300_000);
    const before = health.asked;
    await clock.advance(50_000);
    expect(health.asked - before).toBe(10);
    await drivers.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('that say again and again how their devices are, are read once a second', async () => {
    const { drivers, clock, health, read } = setUp();
    health.reports = 1000;
    await drivers.register(infoOf('/1'));
    await clock.advance(10_500);
    expect(read).toHaveLength(11);
    await drivers.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('that come and go again and again have a line in the log every ten seconds, and the last one is true', async () => {
    const { drivers, clock, connections, told, logs } = setUp();
    const words = 'a driver of dynamic resource allocation';
    await drivers.register(infoOf('/1'));
    const isNow = connections.get('/1');
    for (let n = 0; n < 500; n += 1) {
      isNow?.(true);
      isNow?.(false);
      await clock.advance(100);
    }
    expect(logs.length).toBeLessThanOrEqual(6);
    expect(logs.slice(0, 2)).toEqual([`${words} answers`, `${words} does not answer`]);
    expect(told).toHaveLength(1001);
    await clock.advance(20_000);
    expect(logs.at(-1)).toBe(`${words} does not answer`);
    logs.length = 0;
    isNow?.(true);
    expect(logs).toEqual([`${words} answers`]);
    isNow?.(false);
    await drivers.close();
    expect(clock.pendingTimers).toBe(0);
    expect(logs).toHaveLength(1);
  });
});
