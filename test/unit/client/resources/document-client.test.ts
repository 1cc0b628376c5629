import { describe, expect, it } from 'vitest';
import { DocumentClient } from '../../../../src/client/resources/document-client.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { failureOf, scriptedServer } from '../transport/scripted-server.ts';

const authority = createCertificateAuthority('test');

function get(client: DocumentClient, url: string, headers = {}) {
  return client.get({ url: new URL(url), headers, timeoutMs: 1000, maxBytes: 100, signal: new AbortController().signal });
}

describe('DocumentClient', () => {
  it('goes from https to https, and never to http', async () => {
    const clock = new FakeClock();
    const client = new DocumentClient(clock, { ca: authority.cert });
    await using plain = await scriptedServer((_request, response) => void response.end('plain'));
    await using safe = await scriptedServer(({ url }, response) => {
      const location = { '/down': plain.url, '/on': '/there' }[url];
      response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location }).end('safe');
    }, authority.issue());
    expect((await get(client, `${safe.url}/on`)).body.toString()).toBe('safe');
    expect(await failureOf(get(client, `${safe.url}/down`))).toMatchObject({ code: 'ERR_API', reason: 'Network' });
    expect([plain.seen.length, clock.pendingTimers]).toEqual([0, 0]);
    await client.close();
  });

  it('trusts no server that the platform does not know', async () => {
    const client = new DocumentClient(new FakeClock());
    await using safe = await scriptedServer((_request, response) => void response.end('safe'), authority.issue());
    expect(await failureOf(get(client, safe.url))).toMatchObject({ reason: 'Network' });
    expect(safe.seen).toEqual([]);
    await client.close();
  });

  it('has one limit for a document and its redirects, whatever happens to the time of day', async () => {
    const clock = new FakeClock();
    const client = new DocumentClient(clock);
    const asked = Promise.withResolvers<void>();
    await using plain = await scriptedServer(({ url }, response) => {
      if (url !== '/on') return asked.resolve();
      clock.jump(-3_600_000);
      response.writeHead(302, { location: '/there' }).end();
    });
    const failure = failureOf(get(client, `${plain.url}/on`));
    await asked.promise;
    await clock.advance(1000);
    expect(await failure).toMatchObject({ reason: 'Timeout' });
    await client.close();
  });

  it('rejects where no request can be made', async () => {
    const client = new DocumentClient(new FakeClock());
    expect(await failureOf(get(client, 'http://127.0.0.1:1/', { 'content-length': 'no' }))).toMatchObject({ code: 'ERR_API' });
    await client.close();
    expect(await failureOf(get(client, 'http://127.0.0.1:1/'))).toMatchObject({ code: 'ERR_API' });
  });
});
