import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { NetworkProber } from '../../../../src/node/probes/network-prober.ts';
import { scriptedServer } from '../../client/transport/scripted-server.ts';
import { selfSigned } from '../../client/transport/self-signed.ts';
import { closedPort, httpTarget, noSignal, rawServer, TimeLimit } from './targets.ts';

const prober = new NetworkProber();

describe('an http probe', () => {
  it.each([
    [200, 'success'],
    [204, 'success'],
    [299, 'success'],
    [399, 'warning'],
    [304, 'warning'],
    [400, 'failure'],
    [404, 'failure'],
    [500, 'failure'],
    [503, 'failure'],
  ])('judges the answer %i as a %s', async (code, result) => {
    await using server = await scriptedServer((_, response) => response.writeHead(code).end('body'));
    const outcome = await prober.http(httpTarget(server.url), noSignal);
    expect(outcome.result).toBe(result);
    if (result === 'failure') expect(outcome.output).toBe(`HTTP probe failed with statuscode: ${code}`);
    if (code === 399) expect(outcome.output).toBe('Probe terminated redirects, Response body: body');
  });

  it('says who it is, takes any answer and keeps no connection', async () => {
    await using server = await scriptedServer((_, response) => response.end('fine'));
    expect(await prober.http(httpTarget(server.url, { path: '/healthz?full=1#part' }), noSignal)).toEqual({
      result: 'success',
      output: 'fine',
    });
    expect(server.seen).toHaveLength(1);
    const { method, url, headers } = server.seen[0] ?? {};
    expect([method, url]).toEqual(['GET', '/healthz?full=1']);
    expect(headers).toEqual({
      host: server.url.replace('http://', ''),
      'user-agent': 'kube-probe/1.36',
      accept: '*/*',
      connection: 'close',
    });
  });

  it('sends the headers of the spec, and leaves out what the spec empties', async () => {
    await using server = await scriptedServer((_, response) => response.end());
    const headers = [
      { name: 'Host', value: 'shop.example' },
      { name: 'X-Part', value: 'one' },
      { name: 'x-part', value: 'two' },
      { name: 'Accept', value: '' },
      { name: 'User-Agent', value: 'mine' },
      { name: 'Transfer-Encoding', value: 'chunked' },
    ];
    expect((await prober.http(httpTarget(server.url, { headers }), noSignal)).result).toBe('success');
    expect(server.seen[0]?.headers).toEqual({
      host: 'shop.example',
      'x-part': 'one, two',
      'user-agent': 'mine',
      connection: 'close',
    });
  });

  it('fails where a header cannot be sent', async () => {
    const headers = [{ name: 'X-Part', value: 'one\r\nX-Other: two' }];
    const outcome = await prober.http(httpTarget('http://127.0.0.1:9/', { headers }), noSignal);
    expect(outcome.result).toBe('failure');
    expect(outcome.output).toContain('X-Part'.toLowerCase());
  });

  it('takes a certificate that nobody vouches for', async () => {
    const tls = selfSigned({ commonName: 'somebody' });
    await using server = await scriptedServer((_, response) => response.end('fine'), tls);
    expect(await prober.http(httpTarget(server.url), noSignal)).toEqual({ result: 'success', output: 'fine' });
  });

  it('reaches an IPv6 address', async () => {
    await using server = await scriptedServer((_, response) => response.end('fine'), undefined, '::1');
    expect(await prober.http(httpTarget(server.url), noSignal)).toEqual({ result: 'success', output: 'fine' });
    expect(server.seen[0]?.headers.host).toMatch(/^\[::1\]:\d+$/);
  });

  it('says why nobody answers', async () => {
    const port = await closedPort();
    expect(await prober.http(httpTarget(`http://127.0.0.1:${port}/healthz`), noSignal)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  it('refuses a scheme that is not for the web', async () => {
    const outcome = await prober.http(httpTarget('http://127.0.0.1:9/', { scheme: 'ftp' }), noSignal);
    expect(outcome).toEqual({ result: 'failure', output: 'Get "ftp://127.0.0.1:9/": unsupported protocol scheme "ftp"' });
  });
});

describe('an http probe that is redirected', () => {
  it.each([301, 302, 303, 307, 308])('follows %i within the host, with its headers', async (code) => {
    await using server = await scriptedServer(({ url }, response) => {
      if (url === '/new?x=1') response.end('here');
      else response.writeHead(code, { location: '/new?x=1' }).end();
    });
    const headers = [{ name: 'Host', value: 'shop.example' }];
    const outcome = await prober.http(httpTarget(server.url, { path: '/old', headers }), noSignal);
    expect(outcome).toEqual({ result: 'success', output: 'here' });
    expect(server.seen.map(({ url, headers: { host } }) => [url, host])).toEqual([
      ['/old', 'shop.example'],
      ['/new?x=1', 'shop.example'],
    ]);
  });

  it('warns of a redirect to another host, and does not go there', async () => {
    await using other = await scriptedServer((_, response) => response.end());
    await using server = await scriptedServer((_, response) => {
      response.writeHead(302, { location: other.url.replace('127.0.0.1', 'localhost') }).end('elsewhere');
    });
    expect(await prober.http(httpTarget(server.url), noSignal)).toEqual({
      result: 'warning',
      output: 'Probe terminated redirects, Response body: elsewhere',
    });
    expect(other.seen).toHaveLength(0);
  });

  it('follows one to another port of the host, which is then named', async () => {
    await using other = await scriptedServer((_, response) => response.end('there'));
    await using server = await scriptedServer((_, response) => response.writeHead(302, { location: other.url }).end());
    const headers = [{ name: 'Host', value: 'shop.example' }];
    expect((await prober.http(httpTarget(server.url, { headers }), noSignal)).output).toBe('there');
    expect(other.seen[0]?.headers.host).toBe(other.url.replace('http://', ''));
  });

  it('fails after ten requests', async () => {
    await using server = await scriptedServer((_, response) => response.writeHead(302, { location: '/again' }).end());
    expect(await prober.http(httpTarget(server.url), noSignal)).toEqual({
      result: 'failure',
      output: `Get "/again": stopped after 10 redirects`,
    });
    expect(server.seen).toHaveLength(10);
  });

  it('fails where it cannot go, and warns where nobody says whither', async () => {
    const locations = [undefined, 'http://[', 'ftp://127.0.0.1/'];
    await using server = await scriptedServer(({ url }, response) => {
      const location = locations[Number(url.slice(1))];
      response.writeHead(301, location === undefined ? {} : { location }).end();
    });
    const results = await Promise.all(
      locations.map(async (_, index) => prober.http(httpTarget(server.url, { path: `/${index}` }), noSignal)),
    );
    expect(results.map(({ result }) => result)).toEqual(['warning', 'failure', 'failure']);
    expect(results[1]?.output).toBe(`Get "${server.url}/1": failed to parse Location header "http://["`);
  });
});

describe('an http probe of a hostile server', () => {
  it('reads 10 KiB of a body without an end, and closes the connection', async () => {
    const piece = 'x'.repeat(1000);
    await using server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', more);
      more();
    });
    const outcome = await prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), noSignal);
    expect([outcome.result, outcome.output?.length]).toEqual(['success', 10 * 1024]);
    await server.closed();
  });

  it('closes the connection of a redirect whose body has no end', async () => {
    await using server = await rawServer((socket) => {
      socket.once('data', (request) => {
        if (`${request}`.startsWith('GET /new')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere');
        else socket.write('HTTP/1.1 302 Found\r\nLocation: /new\r\n\r\nbegin');
      });
    });
    const outcome = await prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), noSignal);
    expect(outcome).toEqual({ result: 'success', output: 'here' });
    await server.closed();
    expect(server.sockets).toHaveLength(2);
  });

  it('fails when the headers do not come in time', async () => {
    const limit = new TimeLimit();
    await using server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      socket.once('data', () => limit.end());
    });
    expect(await prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), limit.signal)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${server.port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
    await server.closed();
  });

  it('does not count when the body does not come in time', async () => {
    const limit = new TimeLimit();
    await using server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin');
    });
    const hasHeaders = (): void => void setImmediate(() => limit.end());
    subscribe('http.client.response.finish', hasHeaders);
    const outcome = prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), limit.signal);
    await once(limit.signal, 'abort');
    unsubscribe('http.client.response.finish', hasHeaders);
    const { result, error } = await outcome;
    expect([result, (error as Error)?.message]).toEqual([
      'failure',
      'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    ]);
    await server.closed();
  });

  it('does not count when the body ends too early', async () => {
    await using server = await rawServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin'));
    });
    const { result, error } = await prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), noSignal);
    expect([result, (error as Error)?.message]).toEqual(['failure', 'unexpected EOF']);
  });

  it.each<[string, (port: number) => string]>([
    ['reset', (port) => `read tcp 127.0.0.1:${port}: read: connection reset by peer`],
    ['close', () => 'EOF'],
  ])('fails when it answers with a %s', async (how, reason) => {
    await using server = await rawServer((socket) => {
      socket.once('data', () => (how === 'reset' ? socket.resetAndDestroy() : socket.end()));
    });
    const { port } = server;
    expect(await prober.http(httpTarget(`http://127.0.0.1:${port}/`), noSignal)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": ${reason(port)}`,
    });
  });

  it.each([
    ['headers that are too long', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(2_000_000)}\r\n\r\n`, /headers exceeded the limit/],
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', /HTTP\/1.x transport connection broken: malformed HTTP response "SSH-2.0-OpenSSH"$/],
  ])('fails when it answers with %s', async (_, bytes, reason) => {
    await using server = await rawServer((socket) => void socket.once('data', () => socket.end(bytes)));
    const outcome = await prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), noSignal);
    expect(outcome.result).toBe('failure');
    expect(outcome.output).toMatch(reason);
    await server.closed();
  });

  it('takes long headers that are bounded', async () => {
    const bytes = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(200_000)}\r\nContent-Length: 0\r\n\r\n`;
    await using server = await rawServer((socket) => void socket.once('data', () => socket.end(bytes)));
    expect((await prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), noSignal)).result).toBe('success');
  });

  it('fails when it switches to another protocol', async () => {
    const bytes = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n';
    await using server = await rawServer((socket) => void socket.once('data', () => socket.write(bytes)));
    const outcome = await prober.http(httpTarget(`http://127.0.0.1:${server.port}/`), noSignal);
    expect(outcome).toEqual({ result: 'failure', output: 'HTTP probe failed with statuscode: 101' });
    await server.closed();
  });
});
