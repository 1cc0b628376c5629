// Behaviour of InitializeTLS in cmd/kubelet/app/server.go, v1.36.3, and of GenerateSelfSignedCertKey in client-go/util/cert.
import { generateKeyPairSync, randomBytes, sign, type X509Certificate } from 'node:crypto';
import { rename } from 'node:fs/promises';
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
import { errorText, ifCode, invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { nodeNameOption } from '../../base/names.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';
import { makeFolders } from '../files/make-folders.ts';
import { nameBeside, writeBeside } from '../files/replace-file.ts';
import { readAtMost } from '../files/small-file.ts';
import type { ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate } from './checked-certificate.ts';
import { commonName, ecdsaWithSha256, namePart, pemOf } from './signed-parts.ts';

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
 * where there is none, or less than 30 % of its year is left. A certificate that others made is used until it ends, and then replaced. No
 * client can check one that signs itself, as that of a kubelet without a certificate. Throws ERR_INVALID_OPTION, naming the option, the rule
 * and the value. The function rejects, naming the files, where they are there and no pair; it leaves them as they are.
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
    const kept = await load(files);
    // what others made is theirs to renew
    const isOwn = kept !== undefined && isMadeFor(nodeName, kept.leaf);
    if (kept !== undefined && now < (isOwn ? kept.renewalAt(0) : kept.notAfter)) return kept.pem;
    if (kept !== undefined && !isOwn) {
      logger.warn({ ...fields, notAfter: kept.leaf.validTo }, 'the certificate that somebody gave has ended: a new one is made');
    }
    const made = makeSelfSigned(nodeName, now);
    await save(folder, files, made).catch((err: unknown) => {
      logger.warn({ err, ...fields }, 'the certificate of the node could not be kept');
    });
    return made;
  };
}

/** Undefined where there is neither file. Rejects, naming both, for what is no pair: they may be somebody's. */
async function load(files: ServingCertificate): Promise<CheckedCertificate | undefined> {
  try {
    const [cert, key] = [await textOf(files.cert), await textOf(files.key)];
    if (cert === undefined && key === undefined) return undefined;
    try {
      if (cert === undefined || key === undefined) throw new Error(`there is no ${cert === undefined ? 'certificate' : 'key'}`);
      return new CheckedCertificate({ cert, key });
    } catch (error) {
      const waiting = await finished(files, key);
      if (waiting === undefined) throw error;
      return waiting;
    }
  } catch (error) {
    const rule = 'must be a certificate with its key, as PEM, or not be there';
    throw new Error(`${files.cert} and ${files.key} ${rule}: ${errorText(error)}`);
  }
}

/** The pair of a write that a crash has cut short after the key. Undefined where no certificate of this key waits to be put there. */
async function finished({ cert }: ServingCertificate, key: string | undefined): Promise<CheckedCertificate | undefined> {
  const waiting = nameBeside(cert);
  const text = await textOf(waiting).catch(() => undefined);
  if (text === undefined) return undefined;
  let pair: CheckedCertificate;
  try {
    pair = new CheckedCertificate({ cert: text, key });
  } catch {
    return undefined;
  }
  await rename(waiting, cert);
  return pair;
}

function textOf(path: string): Promise<string | undefined> {
  return readAtMost(path, mostBytes).catch(ifCode('ENOENT', 'ENOTDIR'));
}

/** True for a certificate that {@link makeSelfSigned} has made. A kubelet's is signed by a CA of its own. */
function isMadeFor(nodeName: string, { subject, issuer }: X509Certificate): boolean {
  return subject === issuer && subject.startsWith(`CN=${nodeName}@`) && /^\d+$/.test(subject.slice(`CN=${nodeName}@`.length));
}

/** The certificate is put there last, and lies on the disk before the key is: the next start finishes what a crash cuts short. */
async function save(folder: string, files: ServingCertificate, { cert, key }: ServingCertificate): Promise<void> {
  await makeFolders(folder, 0o700);
  const newCert = await writeBeside(files.cert, cert, 0o644);
  await rename(await writeBeside(files.key, key, 0o600), files.key);
  await rename(newCert, files.cert);
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
