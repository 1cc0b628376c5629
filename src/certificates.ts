/**
 * Certificates that a node asks its cluster for, and the requests that a server with `serverTLSBootstrap` sends. It needs the optional peer dependencies `@peculiar/asn1-csr`,
 * `@peculiar/asn1-schema` and `@peculiar/asn1-x509`, which no other entry point loads.
 *
 * @module pod-status-manager/certificates
 */
import './base/node-version.ts';

export type {
  CertificateNames,
  CertificateRequestContents,
  CertificateRequestMaker,
} from './node/certificates/certificate-names.ts';
export { makeCertificateRequest } from './node/certificates/certificate-request.ts';
export type { ServingCertificate } from './node/certificates/certificate-source.ts';
export { NodeClientCertificate, type NodeClientCertificateOptions } from './node/certificates/client-certificate.ts';
export { type SelfSignedCertificateOptions, selfSignedCertificate } from './node/certificates/self-signed.ts';
