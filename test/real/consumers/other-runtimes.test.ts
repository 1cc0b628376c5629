import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { consumerAt } from '../../package/consumer.ts';
import { root } from '../../structure/source-tree.ts';
import { createCertificateAuthority } from '../../support/certificate-authority.ts';
import { entryPointNames, toolPath } from './tools.ts';

const consumer = consumerAt(inject('consumerFolder'));
const copies = {
  'import-all-entry-points.js': 'test/package/fixture/import-all-entry-points.js',
  'minimal.ts': 'examples/minimal.ts',
  'first-run.cjs': 'test/real/consumers/fixture/first-run.cjs',
  'over-tls.js': 'test/real/consumers/fixture/over-tls.js',
};

const authority = createCertificateAuthority('ca');
/** Offers HTTP/2 and HTTP/1.1. What it answers says which one it was asked over, and as whom. */
const server = createSecureServer({ ...authority.issue(), allowHTTP1: true }, (request, response) => {
  const resourceVersion = `${request.httpVersion} ${request.headers.authorization}`;
  response.writeHead(200, { 'content-type': 'application/json' });
  if (!request.url.includes('watch=')) {
    response.end(JSON.stringify({ kind: 'PodList', metadata: { resourceVersion }, items: [] }));
    return;
  }
  const event = { type: 'ADDED', object: { metadata: { name: resourceVersion, namespace: 'default', resourceVersion: '1' } } };
  for (let sent = 0; sent < 3; sent += 1) response.write(`${JSON.stringify(event)}\n`);
});

beforeAll(async () => {
  for (const [name, source] of Object.entries(copies)) await consumer.write(name, readFileSync(join(root, source), 'utf8'));
  server.on('tlsClientError', () => {}).on('sessionError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => void server.close());

describe.each([
  { name: 'Bun', program: toolPath('.bin', 'bun'), args: ['run'] },
  { name: 'Deno', program: toolPath('.bin', 'deno'), args: ['run', '--allow-all', '--node-modules-dir=manual'] },
])('$name', ({ program, args }) => {
  const run = async (...more: readonly string[]) => {
    const { code, stdout, stderr } = await consumer.run(program, [...args, ...more]);
    // a runtime may warn of what it has not built in yet
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  };

  it('imports every entry point', async () => {
    const { names } = JSON.parse(await run('import-all-entry-points.js'));
    expect(Object.keys(names)).toHaveLength(entryPointNames.length);
  });

  it('runs an example, and gives CommonJS every entry point by require', async () => {
    expect(await run('minimal.ts')).toContain('Running');
    expect(await run('first-run.cjs', ...entryPointNames)).toBe('Running\n');
  });

  it('asks over TLS, watches over HTTP/2, and refuses a server of another authority', async () => {
    const { port } = server.address() as AddressInfo;
    const other = createCertificateAuthority('other');
    const task = JSON.stringify({ server: `https://127.0.0.1:${port}`, ca: authority.cert, otherCa: other.cert });
    const answer = JSON.parse(await run('over-tls.js', task));
    expect(answer).toEqual({
      listedOver: '1.1 Bearer a-token',
      events: Array.from({ length: 3 }, () => '2.0 Bearer a-token'),
      ended: 'Aborted',
      refused: expect.stringMatching(/CERT|SIGNED|ISSUER|VERIF/),
    });
  });
});
