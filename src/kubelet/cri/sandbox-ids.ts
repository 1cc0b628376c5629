import type { ContainerRecord } from '../runtime/runtime-containers.ts';

/** In which sandbox a container is: the status of a container in CRI does not say it, a list does. */
export class SandboxIDs {
  #ids = new Map<string, string>();

  of(containerID: string): string | undefined {
    return this.#ids.get(containerID);
  }

  add(containerID: string, sandboxID: string): void {
    this.#ids.set(containerID, sandboxID);
  }

  delete(containerID: string): void {
    this.#ids.delete(containerID);
  }

  /** A list of all containers: who is not on it is gone. */
  replace(containers: readonly ContainerRecord[]): void {
    this.#ids = new Map(containers.map(({ id, sandboxID }) => [id, sandboxID]));
  }
}
