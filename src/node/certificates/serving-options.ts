import type { Clock } from '../../base/clock.ts';
import { safeClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { optionOfType } from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { CertificateFiles } from './certificate-files.ts';
import { type CertificateRequestMaker, type CertifiedAddress, namesOfNode } from './certificate-names.ts';
import { servingPurpose } from './certificate-purpose.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { GivenCertificates } from './given-certificates.ts';
import { RequestedCertificates } from './requested-certificates.ts';

/**
 * Where the certificate of a node's API comes from: exactly one of the two files, `certificate`, and `serverTLSBootstrap: true` with
 * `makeCertificateRequest`.
 */
export interface ServingCertificateOptions {
  /** The file of the server's certificate, in PEM, with its chain. Read again when it changes. */
  readonly tlsCertFile?: string;
  /** The file of the certificate's key, in PEM. */
  readonly tlsPrivateKeyFile?: string;
  /**
   * Gives the certificate and its key. It is called at the start, again after 70 to 90 % of the certificate's life, and when it has failed or
   * has given nothing new after 1 minute, growing to 10.
   */
  readonly certificate?: () => ServingCertificate | Promise<ServingCertificate>;
  /**
   * True: the certificate is asked for from the apiserver (CertificateSigningRequest, signer `kubernetes.io/kubelet-serving`), again after 70
   * to 90 % of its life, and when the node has another address. Until somebody approves the first request no client can connect. Default
   * false.
   */
  readonly serverTLSBootstrap?: boolean;
  /** Makes the requests of `serverTLSBootstrap`, which needs it: the function of that name of `pod-status-manager/certificates`. */
  readonly makeCertificateRequest?: CertificateRequestMaker;
  /**
   * With `serverTLSBootstrap`: the folder that keeps the certificate and its key over restarts, in the kubelet's file
   * `kubelet-server-current.pem` with mode 0600. Default: a restart asks for a new certificate.
   */
  readonly certificateFolder?: string;
}

/** The names of {@link ServingCertificateOptions}. */
export const servingCertificateNames = [
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'certificate',
  'serverTLSBootstrap',
  'makeCertificateRequest',
  'certificateFolder',
] as const satisfies readonly (keyof ServingCertificateOptions)[];

/** What a source of certificates works with. */
export interface CertificateTools {
  readonly nodeName: string;
  /** The addresses that the node has now; a certificate that is asked for is for them. */
  readonly addresses: () => readonly CertifiedAddress[];
  /** Reaches the apiserver. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/**
 * Throws ERR_INVALID_OPTION, naming the option, the rule and the value; options of other names are left to the caller. `prefix`: what the
 * names of the options begin with.
 */
export function requireServingCertificate(options: ServingCertificateOptions, prefix = 'server'): void {
  const { certificate, serverTLSBootstrap = false, makeCertificateRequest, certificateFolder } = options;
  optionOfType(`${prefix}.serverTLSBootstrap`, serverTLSBootstrap, 'boolean');
  if (certificate !== undefined) optionOfType(`${prefix}.certificate`, certificate, 'function');
  const others = serverTLSBootstrap ? 'serverTLSBootstrap' : certificate === undefined ? undefined : 'certificate';
  if (serverTLSBootstrap && certificate !== undefined) {
    throw invalidOption(`${prefix}.certificate`, `absent beside \`${prefix}.serverTLSBootstrap\``, certificate);
  }
  for (const name of ['tlsCertFile', 'tlsPrivateKeyFile'] as const) {
    if (others === undefined) requireFile(`${prefix}.${name}`, options[name]);
    else if (options[name] !== undefined) {
      throw invalidOption(`${prefix}.${name}`, `absent beside \`${prefix}.${others}\``, options[name]);
    }
  }
  if (!serverTLSBootstrap) {
    const beside = `absent without \`${prefix}.serverTLSBootstrap\``;
    if (makeCertificateRequest !== undefined)
      throw invalidOption(`${prefix}.makeCertificateRequest`, beside, makeCertificateRequest);
    if (certificateFolder !== undefined) throw invalidOption(`${prefix}.certificateFolder`, beside, certificateFolder);
    return;
  }
  if (typeof makeCertificateRequest !== 'function') {
    const rule = 'the function of that name of pod-status-manager/certificates';
    throw invalidOption(`${prefix}.makeCertificateRequest`, rule, makeCertificateRequest);
  }
  if (certificateFolder !== undefined && (typeof certificateFolder !== 'string' || certificateFolder === '')) {
    throw invalidOption(`${prefix}.certificateFolder`, 'a folder', certificateFolder);
  }
}

function requireFile(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw invalidOption(name, 'a file, or else `certificate` or `serverTLSBootstrap` given', value);
}

/** The source of the certificate that the options ask for. Throws ERR_INVALID_OPTION as {@link requireServingCertificate} does. Asks nobody yet. */
export function certificateSourceOf(options: ServingCertificateOptions, tools: CertificateTools): CertificateSource {
  requireServingCertificate(options);
  const { tlsCertFile = '', tlsPrivateKeyFile = '', certificate, makeCertificateRequest, certificateFolder } = options;
  const { nodeName, addresses, transport, logger } = tools;
  const timed = { clock: safeClock(tools.clock), random: safeRandom(tools.random), logger };
  if (certificate !== undefined) return new GivenCertificates({ certificate, ...timed });
  if (makeCertificateRequest === undefined) {
    const cert = { path: tlsCertFile, option: 'server.tlsCertFile' };
    return new CertificateFiles(cert, { path: tlsPrivateKeyFile, option: 'server.tlsPrivateKeyFile' });
  }
  const makeRequest = makeCertificateRequest;
  const names = () => namesOfNode(nodeName, addresses());
  const requested = { purpose: servingPurpose, nodeName, names, transport, makeRequest, folder: certificateFolder };
  return new RequestedCertificates({ ...requested, ...timed });
}
