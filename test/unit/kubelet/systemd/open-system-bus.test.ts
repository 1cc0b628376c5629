import { once } from 'node:events';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { createServer, type DBusConnection, type Message, messageType } from 'dbus-native';
import { afterEach, describe, expect, it } from 'vitest';
import { openSystemBus } from '../../../../src/kubelet/systemd/open-system-bus.ts';
import { type BusCall, type BusSignal, SystemBusError } from '../../../../src/kubelet/systemd/system-bus.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const systemd = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
};
const jobRemoved: BusSignal = { ...systemd, sender: systemd.destination, member: 'JobRemoved' };
const ping: BusCall = { ...systemd, member: 'Ping' };
const toClose: { close(): unknown }[] = [];

afterEach(() => {
  for (const one of toClose.splice(0)) one.close();
});

/** A peer on a real socket that answers as it is told; `hello` and `match` of the bus it answers itself. */
async function peer(answer: (message: Message) => Partial<Message> | undefined = () => ({})) {
  const path = join(await tempDir(), 'socket');
  const got: Message[] = [];
  const connections: DBusConnection[] = [];
  let serial = 1;
  let owner = ':1.2';
  const send = (connection: DBusConnection, message: Message) => connection.message({ serial: serial++, ...message });
  const server = createServer((connection) => {
    connections.push(connection);
    connection.on('error', () => {});
    connection.on('message', (message) => {
      got.push(message);
      const names: Readonly<Record<string, string>> = { Hello: ':1.7', GetNameOwner: owner };
      const name = names[message.member ?? ''];
      const own = name === undefined ? {} : { signature: 's', body: [name] };
      const given = message.interface === 'org.freedesktop.DBus' ? own : answer(message);
      if (given !== undefined) {
        send(connection, { type: messageType.methodReturn, replySerial: message.serial ?? 0, ...given } as Message);
      }
    });
  }) as ReturnType<typeof createServer> & { server: ReturnType<typeof createSocketServer> };
  server.listen(path);
  await once(server.server, 'listening');
  toClose.push(server.server, { close: () => connections.map((connection) => connection.stream.destroy()) });
  const signal = (member: string, body: unknown[], sender = owner) => {
    for (const connection of connections) {
      send(connection, {
        ...systemd,
        sender,
        destination: undefined,
        type: messageType.signal,
        member,
        signature: 's',
        body,
      } as never);
    }
  };
  const startAnew = (connection: string): void => {
    owner = connection;
  };
  return { path, got, connections, signal, startAnew };
}

async function opened(bus: string, direct = '/nonexistent/private') {
  const clock = new FakeClock();
  const connection = await openSystemBus({ clock, signal: never }, { bus, systemd: direct });
  toClose.push(connection);
  return { connection, clock };
}

