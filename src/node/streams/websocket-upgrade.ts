import type { IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { clientIsGone, listedValues, StreamRefusal, type UpgradeRequest } from './upgrade-request.ts';

/** So long a message may be. Clients of Kubernetes send at most 64 KiB, one of @kubernetes/client-node what its user writes at once. */
const longestMessage = 4 * 1024 * 1024;
const mostFragments = 1024;
/** As RFC 6455 has it: 16 bytes in base64. */
const webSocketKey = /^[+/0-9A-Za-z]{22}==$/;

/** A WebSocket, and the subprotocol that was chosen: the client's first one that is known, '' where it named none. */
export interface UpgradedSocket {
  readonly socket: WebSocket;
  readonly protocol: string;
}

/** Switches to WebSocket. Throws a `StreamRefusal` where the request does not allow it. */
export function upgradeToWebSocket(asked: UpgradeRequest, protocols: readonly string[]): UpgradedSocket {
  const { request, response, head } = asked;
  const protocol = chooseProtocol(asked, protocols);
  checkRequest(asked);
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: longestMessage,
    maxFragments: mostFragments,
  });
  // The package refuses a name with a slash, as RFC 6455 has it, but Kubernetes has one. So it does not see what was asked for.
  const { 'sec-websocket-protocol': _, ...headers } = request.headers;
  const seen: IncomingMessage = Object.create(request, { headers: { value: headers } });
  server.on('headers', (lines) => {
    if (protocol !== '') lines.push(`Sec-WebSocket-Protocol: ${protocol}`);
  });
  if (response?.socket === request.socket) response.detachSocket(request.socket);
  let socket: WebSocket | undefined;
  server.handleUpgrade(seen, request.socket, head, (upgraded) => {
    socket = upgraded;
  });
  if (socket === undefined) {
    request.socket.destroy();
    throw clientIsGone();
  }
  // an error is followed by the close, which counts
  socket.on('error', () => {});
  return { socket, protocol };
}

/** What the package would answer itself. */
function checkRequest({ request, signal }: UpgradeRequest): void {
  const { method, headers, socket } = request;
  if (signal.aborted || !socket.readable || !socket.writable) throw clientIsGone();
  if (method !== 'GET') throw new StreamRefusal(405, 'unable to upgrade: a WebSocket is opened with GET');
  if (!webSocketKey.test(headers['sec-websocket-key'] ?? '')) {
    throw new StreamRefusal(400, 'unable to upgrade: the header Sec-WebSocket-Key is missing or wrong');
  }
  if (headers['sec-websocket-version'] !== '13') {
    const versions = { 'sec-websocket-version': '13' };
    throw new StreamRefusal(400, 'unable to upgrade: only version 13 of WebSocket is known', versions);
  }
}

function chooseProtocol({ request }: UpgradeRequest, protocols: readonly string[]): string {
  const named = listedValues(request.headers['sec-websocket-protocol']);
  const asked = named.length === 0 ? [''] : named;
  const protocol = asked.find((one) => protocols.includes(one));
  if (protocol !== undefined) return protocol;
  const known = protocols.filter((one) => one !== '').join(', ');
  throw new StreamRefusal(403, `unable to upgrade: none of the subprotocols asked for is known: this server knows ${known}`);
}
