import { clientIsGone, listedValues, StreamRefusal, type UpgradeRequest } from './upgrade-request.ts';

/** Answers that SPDY/3.1 is spoken from now on, and in it the client's first protocol that is known. Throws a `StreamRefusal`. */
export function switchToSpdy({ request, response, signal }: UpgradeRequest, protocols: readonly string[]): string {
  const { headers, socket } = request;
  const protocol = chooseProtocol(listedValues(headers['x-stream-protocol-version']), protocols);
  if (!/upgrade/i.test(headers.connection ?? '')) {
    throw new StreamRefusal(400, 'unable to upgrade: the header Connection does not say Upgrade');
  }
  if (signal.aborted || !socket.readable || !socket.writable) throw clientIsGone();
  if (response?.socket === socket) response.detachSocket(socket);
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return protocol;
}

function chooseProtocol(asked: readonly string[], protocols: readonly string[]): string {
  if (asked.length === 0)
    throw new StreamRefusal(400, 'unable to upgrade: the header X-Stream-Protocol-Version names no protocol');
  const protocol = asked.find((one) => protocols.includes(one));
  if (protocol !== undefined) return protocol;
  const known = protocols.join(', ');
  const message = `unable to upgrade: none of the protocols asked for is known: this server knows ${known}`;
  throw new StreamRefusal(403, message, { 'x-accepted-stream-protocol-versions': known });
}
