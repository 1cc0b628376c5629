import type { Pod, PodStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { callGuarded } from '../../base/guard.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { ProbeCalls } from './probe-calls.ts';
import type { ResolvedProbeManagerOptions } from './probe-manager-options.ts';
import {
  type ProbeFailure,
  type ProbeResult,
  type ProbeResults,
  type ProbeType,
  probeOf,
  probeSettings,
  probeTypes,
} from './probe-types.ts';
import { ProbeWorker } from './probe-worker.ts';
import { Namesakes, type ProbeDefinition } from './probed-container.ts';

interface Entry {
  readonly worker: ProbeWorker;
  readonly calls: ProbeCalls;
}

/** The workers of all pods: by uid, then by type and container. */
export class ProbeWorkers {
  readonly #options: ResolvedProbeManagerOptions;
  readonly #results: ProbeResults;
  readonly #publish: (definition: ProbeDefinition, containerID: string, result: ProbeResult) => void;
  readonly #namesakes = new Namesakes();
  readonly #largeCommands = new OneAtATime();
  readonly #recoveries: RecoveryLines;
  readonly #entries = new Map<string, Map<string, Entry>>();
  /** The calls of workers that are over. */
  readonly #leftovers = new Set<Promise<void>>();

  /** `publish` is called for each result, also one that is not new. It does not throw. */
  constructor(
    options: ResolvedProbeManagerOptions,
    results: ProbeResults,
    publish: (definition: ProbeDefinition, containerID: string, result: ProbeResult) => void,
  ) {
    this.#options = options;
    this.#recoveries = new RecoveryLines(options);
    this.#results = results;
    this.#publish = publish;
  }

  /** Starts a worker for each probe, up to the first that has one already. */
  add(podUID: string, pod: Pod): void {
    for (const container of probedContainers(pod)) {
      for (const type of probeTypes) {
        const probe = probeOf(container, type);
        if (!probe) continue;
        if (this.find(podUID, container.name, type) !== undefined) return;
        this.#start(podUID, { pod, container, type, settings: probeSettings(probe) });
      }
    }
  }

  find(podUID: string, containerName: string, type: ProbeType): ProbeWorker | undefined {
    return this.#entries.get(podUID)?.get(keyOf(containerName, type))?.worker;
  }

  /** The probes of the pod that fail. */
  failures(podUID: string): readonly ProbeFailure[] {
    return Array.from(this.#entries.get(podUID)?.values() ?? []).flatMap(({ calls }) => calls.failure() ?? []);
  }

  podUIDs(): readonly string[] {
    return [...this.#entries.keys()];
  }

  stop(podUID: string, containerName: string, type: ProbeType): void {
    this.find(podUID, containerName, type)?.stop();
    this.#drop(podUID, keyOf(containerName, type));
  }

  stopPod(podUID: string): void {
    for (const [key, { worker }] of this.#entries.get(podUID) ?? []) {
      worker.stop();
      this.#drop(podUID, key);
    }
  }

  /** Resolves when no call is under way, and no timer is left. Nothing may be started meanwhile. */
  async settled(): Promise<void> {
    this.#recoveries.stop();
    await Promise.all(this.#leftovers);
  }

  #start(podUID: string, definition: ProbeDefinition): void {
    const { statusManager, clock, random, logger, agentStart } = this.#options;
    const { container, type } = definition;
    const key = keyOf(container.name, type);
    const shared = { largeCommands: this.#largeCommands, recoveries: this.#recoveries };
    const calls = new ProbeCalls(definition, { ...this.#options, ...shared }, this.#namesakes);
    const podStatus = (): PodStatus | undefined =>
      callGuarded(
        () => statusManager.getPodStatus(podUID),
        (err) =>
          logger.error({ err, ...podFields(definition.pod.metadata) }, 'the status manager failed; a container is not probed'),
      );
    const worker = new ProbeWorker(definition, {
      calls,
      agentStart,
      clock,
      random,
      logger,
      podStatus,
      result: (containerID, result) => this.#publish(definition, containerID, result),
      forget: (containerID) => this.#results.remove(type, containerID),
      ended: () => this.#drop(podUID, key),
    });
    const ofPod = this.#entries.get(podUID) ?? new Map<string, Entry>();
    this.#entries.set(podUID, ofPod.set(key, { worker, calls }));
    worker.start();
  }

  #drop(podUID: string, key: string): void {
    const ofPod = this.#entries.get(podUID);
    const entry = ofPod?.get(key);
    if (ofPod === undefined || entry === undefined) return;
    ofPod.delete(key);
    entry.calls.end();
    if (ofPod.size === 0) this.#entries.delete(podUID);
    const settled = entry.calls.settled();
    this.#leftovers.add(settled);
    void settled.then(() => this.#leftovers.delete(settled));
  }
}

/** The regular containers, then the sidecars. */
function probedContainers({ spec }: Pod): readonly Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isRestartableInitContainer)];
}

function keyOf(containerName: string, type: ProbeType): string {
  return `${type} ${containerName}`;
}
