import { describe, expect, it } from 'vitest';
import { ipv4Routes, ipv6Routes, NodeAddresses, type NodeNetwork } from '../../../../src/kubelet/machine/node-addresses.ts';
import { FakeClock } from '../../../../src/testing.ts';
import type { LogLine } from '../pleg/lifecycle-setup.ts';

const machine: Readonly<Record<string, readonly string[]>> = {
  lo: ['127.0.0.1', '::1'],
  wlan0: ['169.254.1.1', '198.51.100.7', '2001:db8:7::7'],
  eth0: ['fe80::1', '192.0.2.1', '192.0.2.2', '2001:DB8:0:0::1'],
};
const addressesOf = (interfaces: typeof machine) =>
  Object.entries(interfaces).flatMap(([name, all]) => all.map((address) => ({ name, address, loopback: name === 'lo' })));
const notFound = (): Error => Object.assign(new Error('getaddrinfo ENOTFOUND node-1'), { code: 'ENOTFOUND' });
const unavailable = (): Error => Object.assign(new Error('getaddrinfo EAI_AGAIN node-1'), { code: 'EAI_AGAIN' });

/** The addresses of a node whose network changes as a test says. */
function setUp(given: readonly string[] = [], nodeName = 'node-1') {
  const lines: LogLine[] = [];
  const note = (fields: object, message: string) => void lines.push({ level: 'warn', message, fields });
  const world = {
    interfaces: machine,
    routes: [{ name: 'eth0', family: 4 }] as ReturnType<NodeNetwork['defaultRoutes']>,
    lookup: (_name: string): Promise<readonly string[]> => Promise.reject(notFound()),
    asked: [] as string[],
  };
  const network: NodeNetwork = {
    addresses: () => addressesOf(world.interfaces),
    defaultRoutes: () => world.routes,
    lookup: (name) => {
      world.asked.push(name);
      return world.lookup(name);
    },
  };
  const clock = new FakeClock();
  const logger = { debug: note, info: note, warn: note, error: note };
  const addresses = new NodeAddresses({ nodeName, given, network, clock, logger });
  const { signal } = new AbortController();
  const look = async () => {
    await addresses.look(signal);
    return addresses.found;
  };
  return { world, addresses, look, clock, lines, signal };
}

describe('addresses that are given', () => {
  it.each([
    [['192.0.2.1'], ['192.0.2.1']],
    [['2001:0db8::1'], ['2001:db8::1']],
    [
      ['2001:db8::1', '192.0.2.2'],
      ['2001:db8::1', '192.0.2.2'],
    ],
  ])('%j count, and nothing is looked up', async (given, found) => {
    const { look, world, lines } = setUp(given);
    expect([await look(), world.asked, lines]).toEqual([found, [], []]);
  });

  it.each([
    ['203.0.113.1', 'on no interface of the machine'],
    ['127.0.0.1', 'of the kind loopback'],
    ['::1', 'of the kind loopback'],
    ['224.0.0.1', 'of the kind multicast'],
    ['ff02::1', 'of the kind multicast'],
    ['169.254.1.1', 'of the kind link-local'],
    ['fe80::1', 'of the kind link-local'],
  ])('%s counts, and a warning says that it is %s', async (given, why) => {
    const { look, lines } = setUp([given]);
    expect(await look()).toEqual([given]);
    expect(lines.map(({ fields }) => String((fields as { err: Error }).err.message))).toEqual([
      `${given} cannot be the node's: it is ${why}`,
    ]);
  });

  it('count on while the machine does not have them, and are told of once', async () => {
    const { look, world, lines } = setUp(['192.0.2.1']);
    await look();
    world.interfaces = { lo: ['127.0.0.1'] };
    expect([await look(), await look()]).toEqual([['192.0.2.1'], ['192.0.2.1']]);
    expect(lines.map(({ message }) => message)).toEqual([
      'an address that the node was given cannot be reached; it is told all the same',
    ]);
    world.interfaces = machine;
    await look();
    world.interfaces = { lo: ['127.0.0.1'] };
    await look();
    expect(lines.map(({ message }) => message).slice(1)).toEqual([
      'the addresses of the node are in order again',
      'an address that the node was given cannot be reached; it is told all the same',
    ]);
    expect(lines[1]?.fields).toEqual({ node: expect.any(String), attempt: 2, failingForMs: 0 });
  });
});

