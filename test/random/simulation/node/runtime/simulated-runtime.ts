import type { CancelTimer } from '../../../../../src/index.ts';
import type { RunningPod, RuntimePodStatus } from '../../../../../src/node.ts';
import type { SimulatedClock } from '../../simulated-clock.ts';
import type { Life } from './lives.ts';
import { ContainerRecord, type PodIdentity, SandboxRecord } from './records.ts';

/** Hears of everything that the runtime does and is asked to do, at the moment when it does. */
export interface RuntimeWitness {
  containerStarted(container: ContainerRecord): void;
  /** An agent asks that the container ends. */
  stopAsked(container: ContainerRecord, gracePeriodSeconds: number): void;
  /** An agent asks that the sandbox ends, and with it what runs in it. */
  sandboxStopAsked(sandbox: SandboxRecord, running: readonly ContainerRecord[]): void;
}

export interface RuntimeParts {
  readonly clock: SimulatedClock;
  /** The machine's wall clock. */
  readonly now: () => number;
  readonly witness: RuntimeWitness;
}

/** What the agent wants a container to be. */
export interface ContainerRequest {
  /** Where it is to run: a sandbox that has ended since takes it no more. */
  readonly sandboxID: string | undefined;
  readonly name: string;
  readonly image: string;
  readonly attempt: number;
}

