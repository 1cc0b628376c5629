// PKCS#10 (RFC 2986) with the names of RFC 5280, for an elliptic key.
import { Attributes, CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  Attribute,
  Extension,
  Extensions,
  GeneralName,
  id_ce_subjectAltName,
  Name,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';
import type { CertificateRequestContents } from './certificate-names.ts';
import { commonName, ecdsaWithSha256, namePart, pemOf } from './signed-parts.ts';

const organizationName = '2.5.4.10';
const extensionRequest = '1.2.840.113549.1.9.14';

/**
 * A certificate request (PKCS#10) as PEM. It is the option `makeCertificateRequest` of a server with `serverTLSBootstrap`, and has an
 * entry point of its own for the packages that it needs.
 *
 * @example
 * ```ts
 * import { generateKeyPairSync, sign } from 'node:crypto';
 * import { makeCertificateRequest } from 'pod-status-manager/certificates';
 *
 * const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
 * const request = makeCertificateRequest({
 *   commonName: 'system:node:node-1',
 *   organizations: ['system:nodes'],
 *   dnsNames: ['node-1'],
 *   ipAddresses: ['10.0.0.1'],
 *   publicKey: publicKey.export({ type: 'spki', format: 'der' }),
 *   sign: (bytes) => sign('sha256', bytes, privateKey),
 * });
 * console.log(request.split('\n')[0]); // -----BEGIN CERTIFICATE REQUEST-----
 * ```
 */
export function makeCertificateRequest(contents: CertificateRequestContents): string {
  const info = new CertificationRequestInfo({
    subject: new Name([
      ...contents.organizations.map((text) => namePart(organizationName, text)),
      namePart(commonName, contents.commonName),
    ]),
    subjectPKInfo: AsnConvert.parse(contents.publicKey, SubjectPublicKeyInfo),
    attributes: new Attributes(attributesOf(contents)),
  });
  const signature = contents.sign(new Uint8Array(AsnConvert.serialize(info)));
  const request = new CertificationRequest({
    certificationRequestInfo: info,
    signatureAlgorithm: ecdsaWithSha256(),
    // a Buffer may be a part of a larger memory
    signature: new Uint8Array(signature).buffer,
  });
  return pemOf('CERTIFICATE REQUEST', AsnConvert.serialize(request));
}

/** A request without names asks for no extension: the signer of client certificates allows none. */
function attributesOf(contents: CertificateRequestContents): Attribute[] {
  if (contents.dnsNames.length + contents.ipAddresses.length === 0) return [];
  return [new Attribute({ type: extensionRequest, values: [AsnConvert.serialize(extensionsOf(contents))] })];
}

function extensionsOf({ dnsNames, ipAddresses }: CertificateRequestContents): Extensions {
  const names = new SubjectAlternativeName([
    ...dnsNames.map((dNSName) => new GeneralName({ dNSName })),
    ...ipAddresses.map((iPAddress) => new GeneralName({ iPAddress })),
  ]);
  const extnValue = new OctetString(AsnConvert.serialize(names));
  return new Extensions([new Extension({ extnID: id_ce_subjectAltName, extnValue })]);
}
