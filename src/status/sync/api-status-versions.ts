/** One pod's version as the apiserver took it. */
interface TakenVersion {
  readonly podUID: string;
  readonly version: number;
}

export interface ApiStatusVersionsReader {
  readonly size: number;
  get(apiUID: string, podUID: string): number;
  uids(): Iterable<string>;
}

/**
 * API pod uid to the last version that the apiserver took. Each pod counts its versions by itself, and a mirror pod may
 * outlive its static pod: a version counts only for the pod that it is of.
 */
export class ApiStatusVersions implements ApiStatusVersionsReader {
  readonly #taken = new Map<string, TakenVersion>();

  get size(): number {
    return this.#taken.size;
  }

  /** 0 when the apiserver has taken none of this pod. */
  get(apiUID: string, podUID: string): number {
    const taken = this.#taken.get(apiUID);
    return taken?.podUID === podUID ? taken.version : 0;
  }

  set(apiUID: string, podUID: string, version: number): void {
    this.#taken.set(apiUID, { podUID, version });
  }

  delete(apiUID: string): void {
    this.#taken.delete(apiUID);
  }

  /** The API pod uids. */
  uids(): Iterable<string> {
    return this.#taken.keys();
  }
}