/** The container runtime of a machine: it outlives its agents. Every method takes effect at once. */
export class SimulatedRuntime {
  readonly #parts: RuntimeParts;
  readonly #sandboxes = new Map<string, SandboxRecord>();
  readonly #containers = new Map<string, ContainerRecord>();
  readonly #killTimers = new Map<ContainerRecord, CancelTimer>();
  readonly #listeners = new Set<(podUID: string) => void>();
  #lastID = 0;

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
  }

  /** Told of each pod of which something has changed. Returns a function that ends it. */
  onChange(listener: (podUID: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The newest first. */
  containersOf(podUID: string): ContainerRecord[] {
    return [...this.#containers.values()].filter(({ pod }) => pod.uid === podUID).reverse();
  }

  sandboxesOf(podUID: string): SandboxRecord[] {
    return [...this.#sandboxes.values()].filter(({ pod }) => pod.uid === podUID).reverse();
  }

  get running(): ContainerRecord[] {
    return [...this.#containers.values()].filter(({ isRunning }) => isRunning);
  }

  container(id: string): ContainerRecord | undefined {
    return this.#containers.get(id);
  }

  podStatus(podUID: string): RuntimePodStatus {
    const [containers, sandboxes] = [this.containersOf(podUID), this.sandboxesOf(podUID)];
    const inUse = sandboxes.find(({ isReady }) => isReady);
    return {
      podUID,
      ips: inUse === undefined ? [] : [inUse.ip],
      containers: containers.map((container) => container.shown(container.sandboxID === (inUse ?? sandboxes[0])?.id)),
      sandboxes: sandboxes.map(({ isReady, ip }) => ({ ready: isReady, network: { ip } })),
    };
  }

  /** Every pod that has a sandbox or a container that is not over. */
  runningPods(): RunningPod[] {
    const pods = new Map<string, PodIdentity>();
    for (const { pod, isReady } of this.#sandboxes.values()) if (isReady) pods.set(pod.uid, pod);
    for (const { pod } of this.running) pods.set(pod.uid, pod);
    return [...pods.values()].map(({ uid, name, namespace }) => ({ uid, name, namespace }));
  }

  /** The uids of the pods of which nothing but records is left. */
  finishedPods(): string[] {
    const running = new Set(this.runningPods().map(({ uid }) => uid));
    const all = new Set([...this.#sandboxes.values()].map(({ pod }) => pod.uid));
    return [...all].filter((uid) => !running.has(uid));
  }

  /** Throws where the name of this attempt is taken. */
  runSandbox(pod: PodIdentity, attempt: number): void {
    if (this.sandboxesOf(pod.uid).some((each) => each.attempt === attempt))
      throw new Error(`sandbox ${pod.name} ${attempt} is there`);
    const id = this.#newID();
    this.#sandboxes.set(id, new SandboxRecord(id, pod, attempt, `10.0.${this.#lastID >> 8}.${this.#lastID & 255}`));
    this.#tell(pod.uid);
  }

  stopSandboxes(podUID: string): void {
    for (const sandbox of this.sandboxesOf(podUID)) {
      const inside = this.running.filter(({ sandboxID }) => sandboxID === sandbox.id);
      if (sandbox.isReady) this.#parts.witness.sandboxStopAsked(sandbox, inside);
      sandbox.isReady = false;
      for (const container of inside) this.#end(container, 137, 'Error');
    }
    this.#tell(podUID);
  }

  /** The id of the sandbox in which the pod's containers are to be started. */
  sandboxInUse(podUID: string): string | undefined {
    return this.sandboxesOf(podUID).find(({ isReady }) => isReady)?.id;
  }

  /** Throws where the sandbox is not ready, and where the name of this attempt is taken. */
  startContainer(podUID: string, { sandboxID, name, image, attempt }: ContainerRequest, life: Life): void {
    const sandbox = this.#sandboxes.get(sandboxID ?? '');
    if (sandbox?.isReady !== true) throw new Error(`the sandbox of ${podUID} is not ready`);
    const isTaken = this.containersOf(podUID).some((each) => each.name === name && each.attempt === attempt);
    if (isTaken) throw new Error(`container ${name} ${attempt} of ${sandbox.pod.name} is there`);
    const { clock, now, witness } = this.#parts;
    const begun = {
      sandboxID: sandbox.id,
      pod: sandbox.pod,
      name,
      image,
      attempt,
      life,
      startedAt: now(),
      startedMs: clock.elapsedMs,
    };
    const container = new ContainerRecord(this.#newID(), begun);
    this.#containers.set(container.id, container);
    witness.containerStarted(container);
    if (life.runMs < Number.POSITIVE_INFINITY) {
      clock.schedule(() => this.#end(container, life.exitCode, life.exitCode === 0 ? 'Completed' : 'Error'), life.runMs);
    }
    this.#tell(podUID);
  }

  /** Tells the container to end, and kills it after the grace period. A later call can only shorten that. Resolves when it has ended. */
  stopContainer(id: string, gracePeriodSeconds: number): Promise<void> {
    const container = this.#containers.get(id);
    if (container === undefined || !container.isRunning) return Promise.resolve();
    const { clock, witness } = this.#parts;
    witness.stopAsked(container, gracePeriodSeconds);
    const { onTerm } = container.life;
    if (!container.isToldToEnd && onTerm !== undefined) {
      clock.schedule(() => this.#end(container, onTerm.exitCode, onTerm.exitCode === 0 ? 'Completed' : 'Error'), onTerm.afterMs);
    }
    container.isToldToEnd = true;
    const killMs = clock.elapsedMs + gracePeriodSeconds * 1000;
    if (killMs < container.killMs) {
      container.killMs = killMs;
      this.#killTimers.get(container)?.();
      this.#killTimers.set(
        container,
        clock.schedule(() => this.#end(container, 137, 'Error'), gracePeriodSeconds * 1000),
      );
    }
    return container.ended;
  }

  /** Nobody waits for the end any more: the runtime does not see to it either. */
  abandonStop(id: string): void {
    const container = this.#containers.get(id);
    if (container === undefined) return;
    this.#killTimers.get(container)?.();
    container.killMs = Number.POSITIVE_INFINITY;
  }

  /** Removes all records of a pod of which nothing runs. */
  forget(podUID: string): void {
    if (this.runningPods().some(({ uid }) => uid === podUID)) throw new Error(`${podUID} runs`);
    for (const { id } of this.sandboxesOf(podUID)) this.#sandboxes.delete(id);
    for (const { id } of this.containersOf(podUID)) this.#containers.delete(id);
    this.#tell(podUID);
  }

  #end(container: ContainerRecord, exitCode: number, reason: string): void {
    if (!container.isRunning) return;
    const { clock, now } = this.#parts;
    this.#killTimers.get(container)?.();
    this.#killTimers.delete(container);
    container.end({ exitCode, reason, finishedAt: now(), endedMs: clock.elapsedMs });
    this.#tell(container.pod.uid);
  }

  #newID(): string {
    return `sim://${++this.#lastID}`;
  }

  #tell(podUID: string): void {
    for (const listener of this.#listeners) listener(podUID);
  }
}
