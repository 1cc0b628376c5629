import { generateKeyPairSync, sign } from 'node:crypto';
import { der, sequence } from '../../../support/certificate-authority.ts';

const ecdsaWithSha256 = sequence('06082a8648ce3d040302');

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence('0603550403', der(0x0c, Buffer.from(commonName)))));
}

/** A self-signed certificate for names, IPv4 addresses and `::1`, fresh for each run so that no key lies in the repository. */
export function selfSigned({
  commonName,
  dnsNames = [],
  ips = [],
}: {
  commonName: string;
  dnsNames?: string[];
  ips?: string[];
}): {
  cert: string;
  key: string;
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = distinguishedName(commonName);
  const names = sequence(
    ...dnsNames.map((dns) => der(0x82, Buffer.from(dns))),
    ...ips.map((ip) => der(0x87, ip === '::1' ? Buffer.alloc(16).fill(1, 15) : Buffer.from(ip.split('.').map(Number)))),
  );
  const constraints = sequence('0603551d13', der(0x04, sequence('0101ff')));
  const alternatives = dnsNames.length + ips.length === 0 ? [] : [sequence('0603551d11', der(0x04, names))];
  const extensions = der(0xa3, sequence(constraints, ...alternatives));
  const validity = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const toSign = sequence('a003020102', '020101', ecdsaWithSha256, name, validity, name, key, extensions);
  const signature = der(0x03, '00', sign('sha256', toSign, privateKey));
  const certificate = sequence(toSign, ecdsaWithSha256, signature).toString('base64');
  return {
    // no empty line at the end: OpenSSL does not always take one
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

export function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
