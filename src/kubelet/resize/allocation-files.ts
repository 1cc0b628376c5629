import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../api/json/json.ts';
import type { Logger } from '../../base/logging/logger.ts';
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
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const name of readdirSync(folder)) this.#read(name);
    } catch (error) {
      logger.error({ err: error, folder }, 'the allocations of pods cannot be read');
    }
  }

  get podUIDs(): readonly string[] {
    return [...this.#records.keys()];
  }

  get(podUID: string): AllocationRecord | undefined {
    return this.#records.get(podUID)?.record;
  }

  /** True once the record is on the disk. */
  save(podUID: string, record: AllocationRecord): boolean {
    const { actuated } = record;
    const own = { ...record, actuated: { ...actuated, containers: { ...actuated.containers } } };
    const kept = keptOf(own);
    this.#records.set(podUID, kept);
    const path = this.#pathOf(podUID);
    try {
      writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${path}.new`, path);
      kept.changes = 0;
      return true;
    } catch (error) {
      this.#logger.error({ err: error, podUID }, 'the allocation of a pod cannot be written');
      return false;
    }
  }

  /** The runtime has been told these resources of a container. Nothing happens for a pod without a record. */
  setActuated(podUID: string, containerName: string, resources: Resources): void {
    const kept = this.#records.get(podUID);
    if (kept === undefined) return;
    const { record, changes } = kept;
    const { containers } = record.actuated;
    containers[containerName] = resources;
    if (changes === undefined || changes >= kept.mostChanges) {
      this.save(podUID, record);
      return;
    }
    try {
      appendFileSync(this.#pathOf(podUID), `\n${JSON.stringify({ [containerName]: resources })}`);
      kept.changes = changes + 1;
    } catch (error) {
      kept.changes = undefined;
      this.#logger.error({ err: error, podUID }, 'the allocation of a pod cannot be written');
    }
  }

  delete(podUID: string): void {
    if (!this.#records.delete(podUID)) return;
    try {
      rmSync(this.#pathOf(podUID), { force: true });
    } catch (error) {
      this.#logger.warn({ err: error, podUID }, 'the allocation of a pod cannot be removed');
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
        this.#records.set(decodeURIComponent(name.slice(0, -suffix.length)), keptOf(record));
      } else this.#logger.warn({ file: name }, 'a file is no allocation of a pod');
    } catch (error) {
      this.#logger.warn({ err: error, file: name }, 'the allocation of a pod cannot be read');
    }
  }

  /** A uid of a manifest may hold anything. */
  #pathOf(podUID: string): string {
    return join(this.#folder, encodeURIComponent(podUID) + suffix);
  }
}

function keptOf(record: KeptRecord): Kept {
  const mostChanges = Math.max(fewestChanges, 2 * Object.keys(record.allocated.containers).length);
  return { record, changes: undefined, mostChanges };
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
