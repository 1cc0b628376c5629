import { createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { CertificationRequest } from '@peculiar/asn1-csr';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  id_kp_clientAuth,
  id_kp_serverAuth,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** How a request is signed. */
export interface Signing {
  /** In milliseconds since the epoch. */
  readonly notBefore: number;
  /** In milliseconds since the epoch. */
  readonly notAfter: number;
  /** True: the certificate is for no name and no address. Default false. */
  readonly withoutNames?: boolean;
}

/** What signs requests for certificates, as kube-controller-manager does. */
export interface RequestSigner {
  /** The authority's own certificate, as PEM. */
  readonly cert: string;
  /** The certificate for a PKCS#10 request, both PEM. Throws where the request's own signature is wrong. */
  sign(request: string, signing: Signing): string;
}

interface Contents {
  readonly subject: Name;
  readonly subjectPublicKeyInfo: SubjectPublicKeyInfo;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: Extension[];
}

const ecdsa = (): AlgorithmIdentifier => new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' });
const extension = (extnID: string, der: ArrayBuffer | Uint8Array): Extension =>
  new Extension({ extnID, extnValue: new OctetString(new Uint8Array(der)) });

/** A signer with a new key. */
export function requestSigner(commonName: string): RequestSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const value = new AttributeValue({ utf8String: commonName });
  const issuer = new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: '2.5.4.3', value })])]);

  const certificate = ({ subject, subjectPublicKeyInfo, extensions, notBefore, notAfter }: Contents): string => {
    const tbsCertificate = new TBSCertificate({
      version: Version.v3,
      serialNumber: new Uint8Array([0x40, ...randomBytes(15)]).buffer,
      signature: ecdsa(),
      ...{ issuer, subject, subjectPublicKeyInfo },
      validity: new Validity({ notBefore: new Date(notBefore), notAfter: new Date(notAfter) }),
      extensions: new Extensions(extensions),
    });
    const signed = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), privateKey);
    const signatureValue = new Uint8Array(signed).buffer;
    return pem(AsnConvert.serialize(new Certificate({ tbsCertificate, signatureAlgorithm: ecdsa(), signatureValue })));
  };

  const subjectPublicKeyInfo = AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo);
  const isAuthority = extension(id_ce_basicConstraints, Buffer.from('30030101ff', 'hex'));
  const decades = { notBefore: Date.UTC(1999, 0), notAfter: Date.UTC(2049, 0) };
  return {
    cert: certificate({ subject: issuer, subjectPublicKeyInfo, ...decades, extensions: [isAuthority] }),
    sign(request, { withoutNames = false, ...validity }) {
      const { info, names } = readRequest(request);
      const usages = new ExtendedKeyUsage([id_kp_serverAuth, id_kp_clientAuth]);
      const forBoth = extension(id_ce_extKeyUsage, AsnConvert.serialize(usages));
      const { subject, subjectPKInfo } = info;
      const isNameless = withoutNames || names.length === 0;
      const extensions = isNameless ? [forBoth] : [forBoth, extension(id_ce_subjectAltName, AsnConvert.serialize(names))];
      return certificate({ subject, subjectPublicKeyInfo: subjectPKInfo, ...validity, extensions });
    },
  };
}

/** What a PKCS#10 request says, whose own signature is right. */
export function readRequest(text: string) {
  const request = AsnConvert.parse(Buffer.from(text.replace(/-----[^-]*-----/g, ''), 'base64'), CertificationRequest);
  const { certificationRequestInfo: info, certificationRequestInfoRaw: raw = new ArrayBuffer(0), signature } = request;
  const spki = Buffer.from(AsnConvert.serialize(info.subjectPKInfo));
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  if (!verify('sha256', Buffer.from(raw), key, Buffer.from(signature)))
    throw new Error('the request is not signed by its own key');
  const [asked] = info.attributes[0]?.values ?? [];
  if (asked === undefined) return { info, names: new SubjectAlternativeName() };
  const [first] = AsnConvert.parse(asked, Extensions);
  if (first === undefined) throw new Error('the request asks for no extension');
  return { info, names: AsnConvert.parse(first.extnValue, SubjectAlternativeName) };
}

function pem(der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
