import { readAtMost } from '../files/small-file.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate } from './checked-certificate.ts';

/** As much as a certificate with a long chain has, many times over. */
const mostBytes = 256 * 1024;

/** A certificate and its key in two files. The server sees that they have changed when it reads them the next time. */
export class CertificateFiles implements CertificateSource {
  readonly #certFile: string;
  readonly #keyFile: string;

  constructor(certFile: string, keyFile: string) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
  }

  /** Rejects when a file is missing or has more than 256 KiB, and when the two do not fit together. */
  async read(): Promise<ServingCertificate> {
    const [cert, key] = await Promise.all([readAtMost(this.#certFile, mostBytes), readAtMost(this.#keyFile, mostBytes)]);
    if (cert === '' || key === '') throw new Error(`the file of the ${cert === '' ? 'certificate' : 'key'} is empty`);
    return new CheckedCertificate({ cert, key }).pem;
  }
}
