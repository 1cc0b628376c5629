import type { Pod } from '../../api/json/types.ts';
import { podLimits } from '../../api/pod/pod-requests.ts';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import type { ProjectedFile, ProjectedFiles } from '../files/atomic-writer.ts';

const pageBytes = 4096;
/** What the kernel knows of a file or a folder, and of the link that leads to it. */
const entryBytes = 2048;
/** So many files are made of one volume, counting those that a later one replaces. */
const mostFiles = 100_000;
/** So many folders are made for them. */
const mostFolders = 10_000;
/** So much each pod may have, whatever others have. */
const guaranteedBytes = 1024 * 1024;

/** What is to be written of one volume. */
export interface VolumeFiles {
  /** By path, the last one of a path. */
  readonly files: ProjectedFiles;
  /** What they take where they are written: whole pages. */
  readonly bytes: number;
  /** About what the kernel keeps beside, in memory. */
  readonly besideBytes: number;
}

/** Throws once there are more files, or folders for them, than a volume may have. */
export function collected(given: Iterable<readonly [string, ProjectedFile]>): VolumeFiles {
  const files = new Map<string, ProjectedFile>();
  const folders = new Set<string>();
  let count = 0;
  for (const [path, file] of given) {
    count += 1;
    if (count > mostFiles) throw new Error(`the volume has more than ${mostFiles} files`);
    files.set(path, file);
    addFolders(path, folders);
  }
  let bytes = 0;
  for (const { data } of files.values()) bytes += Math.ceil(data.byteLength / pageBytes) * pageBytes;
  return { files, bytes, besideBytes: (files.size + folders.size) * entryBytes };
}

function addFolders(path: string, folders: Set<string>): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end);
    if (folders.has(folder)) return;
    folders.add(folder);
    if (folders.size > mostFolders) throw new Error(`the files of the volume are in more than ${mostFolders} folders`);
  }
}

/** The most that a volume in memory may hold: the smallest of the node's memory, the pod's limit and the volume's own; undefined where there is none. */
export function memorySize(pod: Pod, nodeMemory: string | undefined, sizeLimit?: string): number | undefined {
  return smallest([nodeMemory, memoryLimit(pod), sizeLimit]);
}

/** The most that the files of a volume may take of the disk; undefined where nothing is known. */
export function diskSize({ spec }: Pod, nodeStorage: string | undefined): number | undefined {
  return smallest([nodeStorage, podLimits(spec ?? undefined)['ephemeral-storage']]);
}

function smallest(quantities: readonly (string | undefined)[]): number | undefined {
  const sizes = quantities.map(wholeUnits).filter((size) => size > 0);
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}

/** What the whole pod can take; undefined where one of its containers is not limited. */
function memoryLimit({ spec }: Pod): string | undefined {
  const isLimited = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].every(
    ({ resources }) => wholeUnits(resources?.limits?.memory) > 0,
  );
  const isPodLimited = wholeUnits(spec?.resources?.limits?.memory) > 0;
  return isLimited || isPodLimited ? podLimits(spec ?? undefined).memory : undefined;
}

/** Throws where files take more than what a volume may hold; `what` names that. */
export function requireRoom(bytes: number, limit: number | undefined, what: string): void {
  if (limit === undefined || bytes <= limit) return;
  throw new Error(`the files of the volume take ${bytes} bytes, and the pod may have ${limit} bytes of ${what}`);
}

/** How much the files of volumes in memory may take. */
export interface FileBytesLimits {
  readonly maxFileBytesPerPod: number;
  readonly maxFileBytes: number;
}

/** What the files of one pod take in memory, counted anew each time its volumes are made. */
export interface PodFileBytes {
  /** Throws where it is more than the pod, or the node, may have. */
  add(bytes: number): void;
  /** All volumes were made. */
  done(): void;
}

/** How an error says what takes too much, and names the limits. */
export interface FileBytesWords {
  readonly what: string;
  readonly ofPod: string;
  readonly ofAll: string;
  readonly help: string;
}

const wordsOfAgent: FileBytesWords = {
  what: 'the files that',
  ofPod: 'volumeBudget.maxFileBytesPerPod',
  ofAll: 'volumeBudget.maxFileBytes',
  help: "Let the pod use less, or set volumeBudget of the node's agent higher",
};

/** What the files that the agent has written take in memory, by pod. */
export class FileBytes {
  readonly #limits: FileBytesLimits;
  readonly #words: FileBytesWords;
  readonly #pods = new Map<string, number>();
  #all = 0;

  constructor(limits: FileBytesLimits, words: FileBytesWords = wordsOfAgent) {
    this.#limits = limits;
    this.#words = words;
  }

  /** The count of a pod begins; until it is done, what was counted before counts as well where it was more. */
  begin(podUID: string, shownAs: string): PodFileBytes {
    const { maxFileBytesPerPod, maxFileBytes } = this.#limits;
    let bytes = 0;
    return {
      add: (more) => {
        const next = bytes + more;
        const { what, ofPod, ofAll, help } = this.#words;
        if (next > maxFileBytesPerPod) {
          const limit = `${ofPod}, ${maxFileBytesPerPod} bytes`;
          throw new Error(`${what} pod ${shownAs} has in memory take ${next} bytes, more than ${limit}. ${help}`);
        }
        const others = this.#all - (this.#pods.get(podUID) ?? 0);
        if (next > guaranteedBytes && others + next > maxFileBytes) {
          const limit = `${ofAll}, ${maxFileBytes} bytes`;
          throw new Error(`${what} all pods have in memory would take ${others + next} bytes, more than ${limit}. ${help}`);
        }
        bytes = next;
        if (bytes > (this.#pods.get(podUID) ?? 0)) this.#set(podUID, bytes);
      },
      done: () => this.#set(podUID, bytes),
    };
  }

  forget(podUID: string): void {
    this.#set(podUID, 0);
  }

  #set(podUID: string, bytes: number): void {
    this.#all += bytes - (this.#pods.get(podUID) ?? 0);
    if (bytes === 0) this.#pods.delete(podUID);
    else this.#pods.set(podUID, bytes);
  }
}
