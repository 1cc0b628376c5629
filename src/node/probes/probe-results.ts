import type { ProbeResult, ProbeType } from './probe-types.ts';

/** What the probes have last said of each container. Behaviour of pkg/kubelet/prober/results, v1.36.3. */
export class ProbeResults {
  readonly #results: Readonly<Record<ProbeType, Map<string, ProbeResult>>> = {
    liveness: new Map(),
    readiness: new Map(),
    startup: new Map(),
  };

  get(type: ProbeType, containerID: string | undefined): ProbeResult | undefined {
    return containerID === undefined ? undefined : this.#results[type].get(containerID);
  }

  /** True when that is another result than before. */
  set(type: ProbeType, containerID: string, result: ProbeResult): boolean {
    const results = this.#results[type];
    if (results.get(containerID) === result) return false;
    results.set(containerID, result);
    return true;
  }

  remove(type: ProbeType, containerID: string): void {
    this.#results[type].delete(containerID);
  }

  clear(): void {
    for (const results of Object.values(this.#results)) results.clear();
  }
}
