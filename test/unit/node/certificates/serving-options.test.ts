import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { makeCertificateRequest } from '../../../../src/node/certificates/certificate-request.ts';
import { certificateSourceOf, type ServingCertificateOptions } from '../../../../src/node/certificates/serving-options.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const files = { tlsCertFile: '/cert', tlsPrivateKeyFile: '/key' };
const asked = { serverTLSBootstrap: true, makeCertificateRequest };
const given = { certificate: () => createCertificateAuthority('x').issue() };

function sourceOf(options: unknown) {
  const source = certificateSourceOf(options as ServingCertificateOptions, {
    nodeName: 'node-1',
    addresses: () => [],
    transport: { request: () => Promise.reject(new Error('no server')), stream: () => Promise.reject(new Error('no server')) },
    clock: new FakeClock(),
    random: () => 0.5,
    logger: silentLogger,
  });
  onTestFinished(() => source.stop?.());
  return source;
}

describe('the options of a serving certificate', () => {
  it.each([
    [{}, '`server.tlsCertFile` to be a file, or else `certificate` or `serverTLSBootstrap` given'],
    [{ tlsCertFile: '/cert' }, '`server.tlsPrivateKeyFile` to be a file'],
    [{ ...files, tlsCertFile: '' }, '`server.tlsCertFile` to be a file'],
    [{ ...files, ...given }, '`server.tlsCertFile` to be absent beside `server.certificate`'],
    [{ tlsPrivateKeyFile: '/key', ...given }, '`server.tlsPrivateKeyFile` to be absent beside `server.certificate`'],
    [{ ...files, ...asked }, '`server.tlsCertFile` to be absent beside `server.serverTLSBootstrap`'],
    [{ ...given, ...asked }, '`server.certificate` to be absent beside `server.serverTLSBootstrap`'],
    [{ certificate: 'PEM' }, '`server.certificate` to be a function, got "PEM" (string)'],
    [{ serverTLSBootstrap: 'yes' }, '`server.serverTLSBootstrap` to be a boolean, got "yes" (string)'],
    [
      { serverTLSBootstrap: true },
      '`server.makeCertificateRequest` to be the function of that name of pod-status-manager/certificates, got undefined',
    ],
    [{ ...files, makeCertificateRequest }, '`server.makeCertificateRequest` to be absent without `server.serverTLSBootstrap`'],
    [{ ...files, certificateFolder: '/x' }, '`server.certificateFolder` to be absent without `server.serverTLSBootstrap`'],
    [{ ...asked, certificateFolder: '' }, '`server.certificateFolder` to be a folder, got "" (string)'],
  ])('%o are refused', (options, words) => {
    expect(() => sourceOf(options)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => sourceOf(options)).toThrow(words);
  });

  it('give a source that comes late only where the certificate is asked for', () => {
    const late = [files, given, asked, { ...files, serverTLSBootstrap: false }].map((options) => sourceOf(options).comesLate);
    expect(late).toEqual([undefined, undefined, true, undefined]);
  });
});

describe('a certificate in files', () => {
  it('is read anew each time, and refused where it is missing, empty or of another key', async () => {
    const folder = await tempDir();
    const [tlsCertFile, tlsPrivateKeyFile] = [join(folder, 'cert'), join(folder, 'key')];
    const source = sourceOf({ tlsCertFile, tlsPrivateKeyFile });
    const [ofCert, ofKey] = [
      `${tlsCertFile} (option \`server.tlsCertFile\`)`,
      `${tlsPrivateKeyFile} (option \`server.tlsPrivateKeyFile\`)`,
    ];
    await expect(source.read()).rejects.toThrow('ENOENT');
    const authority = createCertificateAuthority('x');
    for (const pair of [authority.issue(), authority.issue()]) {
      await Promise.all([writeFile(tlsCertFile, pair.cert), writeFile(tlsPrivateKeyFile, pair.key)]);
      expect(await source.read()).toEqual(pair);
    }
    await writeFile(tlsPrivateKeyFile, '');
    await expect(source.read()).rejects.toThrow(`the file ${ofKey} is empty`);
    await writeFile(tlsPrivateKeyFile, 'nonsense');
    await expect(source.read()).rejects.toThrow(`the file ${ofKey} cannot be used: the key cannot be read`);
    await writeFile(tlsPrivateKeyFile, authority.issue().key);
    const words = `the files ${ofCert} and ${ofKey} do not fit together: the certificate is of another key`;
    await expect(source.read()).rejects.toThrow(words);
    await writeFile(tlsCertFile, 'nonsense');
    await expect(source.read()).rejects.toThrow(`the file ${ofCert} cannot be used: the certificate cannot be read`);
  });
});
