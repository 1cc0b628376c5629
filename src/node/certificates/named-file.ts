import { errorText } from '../../base/errors.ts';
import { readAtMost } from '../files/small-file.ts';

/** As much as a certificate with a long chain has, and a bundle of authorities, many times over. */
const mostBytes = 1024 * 1024;

/** A file that an option names. */
export interface NamedFile {
  readonly path: string;
  /** The name of the option, such as `server.tlsCertFile`. */
  readonly option: string;
}

/** A file of a server that cannot be used: the message names it and its option. `cause` is what the system said, where it said something. */
export class ServingFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'ServingFileError';
  }
}

/** `/etc/tls.crt (option `server.tlsCertFile`)`. */
export function fileInWords({ path, option }: NamedFile): string {
  return `${path} (option \`${option}\`)`;
}

/** The text of the file. Rejects with a {@link ServingFileError} where it cannot be read, has more than 1 MiB, or is empty. */
export async function readNamedFile(file: NamedFile): Promise<string> {
  let text: string;
  try {
    text = await readAtMost(file.path, mostBytes);
  } catch (error) {
    throw new ServingFileError(`the file ${fileInWords(file)} cannot be read: ${errorText(error)}`, error);
  }
  // a file is empty for a moment while it is written anew
  if (text.trim() === '') throw new ServingFileError(`the file ${fileInWords(file)} is empty`);
  return text;
}
