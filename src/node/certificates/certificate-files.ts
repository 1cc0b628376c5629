import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate, UnusableCertificate } from './checked-certificate.ts';
import { fileInWords, type NamedFile, readNamedFile, ServingFileError } from './named-file.ts';

/** A certificate and its key in two files. The server sees that they have changed when it reads them the next time. */
export class CertificateFiles implements CertificateSource {
  readonly #cert: NamedFile;
  readonly #key: NamedFile;

  constructor(cert: NamedFile, key: NamedFile) {
    this.#cert = cert;
    this.#key = key;
  }

  /**
   * Rejects with a `ServingFileError`, which names the file and its option, when a file is missing, is empty or cannot be used, and when the
   * two do not fit together.
   */
  async read(): Promise<ServingCertificate> {
    const [cert, key] = await Promise.all([readNamedFile(this.#cert), readNamedFile(this.#key)]);
    try {
      return new CheckedCertificate({ cert, key }).pem;
    } catch (error) {
      throw error instanceof UnusableCertificate ? this.#named(error) : error;
    }
  }

  #named({ part, message }: UnusableCertificate): ServingFileError {
    const [cert, key] = [fileInWords(this.#cert), fileInWords(this.#key)];
    if (part === 'pair') return new ServingFileError(`the files ${cert} and ${key} do not fit together: ${message}`);
    return new ServingFileError(`the file ${part === 'certificate' ? cert : key} cannot be used: ${message}`);
  }
}
