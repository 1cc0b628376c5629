// What requests and certificates have in common. No public declaration names it: the types of these packages fail some compilers.
import { AlgorithmIdentifier, AttributeTypeAndValue, AttributeValue, RelativeDistinguishedName } from '@peculiar/asn1-x509';

export const commonName = '2.5.4.3';

export const ecdsaWithSha256 = (): AlgorithmIdentifier => new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' });

export function pemOf(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** One part of a name, such as its `commonName`. */
export function namePart(type: string, utf8String: string): RelativeDistinguishedName {
  return new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String }) })]);
}
