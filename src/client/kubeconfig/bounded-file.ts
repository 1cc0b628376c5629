import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { mebibyte } from '../../api/json/bytes.ts';

/** More than any certificate, key, bundle of authorities or token has. */
const mostCredentialBytes = mebibyte;
/** Where the size is not known before the end: of pipes, and of the files of `/proc`. */
const firstBytes = 65_536;

/**
 * The bytes of a file. Throws the system's error for what cannot be read, and one with code EFBIG for more than so many bytes. A pipe is read to
 * its end, so that a shell may hand a kubeconfig over by one.
 */
export function readBoundedFile(path: string, mostBytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    return readOpen({ file, path, size: fstatSync(file).size, mostBytes });
  } finally {
    closeSync(file);
  }
}

/**
 * The bytes of a file with TLS material or a token. Throws as the other does, and an error with code EFTYPE for what is no regular file: it is
 * read for every request, and a pipe that nobody writes to would hold up the whole process.
 */
export function readCredentialFile(path: string): Buffer {
  // a pipe without a writer would not even open; Windows has no such flag
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() && !stats.isDirectory()) throw failure('EFTYPE', path, 'is no regular file');
    return readOpen({ file, path, size: stats.size, mostBytes: mostCredentialBytes });
  } finally {
    closeSync(file);
  }
}

/** The text of such a file, without what is blank around it. */
export function readCredentialText(path: string): string {
  return readCredentialFile(path).toString('utf8').trim();
}

/** `size`: as the system tells it, which is 0 where it does not know. */
interface OpenFile {
  readonly file: number;
  readonly path: string;
  readonly size: number;
  readonly mostBytes: number;
}

function readOpen({ file, path, size: expected, mostBytes }: OpenFile): Buffer {
  const tooLong = () => failure('EFBIG', path, `has more than ${mostBytes} bytes`);
  if (expected > mostBytes) throw tooLong();
  // one byte more, which stays free: so the end is seen
  let buffer = Buffer.allocUnsafe(expected > 0 ? expected + 1 : Math.min(firstBytes, mostBytes + 1));
  for (let size = 0; ; ) {
    const bytes = readSync(file, buffer, size, buffer.length - size, null);
    if (bytes === 0) return buffer.subarray(0, size);
    size += bytes;
    if (size > mostBytes) throw tooLong();
    if (size === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * size, mostBytes + 1));
  }
}

function failure(code: string, path: string, what: string): Error {
  return Object.assign(new Error(`The file ${what}`), { code, path });
}
