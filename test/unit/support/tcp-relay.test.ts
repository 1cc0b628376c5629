import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TcpRelay } from '../../support/tcp-relay.ts';

let servers: Server[];
let relay: TcpRelay;
const clients: Socket[] = [];
beforeEach(async () => {
  servers = await Promise.all(['one', 'two'].map(greeter));
  relay = await TcpRelay.to(...servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`));
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await relay[Symbol.asyncDispose]();
  for (const server of servers) server.close();
});

/** A server that says its name to each client. */
async function greeter(name: string): Promise<Server> {
  const server = createServer((socket) => void socket.on('error', () => {}).write(name)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function nameFrom(client: Socket): Promise<string> {
  return new Promise((resolve) => client.once('data', (data) => resolve(data.toString())));
}

function closed(client: Socket): Promise<void> {
  return new Promise((resolve) => client.once('close', () => resolve()));
}

/** The name of the server that a new connection reached; undefined: it was reset. */
async function reached(): Promise<{ readonly client: Socket; readonly name: string | undefined }> {
  const client = connect(Number(new URL(relay.url).port), '127.0.0.1').on('error', () => {});
  clients.push(client);
  const name = await Promise.race([nameFrom(client), closed(client).then(() => undefined)]);
  return { client, name };
}

describe('a relay to two servers', () => {
  it('that is cut from one gives its connections to the other, and breaks those off that it has', async () => {
    const [first, second] = [await reached(), await reached()];
    expect([first.name, second.name]).toEqual(['one', 'two']);
    const isOver = closed(first.client);
    relay.cutFrom(0);
    await isOver;
    expect([(await reached()).name, (await reached()).name]).toEqual(['two', 'two']);
    expect(second.client.destroyed).toBe(false);
    relay.mend();
    expect([(await reached()).name, (await reached()).name].toSorted()).toEqual(['one', 'two']);
  });

  it('that is cut from the one and has no other resets its connections', async () => {
    await using only = await TcpRelay.to(`http://127.0.0.1:${(servers[0]?.address() as AddressInfo).port}`);
    only.cutFrom(0);
    const client = connect(Number(new URL(only.url).port), '127.0.0.1').on('error', () => {});
    clients.push(client);
    await closed(client);
    expect(client.bytesRead).toBe(0);
  });
});
