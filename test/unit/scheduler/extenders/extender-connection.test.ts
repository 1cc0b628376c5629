import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ExtenderConnection } from '../../../../src/scheduler/extenders/extender-connection.ts';
import { type ExtenderTlsConfig, extendersOption } from '../../../../src/scheduler/extenders/extender-options.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { serveLocally } from '../../../support/serve-locally.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;

function connectionTo(urlPrefix: string, more: object = {}) {
  const clock = new FakeClock();
  const [options] = extendersOption('extenders', [{ urlPrefix, ...more }]);
  if (options === undefined) throw new Error('no extender');
  const connection = new ExtenderConnection(options, clock);
  const post = (signal = never, body = '{}'): Promise<string> => connection.post({ verb: 'filter', body, signal });
  return { clock, connection, post, [Symbol.asyncDispose]: () => connection.close() };
}

describe('the wire to an extender', () => {
  it('gives up after the time that an answer may take', async () => {
    let asked = 0;
    await using server = await serveLocally(() => {
      asked += 1;
    });
    await using wire = connectionTo(server.url, { httpTimeout: '2s' });
    const answer = wire.post();
    await until(() => asked === 1);
    await wire.clock.advance(1999);
    const late = expect(answer).rejects.toThrow(`POST ${server.url.slice(0, -1)}/filter: no answer within 2000 ms`);
    await wire.clock.advance(1);
    await late;
  });

  it('ends a request with the signal, and sends none after it', async () => {
    let asked = 0;
    await using server = await serveLocally(() => {
      asked += 1;
    });
    await using wire = connectionTo(server.url);
    const controller = new AbortController();
    const answer = expect(wire.post(controller.signal)).rejects.toThrow('aborted');
    await until(() => asked === 1);
    controller.abort();
    await answer;
    await expect(wire.post(controller.signal)).rejects.toThrow('aborted');
    expect(asked).toBe(1);
  });

  it('asks the guard right before the request, and sends nothing where it refuses', async () => {
    let asked = 0;
    await using server = await serveLocally((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    await using wire = connectionTo(server.url);
    const guard = (): never => {
      throw new Error('not the leader');
    };
    await expect(wire.connection.post({ verb: 'bind', body: '{}', signal: never, guard })).rejects.toThrow('not the leader');
    expect(asked).toBe(0);
    expect(await wire.post()).toBe('{}');
  });

  it.each([
    ['too long an answer', 'x'.repeat(4 * 2 ** 20 + 9), 200, 'the answer is longer than 4194312 bytes'],
    ['another status than 200', '{}', 201, 'answered with 201'],
    ['a redirect', '', 302, 'answered with 302'],
  ])('refuses %s', async (_what, body, status, message) => {
    await using server = await serveLocally((_request, response) => response.writeHead(status, { location: '/other' }).end(body));
    await using wire = connectionTo(server.url);
    await expect(wire.post()).rejects.toThrow(message);
  });

  it('takes an answer as long as four times the question and four mebibytes', async () => {
    const body = 'x'.repeat(4 * 2 ** 20 + 8);
    await using server = await serveLocally((_request, response) => response.end(body));
    await using wire = connectionTo(server.url);
    expect((await wire.post()).length).toBe(body.length);
  });

  it('says that nobody listens, and keeps a user and a password to itself', async () => {
    const server = await serveLocally(() => {});
    await server[Symbol.asyncDispose]();
    await using wire = connectionTo(server.url.replace('//', '//me:secret@'));
    expect(wire.connection.shownAddress).toBe(server.url.slice(0, -1));
    await expect(wire.post()).rejects.toThrow(/^POST (?!.*secret).*ECONNREFUSED/);
  });

  it('names itself by the user of the URL, and keeps the query of a verb', async () => {
    const seen: unknown[] = [];
    await using server = await serveLocally(({ url, headers, method }, response) => {
      seen.push([method, url, headers.authorization, headers['content-type']]);
      response.end('{}');
    });
    await using wire = connectionTo(`${server.url.replace('//', '//me:pass%3Aword@')}a//`);
    await wire.connection.post({ verb: 'filter?x=1', body: '{}', signal: never });
    const authorization = `Basic ${Buffer.from('me:pass:word').toString('base64')}`;
    expect(seen).toEqual([['POST', '/a/filter?x=1', authorization, 'application/json']]);
  });
});

describe('an extender behind TLS', () => {
  const ca = createCertificateAuthority('extenders');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  async function tlsServer(serving = ca.issue()) {
    const server = createServer(
      { ...serving, ca: ca.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate();
        response.end(String(subject?.CN));
      },
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const close = async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
    };
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close };
  }

  it.each<
    [what: string, more: { readonly enableHTTPS?: boolean; readonly tlsConfig?: ExtenderTlsConfig }, outcome: RegExp | undefined]
  >([
    ['is not trusted without its CA', {}, /unable to verify|self-signed/i],
    ['is trusted with its CA', { tlsConfig: { caData: base64(ca.cert) } }, undefined],
    ['is trusted without any with insecure', { tlsConfig: { insecure: true } }, undefined],
    ['is trusted without any with enableHTTPS alone', { enableHTTPS: true }, undefined],
    [
      'is not trusted with enableHTTPS and another CA',
      { enableHTTPS: true, tlsConfig: { caData: base64(createCertificateAuthority('x').cert) } },
      /verify|signature|self-signed/i,
    ],
    [
      'is not trusted under another name',
      { tlsConfig: { caData: base64(ca.cert), serverName: 'gpu.example.com' } },
      /gpu\.example\.com/,
    ],
  ])('%s', async (_what, more, outcome) => {
    await using server = await tlsServer();
    await using wire = connectionTo(server.url, more);
    if (outcome === undefined) expect(await wire.post()).toBe('undefined');
    else await expect(wire.post()).rejects.toThrow(outcome);
  });

  it('is known by serverName', async () => {
    await using server = await tlsServer(ca.issue({ dnsName: 'gpu.example.com' }));
    await using wire = connectionTo(server.url, { tlsConfig: { caData: base64(ca.cert), serverName: 'gpu.example.com' } });
    expect(await wire.post()).toBe('undefined');
  });

  it('is shown a certificate from files, and the new one once they have changed; data counts before a file', async () => {
    await using server = await tlsServer();
    const folder = await tempDir();
    const [certFile, keyFile, caFile] = ['cert', 'key', 'ca'].map((name) => join(folder, name)) as [string, string, string];
    const write = (commonName: string): void => {
      const { cert, key } = ca.issueClient({ commonName });
      writeFileSync(certFile, cert);
      writeFileSync(keyFile, key);
    };
    writeFileSync(caFile, ca.cert);
    write('first');
    await using wire = connectionTo(server.url, { tlsConfig: { certFile, keyFile, caFile } });
    expect(await wire.post()).toBe('first');
    write('second');
    expect(await wire.post()).toBe('second');
    const data = ca.issueClient({ commonName: 'data' });
    const own = { certData: base64(data.cert), keyData: base64(data.key), certFile: '/no/such', keyFile: '/no/such', caFile };
    await using other = connectionTo(server.url, { tlsConfig: own });
    expect(await other.post()).toBe('data');
  });

  it('is not asked while a file of the certificate cannot be read', async () => {
    await using server = await tlsServer();
    const caFile = join(await tempDir(), 'ca');
    writeFileSync(caFile, ca.cert);
    await using wire = connectionTo(server.url, { tlsConfig: { caFile } });
    writeFileSync(caFile, 'x'.repeat(2 ** 20 + 1));
    await expect(wire.post()).rejects.toThrow('The file has more than 1048576 bytes');
  });
});
