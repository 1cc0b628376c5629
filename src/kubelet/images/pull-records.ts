// The files of pkg/kubelet/images/pullmanager, v1.36.3: kept where the kubelet keeps them, so that either takes over from the other.
import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import type { PullServiceAccount } from './image-credential-plugin.ts';
import type { PullCredentialSource } from './keyring.ts';

/** With which credentials an image was pulled from one repository. */
export interface PulledWith {
  /** It was pulled without credentials of a pod: every pod of the node may use it. */
  readonly nodePodsAccessible?: boolean;
  readonly kubernetesSecrets?: readonly PullCredentialSource[];
  /** Those of pods for which a plugin gave the credentials. */
  readonly kubernetesServiceAccounts?: readonly PullServiceAccount[];
}

interface PulledRecord {
  readonly kind: string;
  readonly apiVersion: string;
  readonly lastUpdatedTime: string;
  readonly imageRef: string;
  /** By repository. */
  readonly credentialMapping: Readonly<Record<string, PulledWith>>;
}

const apiVersion = 'kubelet.config.k8s.io/v1beta1';
/** So many secrets, and service accounts, are kept of one repository of an image. */
const mostSources = 100;
/** So many repositories are kept of one image. Of one that is forgotten a pod has to pull the image anew. */
const mostRepositories = 100;

/** Which images this node has pulled, and with whose credentials. Without a folder it forgets all when the process ends. */
export class PullRecords {
  readonly #folder: string | undefined;
  readonly #records = new Map<string, PulledRecord>();
  /** Images that are being pulled, or whose pull nobody has seen the end of. */
  readonly #pulling = new Map<string, number>();
  readonly #loaded: Promise<void>;
  /** Of one file the last call counts. */
  readonly #files = new OneAtATime();

  constructor(folder: string | undefined) {
    this.#folder = folder;
    this.#loaded = this.#load();
  }

  /** True when the image was pulled by this node, not brought along with it. */
  async isPulled(image: string, imageRef: string): Promise<boolean> {
    await this.#loaded;
    return this.#records.has(imageRef) || this.#pulling.has(image);
  }

  /** What is known of the image; undefined for nothing. */
  async find(imageRef: string, repository: string): Promise<PulledWith | undefined> {
    await this.#loaded;
    const mapping = this.#records.get(imageRef)?.credentialMapping ?? {};
    return Object.hasOwn(mapping, repository) ? mapping[repository] : undefined;
  }

  /** To be called before a pull: an image whose pull was cut off counts as pulled with credentials that nobody knows. */
  async begin(image: string): Promise<void> {
    await this.#loaded;
    await this.#write('pulling', image, { kind: 'ImagePullIntent', apiVersion, image });
    this.#pulling.set(image, (this.#pulling.get(image) ?? 0) + 1);
  }

