import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import { readAtMost } from '../files/small-file.ts';
import { CheckedCertificate } from './checked-certificate.ts';

/** The kubelet's name for it: an agent that takes a kubelet's place goes on with its certificate. */
const fileName = 'kubelet-server-current.pem';
const mostBytes = 512 * 1024;

/** A folder that keeps the certificate and its key in one file, over restarts. Only the process's user can read it. */
export class CertificateFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get path(): string {
    return join(this.#folder, fileName);
  }

  /** Undefined where there is no file. Rejects where it has no certificate with its key. */
  async load(): Promise<CheckedCertificate | undefined> {
    const text = await readAtMost(this.path, mostBytes).catch(ifCode('ENOENT'));
    if (text === undefined) return undefined;
    return new CheckedCertificate({ cert: blocks(text, 'CERTIFICATE'), key: blocks(text, '(?:EC |RSA )?PRIVATE KEY') });
  }

  /** Whoever reads the file meanwhile, or after a crash, finds the old contents or the new ones. */
  async save({ pem: { cert, key } }: CheckedCertificate): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const temporary = `${this.path}.new`;
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(`${cert.trimEnd()}\n${key.trimEnd()}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.path);
  }
}

function blocks(text: string, label: string): string {
  const found = text.match(new RegExp(`^-----BEGIN ${label}-----$[^-]*^-----END ${label}-----$`, 'gm'));
  return (found ?? []).map((block) => `${block}\n`).join('');
}
