import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { selfSignedCertificate } from '../../../../src/node/certificates/self-signed.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { hourMs } from './signer-world.ts';

async function selfSigningNode() {
  const [clock, log, folder] = [new FakeClock(), recordedLines(), join(await tempDir(), 'pki')];
  const certificate = () => selfSignedCertificate({ nodeName: 'node-1', folder, clock, logger: log.logger })();
  return { clock, log, folder, certificate, cert: join(folder, 'kubelet.crt'), key: join(folder, 'kubelet.key') };
}

describe('a certificate that signs itself', () => {
  it('serves clients that know it, by the name of the node', async () => {
    const folder = await tempDir();
    const pair = await selfSignedCertificate({ nodeName: 'node-1', folder, logger: null })();
    const server = createServer(pair).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const met = await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, ca: [pair.cert], servername: 'node-1' };
      const socket = connect(options, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.on('error', reject);
    });
    expect(met).toBe(true);
  });

  it("is kept in the kubelet's files, and used again", async () => {
    const { certificate, cert, key, clock } = await selfSigningNode();
    const made = await certificate();
    expect([await readFile(cert, 'utf8'), await readFile(key, 'utf8')]).toEqual([made.cert, made.key]);
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    const { validFromDate, validToDate } = new X509Certificate(made.cert);
    expect([validFromDate.getTime(), validToDate.getTime()]).toEqual([
      clock.now() - hourMs,
      clock.now() - hourMs + 365 * 24 * hourMs,
    ]);
    await clock.advance(250 * 24 * hourMs);
    expect(await certificate()).toEqual(made);
  });

  it('is made anew when less than 30 % of its life is left', async () => {
    const { certificate, clock, cert } = await selfSigningNode();
    const made = await certificate();
    await clock.advance(256 * 24 * hourMs);
    const next = await certificate();
    expect(next.cert).not.toBe(made.cert);
    expect(await readFile(cert, 'utf8')).toBe(next.cert);
  });

  it.each([
    ['noise for a certificate', 'x', undefined],
    ['an empty certificate', '', undefined],
    ['a key of another', undefined, createCertificateAuthority('x').issue().key],
    ['a key alone', null, undefined],
    ['a certificate alone', undefined, null],
  ])('does not take the place of files with %s, and names them', async (_name, otherCert, otherKey) => {
    const { certificate, log, cert, key } = await selfSigningNode();
    const made = await certificate();
    const put = (path: string, text: string | null) => (text === null ? rm(path) : writeFile(path, text));
    await put(cert, otherCert === undefined ? made.cert : otherCert);
    await put(key, otherKey === undefined ? made.key : otherKey);
    const contents = () => Promise.all([cert, key].map((path) => readFile(path, 'utf8').catch(() => undefined)));
    const before = await contents();
    await expect(certificate()).rejects.toThrow(
      `${cert} and ${key} must be a certificate with its key, as PEM, or not be there: `,
    );
    const error: unknown = await certificate().catch((reason: unknown) => reason);
    expect(String(error)).not.toContain('PRIVATE');
    expect(await contents()).toEqual(before);
    expect(log.lines).toEqual([]);
  });

  it('that a crash has cut short is put there by the next start', async () => {
    const { certificate, cert } = await selfSigningNode();
    const made = await certificate();
    await rename(cert, `${cert}.new`);
    expect(await certificate()).toEqual(made);
    await rename(cert, `${cert}.new`);
    await writeFile(cert, createCertificateAuthority('x').issue().cert);
    expect(await certificate()).toEqual(made);
    expect(await readFile(cert, 'utf8')).toBe(made.cert);
  });

  it('leaves one that others made until that has ended', async () => {
    const { certificate, log, clock, folder, cert, key } = await selfSigningNode();
    await mkdir(folder);
    const given = createCertificateAuthority('ours').issue({ notAfter: '010102000000Z' });
    await writeFile(cert, given.cert);
    await writeFile(key, given.key);
    const endsAt = new X509Certificate(given.cert).validToDate.getTime();
    await clock.advance(endsAt - 1000 - clock.now());
    expect(await certificate()).toEqual(given);
    await clock.advance(2000);
    const made = await certificate();
    expect([made.key === given.key, await readFile(key, 'utf8')]).toEqual([false, made.key]);
    expect(log.of('warn')).toEqual(['the certificate that somebody gave has ended: a new one is made']);
  });

  it('is given also where it cannot be kept', async () => {
    const { certificate, log, folder } = await selfSigningNode();
    await mkdir(join(folder, '..'), { recursive: true });
    await writeFile(folder, '');
    expect((await certificate()).cert).toContain('CERTIFICATE');
    expect(log.of('warn')).toContain('the certificate of the node could not be kept');
  });

  it.each([
    [{ nodeName: 'a b', folder: '/x' }, 'nodeName'],
    [{ nodeName: 'a', folder: 'x' }, 'folder'],
    [{ nodeName: 'a', folder: '/x', name: 1 } as never, 'options.name'],
  ])('refuses %j', (given, name) => {
    expect(() => selfSignedCertificate(given)).toThrow(`\`${name}\``);
  });
});
