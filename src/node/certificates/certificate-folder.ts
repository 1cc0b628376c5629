// Behaviour of k8s.io/client-go/util/certificate/certificate_store.go, v0.36.3.
import { readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import { makeFolders } from '../files/make-folders.ts';
import { replaceFile } from '../files/replace-file.ts';
import { readAtMost } from '../files/small-file.ts';
import { CheckedCertificate } from './checked-certificate.ts';

const mostBytes = 512 * 1024;

/**
 * A folder that keeps a certificate and its key in one file, over restarts. Only the process's user can read it. Names and links are the
 * kubelet's, so an agent that takes a kubelet's place goes on with its certificate, and the kubelet with the agent's:
 * `kubelet-server-current.pem` leads to the file with the time in its name.
 */
export class CertificateFolder {
  readonly #folder: string;
  readonly #prefix: string;

  /** `prefix`: what the names of its files begin with, `kubelet-server` or `kubelet-client`. */
  constructor(folder: string, prefix: string) {
    this.#folder = folder;
    this.#prefix = prefix;
  }

  get path(): string {
    return join(this.#folder, `${this.#prefix}-current.pem`);
  }

  /** Undefined where there is no file. Rejects where it has no certificate with its key. */
  async load(): Promise<CheckedCertificate | undefined> {
    const text = await readAtMost(this.path, mostBytes).catch(ifCode('ENOENT'));
    if (text === undefined) return undefined;
    return new CheckedCertificate({ cert: blocks(text, 'CERTIFICATE'), key: blocks(text, '(?:EC |RSA )?PRIVATE KEY') });
  }

  /** Whoever reads the file meanwhile, or after a crash, finds the old contents or the new ones. `now`: in milliseconds since the epoch. */
  async save({ pem: { cert, key } }: CheckedCertificate, now: number): Promise<void> {
    await makeFolders(this.#folder, 0o700);
    const before = await readlink(this.path).catch(() => '');
    const own = `${this.#prefix}-${timeInName(now)}.pem`;
    const path = join(this.#folder, own);
    // a file of the same second is not written into: somebody may read it
    await replaceFile(path, `${cert.trimEnd()}\n${key.trimEnd()}\n`, 0o600);
    const link = join(this.#folder, `${this.#prefix}-updated.pem`);
    await rm(link, { force: true });
    await symlink(resolve(path), link);
    await rename(link, this.path);
    await this.#removeOthers([own, basename(before)]);
  }

  /** The one before stays: somebody may have just followed the link. */
  async #removeOthers(kept: readonly string[]): Promise<void> {
    const isOld = (name: string): boolean =>
      name.startsWith(`${this.#prefix}-`) && /^\d{4}(?:-\d\d){5}\.pem$/.test(name.slice(this.#prefix.length + 1));
    const old = (await readdir(this.#folder)).filter((name) => isOld(name) && !kept.includes(name));
    for (const name of old) await rm(join(this.#folder, name), { force: true });
  }
}

/** `2026-01-31-12-00-59`, in UTC. */
function timeInName(now: number): string {
  return new Date(now).toISOString().slice(0, 19).replace(/[T:]/g, '-');
}

function blocks(text: string, label: string): string {
  const found = text.match(new RegExp(`^-----BEGIN ${label}-----$[^-]*^-----END ${label}-----$`, 'gm'));
  return (found ?? []).map((block) => `${block}\n`).join('');
}
