import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../api/json/json.ts';
import { type PodNames, podFields } from '../../api/pod/pod-log-fields.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { makeFoldersSync } from '../../node/files/make-folders.ts';
import type { Resources } from '../../node/pod-status/pod-resources.ts';
import type { PodAllocation } from './pod-allocation.ts';

/** What is kept of one pod. */
export interface AllocationRecord {
  /** What the node has promised the pod. */
  readonly allocated: PodAllocation;
  /** What the runtime was last told, and has accepted. */
  readonly actuated: PodAllocation;
}

interface KeptRecord extends AllocationRecord {
  readonly actuated: { readonly containers: Record<string, Resources>; readonly pod?: Resources };
}

/** A record as its file has it. */
interface Kept {
  readonly record: KeptRecord;
  /** The pod's names, as far as they are known: the file has the uid alone. */
  readonly names: PodNames;
  /** Lines after the record; undefined while the file is not there, or says something else. */
  changes: number | undefined;
  /** With so many it is written anew. */
  readonly mostChanges: number;
}

const suffix = '.json';
/** So many changes of a record are added to its file at least, before it is written anew. */
const fewestChanges = 100;

/**
 * Records of pods, one file each, so that a restart of the agent neither forgets nor repeats a resize. The first line is a record,
 * and each further one what the runtime has been told of a container since, so that a pod of many containers costs no more than
 * their number. A file that cannot be read counts as none; while one cannot be written, the record is in memory only, and `save`
 * answers false.
 */
export class AllocationFiles {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #records = new Map<string, Kept>();

  /** Reads what is there. */
  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
    try {
      makeFoldersSync(folder, 0o700);
      for (const name of readdirSync(folder)) this.#read(name);
    } catch (error) {
      logger.error({ err: error, path: folder }, 'the allocations of pods cannot be read');
    }
  }

  get podUIDs(): readonly string[] {
    return [...this.#records.keys()];
  }

  get(podUID: string): AllocationRecord | undefined {
    return this.#records.get(podUID)?.record;
  }

  /** True once the record is on the disk. */
  save(pod: PodNames & { readonly uid: string }, record: AllocationRecord): boolean {
    const { uid: podUID } = pod;
    const names = { ...this.#records.get(podUID)?.names, ...pod };
    const { actuated } = record;
    const own = { ...record, actuated: { ...actuated, containers: { ...actuated.containers } } };
    const kept = keptOf(own, names);
    this.#records.set(podUID, kept);
    const path = this.#pathOf(podUID);
    try {
      writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${path}.new`, path);
      kept.changes = 0;
      return true;
    } catch (error) {
      this.#logger.error({ err: error, ...podFields(names) }, 'the allocation of a pod cannot be written');
      return false;
    }
  }

  /** The runtime has been told these resources of a container. Nothing happens for a pod without a record. */
  setActuated(podUID: string, containerName: string, resources: Resources): void {
    const kept = this.#records.get(podUID);
    if (kept === undefined) return;
    const { record, changes, names } = kept;
    const { containers } = record.actuated;
    containers[containerName] = resources;
    if (changes === undefined || changes >= kept.mostChanges) {
      this.save({ uid: podUID }, record);
      return;
    }
    try {
      appendFileSync(this.#pathOf(podUID), `\n${JSON.stringify({ [containerName]: resources })}`);
      kept.changes = changes + 1;
    } catch (error) {
      kept.changes = undefined;
      this.#logger.error({ err: error, ...podFields(names), containerName }, 'the allocation of a pod cannot be written');
    }
  }

  delete(podUID: string): void {
    const kept = this.#records.get(podUID);
    if (kept === undefined) return;
    this.#records.delete(podUID);
    try {
      rmSync(this.#pathOf(podUID), { force: true });
    } catch (error) {
      this.#logger.warn({ err: error, ...podFields(kept.names) }, 'the allocation of a pod cannot be removed');
    }
  }

  #read(name: string): void {
    if (!name.endsWith(suffix)) return;
    try {
      const [first = '', ...changes] = readFileSync(join(this.#folder, name), 'utf8').split('\n');
      const record: unknown = JSON.parse(first);
      if (isRecord(record)) {
        for (const change of changes) takeChange(record, change);
        // what was cut off may stand at the end: the next change writes the file anew
        const uid = decodeURIComponent(name.slice(0, -suffix.length));
        this.#records.set(uid, keptOf(record, { uid }));
      } else this.#logger.warn({ path: join(this.#folder, name) }, 'a file is no allocation of a pod');
    } catch (error) {
      this.#logger.warn({ err: error, path: join(this.#folder, name) }, 'the allocation of a pod cannot be read');
    }
  }

  /** A uid of a manifest may hold anything. */
  #pathOf(podUID: string): string {
    return join(this.#folder, encodeURIComponent(podUID) + suffix);
  }
}

function keptOf(record: KeptRecord, names: PodNames): Kept {
  const mostChanges = Math.max(fewestChanges, 2 * Object.keys(record.allocated.containers).length);
  return { record, names, changes: undefined, mostChanges };
}

/** The last line of a file can be cut off. */
function takeChange({ actuated }: KeptRecord, line: string): void {
  try {
    const change: unknown = JSON.parse(line);
    if (isJsonObject(change) && Object.values(change).every(isJsonObject)) Object.assign(actuated.containers, change);
  } catch {
    // the runtime is asked again, and told again where that is needed
  }
}

function isRecord(value: unknown): value is KeptRecord {
  return isJsonObject(value) && isAllocation(value.allocated) && isAllocation(value.actuated);
}

function isAllocation(value: unknown): boolean {
  return isJsonObject(value) && isJsonObject(value.containers) && Object.values(value.containers).every(isJsonObject);
}
