// Behaviour of pkg/kubelet/config/file.go (listConfig, extractFromDir, extractFromFile), v1.36.3.

import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HeldBytes } from '../../api/json/bytes.ts';
import type { Pod } from '../../api/json/types.ts';
import { podFullName } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { failureInWords } from '../../client/resources/api-problem.ts';
import { type DecodeManifest, manifestText } from './pod-source.ts';

export interface ManifestFilesOptions {
  /** A directory of manifests, or one manifest. */
  readonly path: string;
  readonly nodeName: string;
  readonly maxBytes: number;
  readonly decode: DecodeManifest;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** The text of a file. Default `readManifestFile`. */
  readonly textOf?: (file: string, maxBytes: number) => Promise<string>;
  readonly logger: Logger;
}

/** `changed`: a file that says by its times and its size that it has not changed is not read. */
export type FilesToRead = 'all' | 'changed';

interface KnownFile {
  /** Of the content that was read last, good or bad; undefined where it could not be read. */
  readonly hash: string | undefined;
  /** Of the last good content. */
  readonly pods: readonly Pod[];
  /** Why the content that was read last cannot be used; undefined where it can. */
  readonly error: unknown;
  readonly stamp: FileStamp | undefined;
}

/** What one reading of the path has found. */
export interface ManifestFilesResult {
  readonly isThere: boolean;
  readonly pods: readonly Pod[];
  /** Why the first manifest that cannot be used cannot; undefined where all can. */
  readonly failure?: { readonly error: unknown } | undefined;
}

/**
 * Reads the manifests of a path. One broken file hides no other. A file that was good and cannot be read now, or breaks a
 * rule, keeps the pods of its last good content until it is gone: it may be half-written. A file whose content has not
 * changed gives the same pods, as objects. Each problem is logged once.
 */
export class ManifestFiles {
  readonly #options: ManifestFilesOptions;
  #files = new Map<string, KnownFile>();
  #problems: ReadonlySet<string> = new Set();
  #newProblems = new Set<string>();

  constructor(options: ManifestFilesOptions) {
    this.#options = options;
  }

  /** Rejects where the path itself cannot be read, or is a single manifest that was never good: then nothing is known. */
  async read(signal: AbortSignal, filesToRead: FilesToRead = 'all'): Promise<ManifestFilesResult> {
    this.#newProblems = new Set();
    try {
      return await this.#read(signal, filesToRead);
    } finally {
      this.#problems = this.#newProblems;
    }
  }

  async #read(signal: AbortSignal, filesToRead: FilesToRead): Promise<ManifestFilesResult> {
    const { path } = this.#options;
    const stats = await stat(path).catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (stats === undefined) {
      this.#files.clear();
      if (this.#isNews('missing', path)) this.#options.logger.warn({ path }, 'the path does not exist; there are no pods');
      return { isThere: false, pods: [] };
    }
    if (stats.isDirectory()) {
      const pods = await this.#podsOfDirectory(path, signal, filesToRead);
      return { isThere: true, pods, failure: this.#firstFailure() };
    }
    if (!stats.isFile()) throw new NoFileError(`${path} is neither a directory nor a file`);
    const pods = await this.#podsOfOneFile(path, filesToRead);
    return { isThere: true, pods, failure: this.#firstFailure() };
  }

  async #podsOfDirectory(path: string, signal: AbortSignal, filesToRead: FilesToRead): Promise<readonly Pod[]> {
    const names = (await readdir(path)).filter((name) => !name.startsWith('.')).sort();
    const before = this.#files;
    this.#files = new Map();
    for (const name of names) {
      if (signal.aborted) break;
      const file = join(path, name);
      const known = await this.#fileNow(file, before.get(file), filesToRead);
      if (known !== undefined) this.#files.set(file, known);
    }
    return this.#podsByName();
  }

  async #podsOfOneFile(path: string, filesToRead: FilesToRead): Promise<readonly Pod[]> {
    const known = await this.#fileNow(path, this.#files.get(path), filesToRead);
    this.#files.clear();
    if (known === undefined) return [];
    this.#files.set(path, known);
    if (known.error !== undefined && known.pods.length === 0) throw known.error;
    return known.pods;
  }