describe('openSystemBus', () => {
  it('greets the bus, and calls with the values of D-Bus', async () => {
    const bus = await peer(() => ({ signature: 'a(sv)', body: [[['Memory', ['t', 2n ** 64n - 1n]]]] }));
    const { connection } = await opened(bus.path);
    const answer = await connection.call({ ...ping, signature: 'sba(sv)', body: ['a', true, [['X', ['t', 5n]]]] }, never);
    expect(answer).toEqual([['Memory', 2n ** 64n - 1n]]);
    expect(bus.got.map(({ member }) => member)).toEqual(['Hello', 'Ping']);
    expect(bus.got[1]).toMatchObject({ destination: systemd.destination, body: ['a', true, [['X', 5n]]] });
  });

  it('rejects with the name and the words of a refusal', async () => {
    const bus = await peer(() => ({
      type: messageType.error,
      errorName: 'org.freedesktop.systemd1.NoSuchUnit',
      signature: 's',
      body: ['no unit'],
    }));
    const { connection } = await opened(bus.path);
    const refused = await connection.call(ping, never).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SystemBusError);
    expect(refused).toMatchObject({ message: 'no unit', refusal: 'org.freedesktop.systemd1.NoSuchUnit', isLost: false });
  });

  it('hands over the signals that are asked for, and no others', async () => {
    const bus = await peer();
    const { connection } = await opened(bus.path);
    const bodies: unknown[] = [];
    await connection.listen(jobRemoved, (body) => bodies.push(body), never);
    const [path, of] = [`path='${systemd.path}'`, `interface='${systemd.interface}'`];
    expect(bus.got.at(-1)).toMatchObject({
      member: 'AddMatch',
      body: [`type='signal',sender='${systemd.destination}',${path},${of},member='JobRemoved'`],
    });
    bus.signal('JobNew', ['a']);
    bus.signal('JobRemoved', ['b']);
    await until(() => bodies.length > 0);
    expect(bodies).toEqual([['b']]);
  });

  it('hears no signal of another process, and systemd also after it was started anew', async () => {
    const bus = await peer();
    const { connection } = await opened(bus.path);
    const bodies: unknown[] = [];
    await connection.listen(jobRemoved, (body) => bodies.push(body), never);
    bus.signal('JobRemoved', ['forged'], ':1.66');
    bus.signal('JobRemoved', ['first']);
    await until(() => bodies.length > 0);
    bus.startAnew(':1.9');
    bus.signal('JobRemoved', ['forged'], ':1.2.3');
    bus.signal('JobRemoved', ['second']);
    await until(() => bodies.length > 1);
    expect(bodies).toEqual([['first'], ['second']]);
  });

  it('rejects what is under way when the connection goes, and what comes later', async () => {
    const bus = await peer(() => undefined);
    const { connection } = await opened(bus.path);
    const lost = connection.call(ping, never).catch((error: unknown) => error);
    await until(() => bus.got.some(({ member }) => member === 'Ping'));
    for (const { stream } of bus.connections) stream.destroy();
    expect(await lost).toMatchObject({ isLost: true, refusal: undefined });
    await until(() => connection.gone.aborted);
    await expect(connection.call(ping, never)).rejects.toMatchObject({ isLost: true });
  });

  it('ends a call whose signal aborts, with the reason', async () => {
    const bus = await peer(() => undefined);
    const { connection } = await opened(bus.path);
    const abort = new AbortController();
    const ended = connection.call(ping, abort.signal).catch((error: unknown) => error);
    abort.abort('enough');
    expect(await ended).toBe('enough');
  });

  it('speaks with systemd itself where there is no bus', async () => {
    const direct = await peer();
    const { connection } = await opened('/nonexistent/bus', direct.path);
    await connection.listen(jobRemoved, () => {}, never);
    await connection.call(ping, never);
    expect(direct.got.map(({ member }) => member)).toEqual(['Ping']);
    expect(direct.got[0]?.destination).toBeUndefined();
    await expect(connection.call({ ...ping, destination: 'org.freedesktop.login1' }, never)).rejects.toThrow(
      'org.freedesktop.login1 cannot be reached without the message bus',
    );
  });

  it('says what each socket has against it', async () => {
    const refused = opened('/nonexistent/bus', '/nonexistent/private');
    await expect(refused).rejects.toThrow(
      /no connection to systemd \(\/nonexistent\/bus: .*ENOENT.*; \/nonexistent\/private: .*ENOENT/,
    );
  });

  it('waits no longer than 5 s for a peer that says nothing, and leaves no connection behind', async () => {
    const path = join(await tempDir(), 'mute');
    const sockets: { destroyed: boolean; destroy(): unknown }[] = [];
    const mute = createSocketServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.resume();
    }).listen(path);
    toClose.push(mute, { close: () => sockets.map((socket) => socket.destroy()) });
    await once(mute, 'listening');
    const clock = new FakeClock();
    const tried = openSystemBus({ clock, signal: never }, { bus: path, systemd: '/nonexistent' }).catch(
      (error: unknown) => error,
    );
    await until(() => sockets.length === 1);
    await clock.advance(5000);
    expect(String(await tried)).toContain(`${path}: it took no connection in 5 s`);
    await until(() => sockets[0]?.destroyed === true);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['no D-Bus', Buffer.alloc(4096, 'x')],
    ['a message of a gigabyte', Buffer.from([0x6c, 2, 0, 1, 0, 0, 0, 0x40, 1, 0, 0, 0, 8, 0, 0, 0])],
  ])('lives with a peer that sends %s', async (_what, bytes) => {
    const path = join(await tempDir(), 'rude');
    const rude = createSocketServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => socket.write(data.includes('BEGIN') ? bytes : 'OK 0123456789abcdef0123456789abcdef\r\n'));
      toClose.push({ close: () => socket.destroy() });
    }).listen(path);
    toClose.push(rude);
    await once(rude, 'listening');
    const tried = openSystemBus({ clock: new FakeClock(), signal: never }, { bus: path, systemd: '/nonexistent' });
    await expect(tried).rejects.toThrow(/rude: (?:Invalid byte order|Message exceeds the maximum size)/);
  });

  it('ends what is opened when its signal aborts', async () => {
    const abort = new AbortController();
    abort.abort('stopped');
    const tried = openSystemBus(
      { clock: new FakeClock(), signal: abort.signal },
      { bus: '/nonexistent', systemd: '/nonexistent' },
    );
    await expect(tried).rejects.toBe('stopped');
  });
});
