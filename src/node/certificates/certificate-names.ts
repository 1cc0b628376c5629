// Behaviour of pkg/kubelet/certificate/kubelet.go, v1.36.3.
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/** An address of a node, as its status has it. */
export interface CertifiedAddress {
  /** `Hostname`, `InternalIP`, `ExternalIP`, `InternalDNS` or `ExternalDNS`. */
  readonly type: string;
  /** The address itself. */
  readonly address: string;
}

/** Whom a serving certificate is for. */
export interface CertificateNames {
  /** The name of the node, as the apiserver knows its user: `system:node:NAME`. */
  readonly commonName: string;
  /** The groups of that user: `system:nodes`. */
  readonly organizations: readonly string[];
  /** The names that clients connect to. */
  readonly dnsNames: readonly string[];
  /** The IP addresses that clients connect to. */
  readonly ipAddresses: readonly string[];
}

/** What goes into a request for a certificate. The private key stays with whoever signs. */
export interface CertificateRequestContents extends CertificateNames {
  /** The public key: SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  /** Signs these bytes: ECDSA with SHA-256, in DER. */
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

/** Makes a PKCS#10 request as PEM: `makeCertificateRequest` of `pod-status-manager/certificates` is one. */
export type CertificateRequestMaker = (contents: CertificateRequestContents) => string | Promise<string>;

/** More names than any node has. A longer list is cut. */
const mostNames = 100;
const dnsName = /^[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?$/i;

/** The names of a node with these addresses, sorted. Undefined while it has no IP address, as in the kubelet, which then asks for nothing. */
export function namesOfNode(nodeName: string, addresses: readonly CertifiedAddress[]): CertificateNames | undefined {
  const [dnsNames, ipAddresses] = [new Set<string>(), new Set<string>()];
  for (const { type, address } of addresses) {
    if (dnsNames.size + ipAddresses.size === mostNames) break;
    // a zone belongs to one machine, and no certificate has one
    if (isIP(address) > 0 && !address.includes('%')) ipAddresses.add(address);
    else if (/^(?:Hostname|InternalDNS|ExternalDNS)$/.test(type) && dnsName.test(address)) dnsNames.add(address);
  }
  if (ipAddresses.size === 0) return undefined;
  return {
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
    dnsNames: [...dnsNames].sort(),
    ipAddresses: [...ipAddresses].sort(),
  };
}

/** True for two equal lists of names. */
export function areSameNames(one: CertificateNames | undefined, other: CertificateNames | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What a certificate lacks of the names, in words; undefined when it has all of them. More than these does no harm. */
export function missingName(leaf: X509Certificate, names: CertificateNames): string | undefined {
  const { CN, O } = subjectOf(leaf);
  if (CN !== names.commonName) return names.commonName;
  const missing = [
    ...names.organizations.filter((one) => O !== one && !(Array.isArray(O) && O.includes(one))),
    ...names.dnsNames.filter((name) => leaf.checkHost(name, { subject: 'never', wildcards: false }) === undefined),
    ...names.ipAddresses.filter((address) => leaf.checkIP(address) === undefined),
  ];
  return missing[0];
}

function subjectOf(leaf: X509Certificate): Readonly<Record<string, unknown>> {
  return { ...leaf.toLegacyObject().subject };
}
