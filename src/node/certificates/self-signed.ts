// Behaviour of InitializeTLS in cmd/kubelet/app/server.go, v1.36.3, and of GenerateSelfSignedCertKey in client-go/util/cert.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  id_kp_serverAuth,
  Name,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { type Clock, systemClock } from '../../base/clock.ts';
import { ifCode, invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { nodeNameOption } from '../../base/names.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';
import { readAtMost } from '../files/small-file.ts';
import { commonName, ecdsaWithSha256, namePart, pemOf } from './certificate-request.ts';
import type { ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate } from './checked-certificate.ts';

const mostBytes = 512 * 1024;
const hourMs = 3_600_000;
const lifeMs = 365 * 24 * hourMs;

/** For whom a certificate is made, and where it is kept. */
export interface SelfSignedCertificateOptions {
  /** The name of the node: clients connect to it. */
  readonly nodeName: string;
  /** The folder of the kubelet's files `kubelet.crt` and `kubelet.key`, such as `/var/lib/kubelet/pki`. */
  readonly folder: string;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null | undefined;
}

/**
 * A function for the option `certificate` of a server that has no certificate: it gives the one in the folder, and makes one that signs itself
 * where there is none, or less than 30 % of its year is left. No client can check it, as that of a kubelet without a certificate. Throws
 * ERR_INVALID_OPTION, naming the option, the rule and the value.
 *
 * @example
 * ```ts
 * import { selfSignedCertificate } from 'pod-status-manager/certificates';
 *
 * const certificate = selfSignedCertificate({ nodeName: 'node-1', folder: '/var/lib/kubelet/pki' });
 * const server = { certificate, port: 10_250 }; // the option `server` of a NodeAgent
 * ```
 */
export function selfSignedCertificate(options: SelfSignedCertificateOptions): () => Promise<ServingCertificate> {
  requireKnownOptions('options', options, ['nodeName', 'folder', 'clock', 'logger']);
  const { folder, clock = systemClock } = options;
  const nodeName = nodeNameOption(options.nodeName);
  if (typeof folder !== 'string' || !isAbsolute(folder)) throw invalidOption('folder', 'an absolute path', folder);
  requireMethods('clock', clock, ['now', 'setTimer']);
  const logger = loggerOption(options.logger);
  const files = { cert: join(folder, 'kubelet.crt'), key: join(folder, 'kubelet.key') };
  return async () => {
    const now = clock.now();
    const fields = { node: nodeName, path: files.cert };
    const kept = await load(files).catch((err: unknown) => {
      logger.warn({ err, ...fields }, 'the certificate that was kept cannot be used: a new one is made');
      return undefined;
    });
    if (kept !== undefined && now < kept.renewalAt(0)) return kept.pem;
    const made = makeSelfSigned(nodeName, now);
    await save(folder, files, made).catch((err: unknown) => {
      logger.warn({ err, ...fields }, 'the certificate of the node could not be kept');
    });
    return made;
  };
}

async function load({ cert, key }: ServingCertificate): Promise<CheckedCertificate | undefined> {
  const texts = await Promise.all([cert, key].map((path) => readAtMost(path, mostBytes).catch(ifCode('ENOENT'))));
  const [certText, keyText] = texts;
  if (certText === undefined || keyText === undefined) return undefined;
  return new CheckedCertificate({ cert: certText, key: keyText });
}

/** The key first: a key without its certificate counts as none. */
async function save(folder: string, files: ServingCertificate, { cert, key }: ServingCertificate): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await rm(files.cert, { force: true });
  await write(files.key, key, 0o600);
  await write(files.cert, cert, 0o644);
}

async function write(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

function makeSelfSigned(nodeName: string, now: number): ServingCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = new Name([namePart(commonName, `${nodeName}@${Math.floor(now / 1000)}`)]);
  const algorithm = ecdsaWithSha256();
  const names = new SubjectAlternativeName([new GeneralName({ dNSName: nodeName })]);
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    // positive, and with no zero in front
    serialNumber: new Uint8Array([0x40, ...randomBytes(15)]).buffer,
    signature: algorithm,
    issuer: name,
    subject: name,
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo),
    // clocks of a cluster differ a little
    validity: new Validity({ notBefore: new Date(now - hourMs), notAfter: new Date(now - hourMs + lifeMs) }),
    extensions: new Extensions([
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_subjectAltName, names),
    ]),
  });
  const signature = sign('sha256', new Uint8Array(AsnConvert.serialize(tbsCertificate)), privateKey);
  const signatureValue = new Uint8Array(signature).buffer;
  const certificate = new Certificate({ tbsCertificate, signatureAlgorithm: algorithm, signatureValue });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: pemOf('CERTIFICATE', AsnConvert.serialize(certificate)), key };
}

function extension(extnID: string, value: object): Extension {
  return new Extension({ extnID, extnValue: new OctetString(AsnConvert.serialize(value)) });
}
