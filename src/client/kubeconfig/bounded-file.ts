import { closeSync, openSync, readSync } from 'node:fs';

const chunkBytes = 65_536;

/**
 * The bytes of a file. Throws the system's error for what cannot be read, and one with code EFBIG for more than so many bytes. A pipe is read to
 * its end, so that a shell may hand a kubeconfig over by one.
 */
export function readBoundedFile(path: string, mostBytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const parts: Buffer[] = [];
    for (let size = 0; ; ) {
      const buffer = Buffer.allocUnsafe(chunkBytes);
      const bytes = readSync(file, buffer, 0, chunkBytes, null);
      if (bytes === 0) return Buffer.concat(parts);
      parts.push(buffer.subarray(0, bytes));
      size += bytes;
      if (size > mostBytes) throw Object.assign(new Error(`${path} has more than ${mostBytes} bytes`), { code: 'EFBIG', path });
    }
  } finally {
    closeSync(file);
  }
}
