import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { ServingCertificate } from './certificate-source.ts';

/** So much is read of a certificate with its chain, and of a key, in characters. */
const longestText = 256 * 1024;

/** What of a certificate with its key cannot be used: one of them, or that they do not fit together. */
export type UnusablePart = 'certificate' | 'key' | 'pair';

/** A certificate that cannot be used with its key. */
export class UnusableCertificate extends Error {
  readonly part: UnusablePart;

  constructor(part: UnusablePart, message: string) {
    super(message);
    this.name = 'UnusableCertificate';
    this.part = part;
  }
}

/** A certificate that fits its key. Nothing of the key is seen in an inspection. */
export class CheckedCertificate {
  readonly leaf: X509Certificate;
  /** In milliseconds since the epoch. */
  readonly notBefore: number;
  /** In milliseconds since the epoch. */
  readonly notAfter: number;
  readonly #pem: ServingCertificate;

  /** Throws for what is no certificate, for what is no key, and where the two do not fit together. No error has a part of the key. */
  constructor({ cert, key }: Readonly<Record<'cert' | 'key', unknown>>) {
    requirePEM('certificate', cert);
    requirePEM('key', key);
    this.leaf = parsed('certificate', () => new X509Certificate(cert));
    const privateKey = parsed('key', () => createPrivateKey(key));
    if (!parsed('certificate', () => this.leaf.checkPrivateKey(privateKey))) {
      throw new UnusableCertificate('pair', 'the certificate is of another key');
    }
    this.#pem = { cert, key };
    this.notBefore = this.leaf.validFromDate.getTime();
    this.notAfter = this.leaf.validToDate.getTime();
  }

  /** A copy for the server. */
  get pem(): ServingCertificate {
    return { ...this.#pem };
  }

  /** Two certificates with equal texts are one. */
  hasSameText(other: CheckedCertificate | undefined): boolean {
    return other !== undefined && this.#pem.cert === other.#pem.cert && this.#pem.key === other.#pem.key;
  }

  /** True while it may be shown, at this time in milliseconds since the epoch. */
  isValid(now: number): boolean {
    return now < this.notAfter;
  }

  /** When it is time for the next one, in milliseconds since the epoch: after 70 to 90 % of its life, as the kubelet's. `chance`: from 0 up to 1. */
  renewalAt(chance: number): number {
    return this.notBefore + (this.notAfter - this.notBefore) * (0.7 + 0.2 * chance);
  }
}

function requirePEM(what: 'certificate' | 'key', text: unknown): asserts text is string {
  if (typeof text !== 'string') throw new UnusableCertificate(what, `the ${what} is no text`);
  if (text.length > longestText) throw new UnusableCertificate(what, `the ${what} has more than ${longestText} characters`);
  // a file is empty for a moment while it is written anew, and Node.js takes an empty text for none at all
  if (text.trim() === '') throw new UnusableCertificate(what, `the ${what} is empty`);
}

/** The words of OpenSSL are left out: nobody knows what they quote. */
function parsed<T>(what: 'certificate' | 'key', read: () => T): T {
  try {
    return read();
  } catch {
    throw new UnusableCertificate(
      what,
      `the ${what} cannot be read: it must be PEM${what === 'key' ? ', without a passphrase' : ''}`,
    );
  }
}
