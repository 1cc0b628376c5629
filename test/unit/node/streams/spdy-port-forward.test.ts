import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createWebSocketStream, WebSocket } from 'ws';
import type { ForwardedConnection } from '../../../../src/node/streams/container-streams.ts';
import { until } from '../../../support/until.ts';
import { SpdyClient } from './spdy-client.ts';
import { type StreamsServer, serveStreams, textOf } from './streams-server.ts';

const protocol = 'portforward.k8s.io';

async function overSocket({ port }: StreamsServer): Promise<SpdyClient> {
  return await SpdyClient.connect(port, '/portForward', protocol);
}

/** As the apiserver of 1.36 passes it on: SPDY in the messages of a WebSocket. */
async function overTunnel({ port }: StreamsServer): Promise<SpdyClient> {
  const headers = { 'Sec-WebSocket-Protocol': `x, SPDY/3.1+${protocol}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/portForward`, [], { headers });
  const answered: unknown[] = [];
  socket.on('error', () => {});
  // the package knows no subprotocol with a slash
  socket.on('upgrade', ({ headers }) => {
    answered.push(headers['sec-websocket-protocol'], headers['sec-websocket-extensions']);
    delete headers['sec-websocket-protocol'];
  });
  await until(() => socket.readyState === WebSocket.OPEN);
  expect(answered).toEqual([`SPDY/3.1+${protocol}`, undefined]);
  return new SpdyClient(createWebSocketStream(socket) as Duplex);
}

/** The two streams of a connection, as kubectl opens them. */
async function openPair(client: SpdyClient, port: number, requestid = '0') {
  const error = await client.open({ streamtype: 'error', port: String(port), requestid });
  client.send(error, '', true);
  return { error, data: await client.open({ streamtype: 'data', port: String(port), requestid }) };
}

async function taken(server: StreamsServer, count: number): Promise<ForwardedConnection[]> {
  const connections: ForwardedConnection[] = [];
  const { connections: all } = await server.forward();
  for await (const connection of all) if (connections.push(connection) === count) break;
  return connections;
}

describe.each([
  { way: 'SPDY', connect: overSocket },
  { way: 'SPDY in a WebSocket', connect: overTunnel },
])('a port forward over $way', ({ connect }) => {
  it('carries connections both ways, each to its end', async () => {
    const server = await serveStreams();
    const client = await connect(server);
    const first = await openPair(client, 8080, '0');
    const second = await openPair(client, 9090, '1');
    const [one, other] = await taken(server, 2);
    expect([one?.port, other?.port]).toEqual([8080, 9090]);
    client.send(second.data, 'to 9090', true);
    client.send(first.data, 'to 8080', true);
    expect(await textOf(one?.stream)).toBe('to 8080');
    expect(await textOf(other?.stream)).toBe('to 9090');
  });

  it('lets one side end before the other', async () => {
    const server = await serveStreams();
    const client = await connect(server);
    const { data, error } = await openPair(client, 80);
    const [connection] = await taken(server, 1);
    client.send(data, 'question', true);
    const chunks: Buffer[] = [];
    connection?.stream.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => connection.stream.end('answer'));
    expect([await client.ended(data), await client.ended(error)]).toEqual(['answer', '']);
    expect(Buffer.concat(chunks).toString()).toBe('question');
  });

  it('tells why there is no connection', async () => {
    const server = await serveStreams();
    const client = await connect(server);
    const { data, error } = await openPair(client, 80);
    const [connection] = await taken(server, 1);
    connection?.fail('nothing listens on 80');
    connection?.fail('again');
    expect(await client.ended(error)).toBe('nothing listens on 80');
    await until(() => client.stream(data).resetStatus === 5);
  });

  it('ends all connections with the session', async () => {
    const server = await serveStreams();
    const client = await connect(server);
    await openPair(client, 80);
    const session = await server.forward();
    const connections: ForwardedConnection[] = [];
    const all = (async () => {
      for await (const connection of session.connections) connections.push(connection);
    })();
    await until(() => connections.length === 1);
    await session.end();
    await all;
    expect(connections[0]?.stream.destroyed).toBe(true);
    await until(() => client.isClosed);
    expect([session.signal.aborted, client.goAways]).toEqual([true, [0]]);
  });

  it('destroys a connection that the client resets, and no other one', async () => {
    const server = await serveStreams();
    const client = await connect(server);
    const first = await openPair(client, 80, '0');
    await openPair(client, 80, '1');
    const [one, other] = await taken(server, 2);
    client.reset(first.data);
    await until(() => one?.stream.destroyed === true);
    expect(other?.stream.destroyed).toBe(false);
    client.socket.destroy();
    await until(() => other?.stream.destroyed === true);
  });

  it('refuses streams without a port or a type, and half a pair after the time for it', async () => {
    const server = await serveStreams();
    const client = await connect(server);
    const refused = [
      await client.open({ streamtype: 'data' }),
      await client.open({ streamtype: 'data', port: '0' }),
      await client.open({ streamtype: 'data', port: '65536' }),
      await client.open({ streamtype: 'both', port: '80' }),
    ];
    await until(() => refused.every((id) => client.stream(id).resetStatus === 3));
    const [data, error] = [
      await client.open({ streamtype: 'data', port: '80', requestid: 'a' }),
      await client.open({ streamtype: 'error', port: '81', requestid: 'a' }),
    ];
    await until(() => client.stream(data).isReplied && client.stream(error).resetStatus === 3);
    await server.clock.advance(30_000);
    await until(() => client.stream(data).resetStatus === 5);
  });

  it('pairs the streams of a client that gives no request id', async () => {
    const server = await serveStreams();
    const client = await connect(server);
    await client.open({ streamtype: 'error', port: '80' });
    const data = await client.open({ streamtype: 'data', port: '80' });
    const [connection] = await taken(server, 1);
    connection?.stream.end('hello');
    expect(await client.ended(data)).toBe('hello');
  });
});