  async #fileNow(file: string, before: KnownFile | undefined, filesToRead: FilesToRead): Promise<KnownFile | undefined> {
    const { textOf = readManifestFile, maxBytes, now } = this.#options;
    let hash: string | undefined;
    let stamp: FileStamp | undefined;
    try {
      // looked at before the content is read: what changes in between is another stamp the next time
      const stats = await stat(file, { bigint: true });
      if (filesToRead === 'all' || before?.stamp === undefined || !isUnchanged(stats, before.stamp)) {
        stamp = fileStamp(stats, before?.stamp, now());
        const text = await textOf(file, maxBytes);
        hash = createHash('sha256').update(text).digest('base64');
        if (before === undefined || hash !== before.hash)
          return { hash, stamp, pods: this.#decode(text, file), error: undefined };
      }
      if (before.error !== undefined) this.#tellProblem(file, before.error, before.pods.length);
      return stamp === undefined ? before : { ...before, stamp };
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return undefined;
      const pods = error instanceof NoFileError ? [] : (before?.pods ?? []);
      this.#tellProblem(file, error, pods.length);
      // what could not be read is tried again each time
      return { hash, stamp: hash === undefined ? undefined : stamp, pods, error };
    }
  }

  #firstFailure(): { readonly error: unknown } | undefined {
    for (const { error } of this.#files.values()) if (error !== undefined) return { error };
    return undefined;
  }

  #decode(text: string, file: string): readonly Pod[] {
    return this.#options.decode(text, { source: file, isFile: true, nodeName: this.#options.nodeName });
  }

  /** Of two pods of one name the one of the later file counts, as in the kubelet. */
  #podsByName(): readonly Pod[] {
    const byName = new Map<string, { readonly pod: Pod; readonly file: string }>();
    for (const [file, { pods }] of this.#files) {
      for (const pod of pods) {
        const other = byName.get(podFullName(pod));
        if (other !== undefined) this.#tellDouble(pod, file, other.file);
        byName.set(podFullName(pod), { pod, file });
      }
    }
    return Array.from(byName.values(), ({ pod }) => pod);
  }

  #tellProblem(file: string, err: unknown, podsKept: number): void {
    const { logger } = this.#options;
    const hasPods = podsKept > 0;
    if (!this.#isNews('problem', file, hasPods, errorText(err))) return;
    const fields = { path: file, err, ...problemFields({ ...failureInWords(err), attempt: 1 }) };
    if (hasPods) logger.warn(fields, 'the manifest cannot be used; the pods of its last good content stay');
    else logger.warn(fields, 'the manifest cannot be used; it is left out');
  }

  #tellDouble(pod: Pod, path: string, otherPath: string): void {
    if (!this.#isNews('double', podFullName(pod), path, otherPath)) return;
    this.#options.logger.warn(
      { ...podFields(pod.metadata), path, otherPath },
      'two manifests name one pod; that of the later path counts',
    );
  }

  /** True for what the reading before this one did not find. */
  #isNews(...what: readonly unknown[]): boolean {
    const key = JSON.stringify(what);
    this.#newProblems.add(key);
    return !this.#problems.has(key);
  }
}

/** Something that is no file: a directory, a pipe, a socket, a device. */
class NoFileError extends Error {
  override readonly name = 'NoFileError';
}

const chunkBytes = 64 * 1024;

/**
 * The text of a file, links followed. Never waits for a pipe, never opens a device, and reads no more than `maxBytes`. Rejects
 * with a `NoFileError`, the error of the system, or an error that says what is wrong with the content.
 */
export async function readManifestFile(path: string, maxBytes: number): Promise<string> {
  // looked at before it is opened: opening a device may do something
  requireFile(path, await stat(path));
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    // something else may stand there now
    requireFile(path, await file.stat());
    return manifestText(await readAtMost(path, file, maxBytes));
  } finally {
    await file.close();
  }
}

function requireFile(path: string, stats: { isFile(): boolean }): void {
  if (!stats.isFile()) throw new NoFileError(`${path} is no file`);
}

async function readAtMost(path: string, file: FileHandle, maxBytes: number): Promise<Buffer> {
  const held = new HeldBytes();
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
    if (bytesRead === 0) return held.take();
    if (held.length + bytesRead > maxBytes) throw new Error(`${path} is longer than ${maxBytes} bytes`);
    held.add(buffer.subarray(0, bytesRead));
  }
}

/** A file system may tell time this coarsely: two changes within it may leave the same times. */
const coarsestMs = 2000;

/** What the system says of a file beside its content. A change of the content changes it, but perhaps not at once. */
interface FileStamp {
  readonly text: string;
  /** When it was seen first. */
  readonly since: number;
  /** True where the content was read so long after the last change that a further one has another stamp. */
  readonly isSettled: boolean;
}

/** The stamp of a file that is read at the time `now`, in milliseconds. */
function fileStamp(stats: BigIntStats, before: FileStamp | undefined, now: number): FileStamp {
  const text = textOf(stats);
  const since = before?.text === text ? before.since : now;
  return { text, since, isSettled: now - since >= coarsestMs };
}

/** True for a file that has not changed since its content was read. */
function isUnchanged(stats: BigIntStats, stamp: FileStamp): boolean {
  return stamp.isSettled && textOf(stats) === stamp.text;
}

function textOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