describe('the name of a node', () => {
  it('that is an address is the address', async () => {
    const { look, world } = setUp([], '203.0.113.9');
    expect([await look(), world.asked]).toEqual([['203.0.113.9'], []]);
  });

  it.each([
    ['the first that the machine has', ['203.0.113.1', '127.0.1.1', '192.0.2.2', '192.0.2.1'], [], '192.0.2.2'],
    ['IPv4 first', ['2001:db8::1', '192.0.2.2'], [], '192.0.2.2'],
    ['IPv6 where there is no other', ['2001:db8::1', '203.0.113.1'], [], '2001:db8::1'],
    ['IPv6 first, if that family is chosen', ['192.0.2.2', '2001:db8::1'], ['::'], '2001:db8::1'],
    ['IPv4 first, if that family is chosen', ['2001:db8::1', '192.0.2.2'], ['0.0.0.0'], '192.0.2.2'],
    ['that of the default route, where the machine has none of them', ['127.0.1.1', '169.254.1.1'], [], '192.0.2.1'],
  ])('leads to %s', async (_, answer, given, found) => {
    const { look, world, lines } = setUp(given);
    world.lookup = async () => answer;
    expect([await look(), world.asked, lines]).toEqual([[found], ['node-1'], []]);
  });

  it('is looked up at each look', async () => {
    const { look, world } = setUp();
    world.lookup = async () => ['192.0.2.2'];
    await look();
    world.lookup = async () => ['198.51.100.7'];
    expect(await look()).toEqual(['198.51.100.7']);
  });

  it.each([
    ['fails', () => Promise.reject(unavailable())],
    [
      'throws',
      () => {
        throw unavailable();
      },
    ],
    ['gives what is no list', () => Promise.resolve('192.0.2.2' as unknown as readonly string[])],
  ])('that was known before leads where it did while its lookup %s', async (_, lookup) => {
    const { look, world, lines } = setUp();
    world.lookup = async () => ['192.0.2.2'];
    await look();
    world.lookup = lookup;
    expect(await look()).toEqual(['192.0.2.2']);
    expect(lines).toHaveLength(1);
  });

  it('that nobody knows any more leads to the default route', async () => {
    const { look, world } = setUp();
    world.lookup = async () => ['192.0.2.2'];
    await look();
    world.lookup = () => Promise.reject(notFound());
    expect(await look()).toEqual(['192.0.2.1']);
  });

  it('that could never be looked up leads to the default route', async () => {
    const { look, world, lines } = setUp();
    world.lookup = () => Promise.reject(unavailable());
    expect([await look(), lines]).toEqual([['192.0.2.1'], []]);
  });

  it('is waited for five seconds, and is never looked up twice at once', async () => {
    const { look, world, clock, lines } = setUp();
    world.lookup = async () => ['192.0.2.2'];
    await look();
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    world.lookup = () => promise;
    world.asked.length = 0;
    const first = look();
    await clock.advance(4999);
    expect(lines).toEqual([]);
    await clock.advance(1);
    expect([await first, lines.length]).toEqual([['192.0.2.2'], 1]);
    const second = look();
    resolve(['198.51.100.7']);
    expect([await second, world.asked]).toEqual([['198.51.100.7'], ['node-1']]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not waited for once the agent stops', async () => {
    const { addresses, world, lines } = setUp();
    world.lookup = () => new Promise(() => {});
    const stopping = new AbortController();
    const look = addresses.look(stopping.signal);
    stopping.abort();
    await look;
    expect([addresses.found, lines]).toEqual([undefined, []]);
  });
});

describe('a node without a name that leads to it', () => {
  it.each([
    ['that of the default route', [{ name: 'wlan0', family: 4 }], machine, [], '198.51.100.7'],
    [
      'IPv4 first',
      [
        { name: 'eth0', family: 6 },
        { name: 'wlan0', family: 4 },
      ],
      machine,
      [],
      '198.51.100.7',
    ],
    ['IPv6 where only that leads anywhere', [{ name: 'eth0', family: 6 }], machine, [], '2001:db8::1'],
    [
      'IPv6 first, if that is chosen',
      [
        { name: 'wlan0', family: 4 },
        { name: 'eth0', family: 6 },
      ],
      machine,
      ['::'],
      '2001:db8::1',
    ],
    [
      'that of the loopback interface',
      [{ name: 'eth0', family: 4 }],
      { lo: ['127.0.0.1', '192.0.2.5'], eth0: ['169.254.1.1'] },
      [],
      '192.0.2.5',
    ],
    ['any, without a default route', [], machine, [], '198.51.100.7'],
    ['any of IPv6, without a default route', [], machine, ['::'], '2001:db8:7::7'],
  ] as const)('has %s', async (_, routes, interfaces, given, found) => {
    const { look, world } = setUp(given);
    Object.assign(world, { routes, interfaces });
    expect(await look()).toEqual([found]);
  });

  it('and without an address has none, and says so', async () => {
    const { look, world, lines } = setUp();
    world.interfaces = { lo: ['127.0.0.1'], eth0: ['fe80::1', '255.255.255.255'] };
    expect([await look(), lines.length]).toEqual([undefined, 1]);
  });
});

describe('default routes', () => {
  it('are read from the table of IPv4', () => {
    const text = [
      'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
      'eth1\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0',
      'eth0\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0',
      '',
    ].join('\n');
    expect(ipv4Routes(text)).toEqual([{ name: 'eth1', family: 4 }]);
    expect(ipv4Routes('')).toEqual([]);
  });

  it('are read from the table of IPv6', () => {
    const zero = '0'.repeat(32);
    const text = [
      `${zero} 00 ${zero} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0`,
      `20010db8000000000000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001     eth0`,
      `${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo`,
      '',
    ].join('\n');
    expect(ipv6Routes(text)).toEqual([{ name: 'eth0', family: 6 }]);
    expect(ipv6Routes('')).toEqual([]);
  });
});
