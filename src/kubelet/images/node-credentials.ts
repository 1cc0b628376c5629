// Behaviour of pkg/credentialprovider (ReadDockerConfigFile, CachingDockerConfigProvider), v1.36.3.
import { basename } from 'node:path';
import { isJsonObject } from '../../api/json/json.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { errorCodeOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { readAtMost } from '../../node/files/small-file.ts';
import { credentialsFor, type PullCredentials, type PullSecret } from './keyring.ts';

/** More than the credentials of any node. */
const mostBytes = 1024 * 1024;
const keptMs = 300_000;

export interface NodeCredentialsOptions {
  /** The files, in the order in which they are looked for. */
  readonly files: readonly string[];
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Credentials of registries that the node has itself, for the pods of everybody: those of the first file that has some. Read again after five minutes. */
export class NodeCredentials {
  readonly #options: NodeCredentialsOptions;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<PullSecret | undefined> = Promise.resolve(undefined);
  /** The files that were told of as unusable. */
  readonly #told = new Set<string>();

  constructor(options: NodeCredentialsOptions) {
    this.#options = options;
  }

  /** The credentials for a repository. Never rejects: a file that cannot be used counts as none, and the log names it. */
  async for(repository: string): Promise<PullCredentials[]> {
    const now = this.#options.clock.elapsed();
    if (now - this.#readAt >= keptMs) {
      this.#readAt = now;
      this.#reading = this.#read();
    }
    const secret = await this.#reading;
    return secret === undefined ? [] : credentialsFor(repository, [secret]);
  }

  async #read(): Promise<PullSecret | undefined> {
    for (const path of this.#options.files) {
      try {
        const secret = secretOf(path, await readAtMost(path, mostBytes));
        // throws for what cannot be used
        if (secret !== undefined) credentialsFor('index.docker.io/library/any', [secret]);
        this.#told.delete(path);
        if (secret !== undefined) return secret;
      } catch (error) {
        if (errorCodeOf(error) !== 'ENOENT' && errorCodeOf(error) !== 'ENOTDIR') this.#tell(path, error);
      }
    }
    return undefined;
  }

  /** Once, until the file can be used again. What a parser says could be a part of a password. */
  #tell(path: string, error: unknown): void {
    if (this.#told.has(path)) return;
    this.#told.add(path);
    const reason = errorCodeOf(error) ?? 'it has no credentials that can be read';
    this.#options.logger.warn({ path, reason }, 'a file of registry credentials cannot be used');
  }
}

/** Undefined for a file without credentials, such as one of another program. */
function secretOf(path: string, text: string): PullSecret | undefined {
  const content: unknown = JSON.parse(text);
  if (!isJsonObject(content)) throw new Error('it has no object');
  const registries = basename(path) === '.dockercfg' ? content : content.auths;
  if (!isJsonObject(registries) || Object.keys(registries).length === 0) return undefined;
  const data = { '.dockercfg': Buffer.from(JSON.stringify(registries)).toString('base64') };
  return { metadata: { name: path }, type: 'kubernetes.io/dockercfg', data };
}
