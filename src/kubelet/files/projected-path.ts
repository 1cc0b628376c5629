// Rules of validatePath in pkg/volume/util/atomic_writer.go, v1.36.3.

const longestName = 255;
const longestPath = 4096;

/**
 * The parts of a relative path that a file of a volume may have. Throws an `Error` that says why it may not be a file's:
 * absolute, too long, with a part `..`, or with a first part that begins with `..`, as the writer's own names do.
 */
export function projectedPath(path: string): readonly string[] {
  if (path === '') throw new Error('invalid path: must not be empty: ""');
  if (path.startsWith('/')) throw new Error(`invalid path: must be relative path: ${path}`);
  if (path.includes('\0')) throw new Error('invalid path: must not contain a NUL character');
  if (Buffer.byteLength(path) > longestPath)
    throw new Error(`invalid path: must be less than or equal to ${longestPath} characters`);
  const parts = path.split('/');
  if (parts.includes('..')) throw new Error(`invalid path: must not contain '..': ${path}`);
  if (parts.some((part) => Buffer.byteLength(part) > longestName)) {
    throw new Error(`invalid path: filenames must be less than or equal to ${longestName} characters`);
  }
  if (parts[0]?.startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`);
  const plain = parts.filter((part) => part !== '' && part !== '.');
  if (plain.length === 0) throw new Error(`invalid path: must name a file: ${path}`);
  // `./..name` is cleaned to what is refused above
  if (plain[0]?.startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`);
  return plain;
}
