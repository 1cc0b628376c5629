import { onAbort } from '../../base/concurrency/aborts.ts';
import { type ByteLink, socketLink, webSocketLink } from './byte-links.ts';
import { ConnectionLife } from './connection-life.ts';
import type { PortForwardSession } from './container-streams.ts';
import { ForwardedConnections } from './forwarded-connections.ts';
import { SpdyConnection } from './spdy-connection.ts';
import { switchToSpdy } from './spdy-upgrade.ts';
import { StreamPairs } from './stream-pairs.ts';
import {
  askedUpgrade,
  defaultStreamsTimeoutMs,
  listedValues,
  StreamRefusal,
  type UpgradeLimits,
  type UpgradeRequest,
} from './upgrade-request.ts';
import { WebSocketChannels } from './websocket-channels.ts';
import { upgradeToWebSocket } from './websocket-upgrade.ts';

const spdyProtocol = 'portforward.k8s.io';
/** SPDY, carried by the messages of a WebSocket. */
const tunnelProtocol = `SPDY/3.1+${spdyProtocol}`;
const webSocketProtocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', ''];
/** So many connections one client may have at once. Each is two streams. */
const mostConnections = 512;
/** So many ports a WebSocket of channels may name: the number of a channel is one character. */
const mostPorts = 100;

/**
 * Switches a request for port forwarding to WebSocket or SPDY/3.1, as it asks. `ports` are those that the request names; SPDY names them
 * later, with each connection. Rejects with a {@link StreamRefusal}: with a status where the request is to be answered, without one
 * where the client is gone.
 */
export async function acceptPortForward(
  asked: UpgradeRequest,
  ports: readonly number[] | undefined,
  limits: UpgradeLimits,
): Promise<PortForwardSession> {
  if (askedUpgrade(asked.request) === 'spdy') {
    switchToSpdy(asked, [spdyProtocol]);
    return overSpdy(asked, socketLink(asked.request.socket, asked.head), limits);
  }
  if (listedValues(asked.request.headers['sec-websocket-protocol']).includes(tunnelProtocol)) {
    return overSpdy(asked, webSocketLink(upgradeToWebSocket(asked, [tunnelProtocol]).socket), limits);
  }
  return overChannels(asked, ports ?? [], limits);
}

function newSession(connections: ForwardedConnections, life: ConnectionLife, finish: () => void): PortForwardSession {
  onAbort(life.signal, () => connections.close());
  const say = async (): Promise<void> => {
    connections.close();
    finish();
  };
  return { connections, signal: life.signal, end: () => life.end(say) };
}

function overSpdy(asked: UpgradeRequest, link: ByteLink, limits: UpgradeLimits): PortForwardSession {
  const life = new ConnectionLife(asked, limits);
  const connections = new ForwardedConnections();
  const pairs = new StreamPairs({
    clock: limits.clock,
    timeoutMs: limits.streamsTimeoutMs ?? defaultStreamsTimeoutMs,
    onPair: (pair) => connections.add(pair),
  });
  const connection = new SpdyConnection({
    link,
    mostStreams: 2 * mostConnections,
    offer: (stream) => pairs.offer(stream),
    onGone: (why) => life.leave(why),
  });
  onAbort(life.signal, () => {
    pairs.close();
    connection.leave('the session is over');
  });
  connection.start();
  return newSession(connections, life, () => connection.finish());
}

/** For each port two channels, one connection: its bytes, and its errors. */
function overChannels(asked: UpgradeRequest, ports: readonly number[], limits: UpgradeLimits): PortForwardSession {
  if (ports.length === 0) throw new StreamRefusal(400, 'query parameter "port" is required');
  if (ports.length > mostPorts) throw new StreamRefusal(400, `more than ${mostPorts} ports are named`);
  const { socket, protocol } = upgradeToWebSocket(asked, webSocketProtocols);
  const life = new ConnectionLife(asked, limits);
  const connections = new ForwardedConnections();
  const channels = new WebSocketChannels({
    socket,
    count: 2 * ports.length,
    isBase64: protocol.includes('base64'),
    hasClose: false,
    onGone: (why) => life.leave(why),
  });
  const session = newSession(connections, life, () => socket.close(1000));
  const left = new Set(ports.keys());
  for (const [at, port] of ports.entries()) {
    const [data, error] = [2 * at, 2 * at + 1];
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    const stream = channels.duplex(data, () => {
      // where nothing is forwarded any more, nobody has to wait for anything
      if (left.delete(at) && left.size === 0) void session.end();
    });
    // each channel begins with its port
    channels.send(data, number);
    channels.send(error, number);
    connections.add({ port, stream, sendError: (text, sent) => channels.send(error, text, sent) });
  }
  channels.start();
  return session;
}