  async fail(image: string): Promise<void> {
    const left = (this.#pulling.get(image) ?? 1) - 1;
    if (left > 0) {
      this.#pulling.set(image, left);
      return;
    }
    this.#pulling.delete(image);
    await this.#remove('pulling', image);
  }

  /** The pull has succeeded. */
  async succeed(image: string, imageRef: string, repository: string, pulledWith: PulledWith, now: string): Promise<void> {
    await this.add(imageRef, repository, pulledWith, now);
    await this.fail(image);
  }

  /** Pods with these credentials may use the image, too. */
  async add(imageRef: string, repository: string, also: PulledWith, now: string): Promise<void> {
    const record = this.#records.get(imageRef);
    const mapping = record?.credentialMapping ?? {};
    const before = Object.hasOwn(mapping, repository) ? mapping[repository] : undefined;
    if (record !== undefined && before?.nodePodsAccessible === true) {
      // what is looked up meanwhile is older than this
      this.#records.set(imageRef, { ...record });
      return;
    }
    const pulledWith: PulledWith = also.nodePodsAccessible === true ? { nodePodsAccessible: true } : merged(before, also);
    const others = Object.entries(mapping).filter(([name]) => name !== repository);
    const credentialMapping = Object.fromEntries([...others, [repository, pulledWith] as const].slice(-mostRepositories));
    const next = { kind: 'ImagePulledRecord', apiVersion, lastUpdatedTime: now, imageRef, credentialMapping };
    this.#records.set(imageRef, next);
    await this.#write('pulled', imageRef, next);
  }

  /** Forgets images that `list` does not give, and whose pull had ended before it was called. */
  async prune(list: () => Promise<ReadonlySet<string>>): Promise<void> {
    await this.#loaded;
    const before = [...this.#records];
    const imageRefs = await list();
    for (const [imageRef, record] of before) {
      if (imageRefs.has(imageRef) || this.#records.get(imageRef) !== record) continue;
      this.#records.delete(imageRef);
      await this.#remove('pulled', imageRef);
    }
  }

  async #load(): Promise<void> {
    for (const { imageRef, credentialMapping, ...rest } of await this.#read<PulledRecord>('pulled')) {
      if (typeof imageRef !== 'string') continue;
      const mapping = typeof credentialMapping === 'object' && credentialMapping !== null ? credentialMapping : {};
      this.#records.set(imageRef, { ...rest, imageRef, credentialMapping: mapping });
    }
    for (const { image } of await this.#read<{ readonly image?: unknown }>('pulling')) {
      if (typeof image === 'string') this.#pulling.set(image, 1);
    }
  }

  async #read<T>(kind: string): Promise<T[]> {
    if (this.#folder === undefined) return [];
    const folder = path.join(this.#folder, kind);
    const names = await readdir(folder).catch((): string[] => []);
    const values = await Promise.all(
      names
        .filter((name) => name.startsWith('sha256-') && !name.endsWith('.tmp'))
        .map(async (name): Promise<T | undefined> => {
          try {
            return JSON.parse(await readFile(path.join(folder, name), 'utf8')) as T;
          } catch {
            return undefined;
          }
        }),
    );
    return values.filter((value) => typeof value === 'object' && value !== null) as T[];
  }

  async #write(kind: string, key: string, value: object): Promise<void> {
    if (this.#folder === undefined) return;
    const file = fileOf(this.#folder, kind, key);
    await this.#files.run(file, async () => {
      const temporary = `${file}.${randomUUID()}.tmp`;
      await makeFolders(path.dirname(file), 0o700);
      await writeFile(temporary, JSON.stringify(value), { mode: 0o600 });
      await rename(temporary, file);
    });
  }

  async #remove(kind: string, key: string): Promise<void> {
    if (this.#folder === undefined) return;
    const file = fileOf(this.#folder, kind, key);
    await this.#files.run(file, () => rm(file, { force: true }).catch(ignoreFailure));
  }
}

function fileOf(folder: string, kind: string, key: string): string {
  return path.join(folder, kind, `sha256-${createHash('sha256').update(key).digest('hex')}`);
}

/** Of one secret the newest credentials count. */
function merged(before: PulledWith = {}, also: PulledWith): PulledWith {
  const secrets = [...(before.kubernetesSecrets ?? []), ...(also.kubernetesSecrets ?? [])];
  const accounts = [...(before.kubernetesServiceAccounts ?? []), ...(also.kubernetesServiceAccounts ?? [])];
  return {
    ...(secrets.length > 0 && { kubernetesSecrets: newest(secrets) }),
    ...(accounts.length > 0 && { kubernetesServiceAccounts: newest(accounts) }),
  };
}

function newest<T extends PullServiceAccount>(sources: readonly T[]): T[] {
  return sources.filter((one, index) => !sources.slice(index + 1).some((later) => isSameOwner(one, later))).slice(-mostSources);
}

/** The same secret, or the same service account. */
export function isSameOwner(a: PullServiceAccount, b: PullServiceAccount): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}
