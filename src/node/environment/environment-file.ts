// Behaviour of pkg/kubelet/util/env, v1.36.3.

/** The files of one container have no more together: a container could have filled its volumes with them. */
const mostBytesTogether = 4 * 1024 * 1024;

/** Which variable of which file is meant. */
export interface FileKey {
  readonly volumeName: string;
  readonly path: string;
  readonly key: string;
  readonly optional?: boolean | undefined;
}

/** The files of variables that one container names. Each is read once, and no further than the values are that are asked for. */
export class EnvironmentFiles {
  readonly #read: (volumeName: string, path: string) => Promise<string>;
  readonly #files = new Map<string, Promise<EnvironmentFile>>();
  readonly #keys: ReadonlySet<string>;
  #bytes = 0;

  /** `keys`: the variables that will be asked for. */
  constructor(read: (volumeName: string, path: string) => Promise<string>, keys: Iterable<string>) {
    this.#read = read;
    this.#keys = new Set(keys);
  }

  /** The value of a variable; undefined for an optional one that is empty or not there. */
  async value({ volumeName, path, key, optional }: FileKey): Promise<string | undefined> {
    const name = JSON.stringify([volumeName, path]);
    const reading = this.#files.get(name) ?? this.#open(volumeName, path);
    this.#files.set(name, reading);
    const value = textIn(await reading, key);
    if (value !== '' || optional === true) return value === '' ? undefined : value;
    throw new Error(`environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(path)}`);
  }

  async #open(volumeName: string, path: string): Promise<EnvironmentFile> {
    const text = await this.#read(volumeName, path);
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > mostBytesTogether)
      throw new Error(`the files of variables have more than ${mostBytesTogether} bytes together`);
    return new EnvironmentFile(text, this.#keys);
  }
}

function textIn(file: EnvironmentFile, key: string): string {
  try {
    return file.value(key) ?? '';
  } catch (error) {
    throw new Error("couldn't parse env file", { cause: error });
  }
}

/**
 * A file of lines such as `NAME='value'`, where a value may go over several lines. It is read as far as the variables stand that
 * were asked for; of a name that comes twice the first value counts.
 */
export class EnvironmentFile {
  readonly #text: string;
  readonly #keys: ReadonlySet<string>;
  readonly #values = new Map<string, string>();
  #at = 0;
  #line = 0;
  #failure: Error | undefined;

  /** `keys`: the variables that are kept. */
  constructor(text: string, keys: ReadonlySet<string>) {
    this.#text = text;
    this.#keys = keys;
  }

  /** Undefined where the file has no such variable. Throws an `Error` that names the line for any other form. */
  value(key: string): string | undefined {
    for (;;) {
      const value = this.#values.get(key);
      if (value !== undefined) return value;
      if (this.#failure !== undefined) throw this.#failure;
      if (!this.#readOn()) return undefined;
    }
  }

  /** The next variable; false at the end. */
  #readOn(): boolean {
    const line = this.#nextLine()?.replace(/^[ \t]+/, '');
    if (line === undefined) return false;
    if (line === '' || line.startsWith('#')) return true;
    try {
      const name = nameOf(line, this.#line);
      const start = line.slice(name.length + 1);
      // as a shell has it: what follows a blank is another word, so the variable is empty
      const value = /^[ \t]/.test(start) ? '' : this.#quoted(start);
      if (this.#keys.has(name) && !this.#values.has(name)) this.#values.set(name, value);
    } catch (error) {
      this.#failure = error as Error;
    }
    return true;
  }

  #quoted(start: string): string {
    const first = this.#line;
    if (!start.startsWith("'")) throw wrongForm(first, 'value must be enclosed in single quotes');
    const parts: string[] = [];
    for (let rest: string | undefined = start.slice(1); rest !== undefined; rest = this.#nextLine()) {
      const end = rest.indexOf("'");
      if (end < 0) {
        parts.push(rest);
        continue;
      }
      const after = rest.slice(end + 1).replace(/^[ \t]+/, '');
      if (after !== '' && !after.startsWith('#')) throw wrongForm(this.#line, 'unexpected content after closing quote');
      parts.push(rest.slice(0, end));
      return parts.join('\n');
    }
    throw new Error(`invalid environment variable format starting at line ${first}: unclosed single quote`);
  }

  /** Without its end; undefined behind the last one. */
  #nextLine(): string | undefined {
    if (this.#at >= this.#text.length) return undefined;
    const feed = this.#text.indexOf('\n', this.#at);
    const end = feed < 0 ? this.#text.length : feed;
    const line = this.#text.slice(this.#at, this.#text[end - 1] === '\r' && end > this.#at ? end - 1 : end);
    this.#at = end + 1;
    this.#line += 1;
    return line;
  }
}

function nameOf(line: string, number: number): string {
  const end = line.indexOf('=');
  if (end < 0) throw wrongForm(number, "missing '='");
  const name = line.slice(0, end);
  if (name.trim() === '') throw wrongForm(number, 'empty variable name');
  if (/[ \t]$/.test(name)) throw wrongForm(number, "whitespace before '=' is not allowed");
  return name;
}

function wrongForm(line: number, what: string): Error {
  return new Error(`invalid environment variable format at line ${line}: ${what}`);
}
