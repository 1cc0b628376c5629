import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate with its private key, both PEM. */
export interface KeyedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority made at run time, so that the repository holds no key. */
export interface CertificateAuthority {
  readonly cert: string;
  /** A serving certificate for 127.0.0.1 and localhost, with a new key and a new serial number at every call. */
  issue(serving?: Serving): KeyedCertificate;
  /** A certificate of a client. */
  issueClient(client: ClientName): KeyedCertificate;
}

/** Whom a client's certificate names. */
export interface ClientName {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** The last moment, as ASN.1 writes UTC times. Default: in 2049. */
  readonly notAfter?: string;
}

/** What a serving certificate is to be otherwise. */
export interface Serving {
  /** The last moment, as ASN.1 writes UTC times. Default: in 2049. */
  readonly notAfter?: string;
  /** The one name that it is for. Default: 127.0.0.1 and localhost. */
  readonly dnsName?: string;
}

interface Certificate {
  readonly subject: string;
  readonly organizations?: readonly string[];
  readonly notAfter?: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}

export function createCertificateAuthority(commonName: string): CertificateAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isAuthority = extension('551d13', sequence('0101ff'));
  const ca = { subject: commonName, issuer: commonName, publicKey, signer: privateKey, extensions: [isAuthority] };
  const isLeaf = extension('551d13', sequence());
  return {
    cert: certificatePem(ca),
    issueClient: ({ commonName: subject, ...validity }) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const extensions = [isLeaf, extension('551d25', sequence('06082b06010505070302'))];
      const leaf = { subject, issuer: commonName, publicKey: own.publicKey, signer: privateKey, extensions, ...validity };
      return { cert: certificatePem(leaf), key: own.privateKey.export({ type: 'sec1', format: 'pem' }).toString() };
    },
    issue: ({ dnsName, ...validity } = {}) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const local = [der(0x87, '7f000001'), der(0x82, Buffer.from('localhost'))];
      const names = extension('551d11', sequence(...(dnsName === undefined ? local : [der(0x82, Buffer.from(dnsName))])));
      const forServers = extension('551d25', sequence('06082b06010505070301'));
      const extensions = [isLeaf, forServers, names];
      const signed = { issuer: commonName, publicKey: own.publicKey, signer: privateKey, extensions };
      const leaf = { subject: 'kube-apiserver', ...signed, ...validity };
      return { cert: certificatePem(leaf), key: own.privateKey.export({ type: 'sec1', format: 'pem' }).toString() };
    },
  };
}

function certificatePem(certificate: Certificate): string {
  const { subject, organizations, issuer, publicKey, signer, extensions, notAfter = '491231235959Z' } = certificate;
  const ecdsaWithSha256 = sequence('06082a8648ce3d040302');
  // DER needs a positive integer of full length: the first bits are 01
  const serial = der(0x02, '40', randomBytes(15));
  const validity = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from(notAfter)));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const names = [name(issuer), validity, name(subject, organizations)];
  const toSign = sequence('a003020102', serial, ecdsaWithSha256, ...names, key, der(0xa3, sequence(...extensions)));
  const base64 = sequence(toSign, ecdsaWithSha256, der(0x03, '00', sign('sha256', toSign, signer))).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
}

function name(commonName: string, organizations: readonly string[] = []): Buffer {
  const part = (oid: string, text: string): Buffer => der(0x31, sequence(oid, der(0x0c, Buffer.from(text))));
  return sequence(...organizations.map((text) => part('060355040a', text)), part('0603550403', commonName));
}

function extension(oid: string, value: Buffer): Buffer {
  return sequence(der(0x06, oid), der(0x04, value));
}

/** A sequence in DER. Texts are hexadecimal. */
export function sequence(...parts: readonly (Buffer | string)[]): Buffer {
  return der(0x30, ...parts);
}

/** A tag with its content in DER. Texts are hexadecimal. */
export function der(tag: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
  const { length } = body;
  const head = length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), body]);
}
