import crypto from 'node:crypto';
import fs, { type BigIntStats, type Dirent, type Stats } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Prng } from '../../chaos/prng.ts';
import { nextTurn } from '../simulated-clock.ts';

type Act = (...values: never[]) => unknown;

/** As many accesses to files as Node.js has threads for may overtake one another. */
const threads = 4;

const names = [
  ...['access', 'appendFile', 'chmod', 'chown', 'copyFile', 'lchown', 'lstat', 'mkdir', 'readFile', 'readlink', 'realpath'],
  ...['rename', 'rm', 'rmdir', 'stat', 'statfs', 'symlink', 'truncate', 'unlink', 'utimes', 'writeFile'],
] as const;

/**
 * A machine that does the same again. Node.js accesses files in threads, and gives random names: the order and the names are
 * then those of the moment. While this machine is installed, accesses to files wait in a queue, and the seed says which one
 * of the first few comes next; `randomUUID` and `mkdtemp` give names by the seed; folders list their names in order. The
 * files themselves are real.
 */
export class OrderedMachine {
  readonly #prng: Prng;
  readonly #queue: (() => void)[] = [];
  readonly #replaced: (() => void)[] = [];
  #names = 0;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  /** Replaces the functions for everybody in the process, until `restore`. */
  install(): void {
    const sync = fs as unknown as Readonly<Record<string, Act>>;
    for (const name of names) this.#replace(fs.promises, name, this.#later(sync[`${name}Sync`] as Act));
    this.#replace(
      fs.promises,
      'mkdtemp',
      this.#later((prefix: string) => this.#makeFolder(prefix)),
    );
    this.#replace(fs.promises, 'readdir', this.#later(listed));
    this.#replace(fs.promises, 'opendir', this.#later(opened));
    this.#replace(
      fs.promises,
      'open',
      this.#later((...values) => this.#handle(Reflect.apply(fs.openSync, fs, values))),
    );
    this.#replace(crypto, 'randomUUID', () => this.#uuid());
    syncBuiltinESMExports();
  }

  /** What still waits is done, and the process has its own functions back. */
  restore(): void {
    for (const act of this.#queue.splice(0)) act();
    for (const put of this.#replaced.splice(0)) put();
    syncBuiltinESMExports();
  }

  /** Resolves when no access waits. No time passes: a disk is as fast as memory. */
  readonly settle = async (): Promise<void> => {
    await nextTurn();
    while (this.#queue.length > 0) {
      const [act] = this.#queue.splice(this.#prng.int(0, Math.min(threads, this.#queue.length) - 1), 1);
      act?.();
      await nextTurn();
    }
  };

  #replace<T extends object>(target: T, name: keyof T & string, value: unknown): void {
    const own = target[name];
    this.#replaced.push(() => Object.assign(target, { [name]: own }));
    Object.assign(target, { [name]: value });
  }

  #later(act: Act): (...values: never[]) => Promise<unknown> {
    return (...values) =>
      new Promise((resolve, reject) => {
        this.#queue.push(() => {
          try {
            resolve(Reflect.apply(act, undefined, values));
          } catch (error) {
            reject(error);
          }
        });
      });
  }

  #makeFolder(prefix: string): string {
    const folder = `${prefix}${(this.#names++).toString(36).padStart(6, '0')}`;
    fs.mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  #uuid(): string {
    const digits = Array.from({ length: 32 }, () => this.#prng.int(0, 15).toString(16)).join('');
    return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-');
  }

  /** What the library uses of a `FileHandle`. */
  #handle(fd: number): object {
    const read = (buffer: Buffer, offset = 0, length = buffer.length - offset, position: number | null = null): object => ({
      bytesRead: fs.readSync(fd, buffer, offset, length, position),
      buffer,
    });
    return {
      fd,
      read: this.#later(read),
      stat: this.#later((): Stats | BigIntStats => fs.fstatSync(fd)),
      chmod: this.#later((mode: number) => fs.fchmodSync(fd, mode)),
      chown: this.#later((uid: number, gid: number) => fs.fchownSync(fd, uid, gid)),
      readFile: this.#later((options: 'utf8' | null = null) => fs.readFileSync(fd, options as 'utf8')),
      writeFile: this.#later((data: string | Uint8Array) => fs.writeFileSync(fd, data)),
      sync: this.#later(() => fs.fsyncSync(fd)),
      close: this.#later(() => fs.closeSync(fd)),
    };
  }
}

function listed(path: string, options?: object): unknown[] {
  const entries: unknown[] = fs.readdirSync(path, options as never);
  return entries.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf(entry: unknown): string {
  return typeof entry === 'object' && entry !== null && 'name' in entry ? String(entry.name) : String(entry);
}

function opened(path: string, options?: object): object {
  const entries = listed(path, { ...options, withFileTypes: true }) as Dirent[];
  return {
    async *[Symbol.asyncIterator]() {
      yield* entries;
    },
    close: async () => {},
  };
}
