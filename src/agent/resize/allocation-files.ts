import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../seams/logger.ts';
import type { PodAllocation } from './pod-allocation.ts';

/** What is kept of one pod. */
export interface AllocationRecord {
  /** What the node has promised the pod. */
  readonly allocated: PodAllocation;
  /** What the runtime was last told, and has accepted. */
  readonly actuated: PodAllocation;
}

const suffix = '.json';

/**
 * Records of pods, one file each, so that a restart of the agent neither forgets nor repeats a resize. A file that cannot be read
 * counts as none; while one cannot be written, the record is in memory only, and `save` answers false.
 */
export class AllocationFiles {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #records = new Map<string, AllocationRecord>();

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
    return this.#records.get(podUID);
  }

  /** True once the record is on the disk. */
  save(podUID: string, record: AllocationRecord): boolean {
    this.#records.set(podUID, record);
    const path = this.#pathOf(podUID);
    try {
      writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${path}.new`, path);
      return true;
    } catch (error) {
      this.#logger.error({ err: error, podUID }, 'the allocation of a pod cannot be written');
      return false;
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
      const record: unknown = JSON.parse(readFileSync(join(this.#folder, name), 'utf8'));
      if (isRecord(record)) this.#records.set(decodeURIComponent(name.slice(0, -suffix.length)), record);
      else this.#logger.warn({ file: name }, 'a file is no allocation of a pod');
    } catch (error) {
      this.#logger.warn({ err: error, file: name }, 'the allocation of a pod cannot be read');
    }
  }

  /** A uid of a manifest may hold anything. */
  #pathOf(podUID: string): string {
    return join(this.#folder, encodeURIComponent(podUID) + suffix);
  }
}

function isRecord(value: unknown): value is AllocationRecord {
  return isObject(value) && isAllocation(value.allocated) && isAllocation(value.actuated);
}

function isAllocation(value: unknown): boolean {
  return isObject(value) && isObject(value.containers) && Object.values(value.containers).every(isObject);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
