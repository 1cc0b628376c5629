import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { networkCause } from '../../../../src/client/transport/api-error.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { failureOf, kubeConfigFor } from './scripted-server.ts';

const value = Buffer.from('hunter2-hunter2').toString('base64');
const secret = JSON.stringify({ kind: 'Secret', metadata: { resourceVersion: '5' }, data: { password: value } });
const status = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const chunked = `${status}transfer-encoding: chunked\r\n\r\n`;
const wholeChunk = `${secret.length.toString(16)}\r\n${secret}\r\n`;

/** All that a log could show of an error. */
const all = (error: unknown): string =>
  inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null, maxArrayLength: null });

describe('the error of a broken answer', () => {
  let answer = '';
  const server = createServer();
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.once('data', () => socket.end(answer));
  });

  beforeEach(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  const broken: [string, string][] = [
    ['a chunk size that is broken before the secret', `${chunked}1\r\n{\r\nzz\r\n${secret}`],
    ['a chunk size that is broken after the secret', `${chunked}${wholeChunk}zz\r\n`],
    ['a chunk that is longer than its size', `${chunked}4\r\n${secret}`],
    ['a body that breaks off', `${status}content-length: 9999\r\n\r\n${secret}`],
    ['a header that is the secret', `${status}${secret}\u0000\r\n\r\n`],
    ['an answer that is no HTTP', secret],
  ];
  it.each(broken)('has no byte of a secret: %s', async (_, bytes) => {
    answer = bytes;
    const { port } = server.address() as AddressInfo;
    await using transport = new KubeTransport(kubeConfigFor(`http://127.0.0.1:${port}`));
    const get = { method: 'GET', path: '/p' } as const;
    const ofRequest = await failureOf(transport.request(get));
    const ofStream = await failureOf(transport.stream({ ...get, idleTimeoutMs: 60_000, onChunk: () => {} }));
    for (const error of [ofRequest, ofStream]) {
      expect(error).toMatchObject({ code: 'ERR_API', cause: { message: expect.any(String) } });
      expect(all(error)).not.toContain(value);
    }
  });
});

describe('networkCause', () => {
  it('keeps the name, the message and the code, and nothing else', () => {
    const error = Object.assign(new TypeError('bad', { cause: new Error(value) }), { code: 'HPE_X', data: value });
    const kept = networkCause(error);
    expect(kept).toMatchObject({ name: 'TypeError', message: 'bad', code: 'HPE_X' });
    expect(all(kept)).not.toContain(value);
  });

  it('keeps a bounded message, and no code that is no text', () => {
    const kept = networkCause(Object.assign(new Error('x'.repeat(1000)), { code: 7 }));
    expect([kept.message.length, 'code' in kept]).toEqual([500, false]);
  });

  it('says what each address of a server said', () => {
    const refused = ['connect ECONNREFUSED ::1:1', 'connect ECONNREFUSED 127.0.0.1:1'];
    const error = new AggregateError(refused.map((message) => new Error(message)));
    expect(networkCause(error)).toMatchObject({ name: 'AggregateError', message: refused.join(', ') });
  });

  it('shows nothing of what is no error', () => {
    expect(all(networkCause(value))).not.toContain(value);
  });
});
