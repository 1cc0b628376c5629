import { podUIDOf } from '../../../../../src/api/pod/pod-identity.ts';
import { type Clock, isStaticPod, type Pod, type StatusManager, type WirePodStatus } from '../../../../../src/index.ts';
import type { ProbeManager } from '../../../../../src/node/probes/probe-manager.ts';
import {
  BackoffError,
  generatePodStatus,
  type PodSyncer,
  RestartBackoff,
  type RunningPod,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
  type SyncPodRequest,
  type SyncPodResult,
  type SyncTerminatedPodRequest,
  type SyncTerminatingPodRequest,
  type WaitingReason,
} from '../../../../../src/node.ts';
import type { Life } from '../runtime/lives.ts';
import { actionsFor, newestOf } from './pod-life.ts';
import type { RuntimePort } from './runtime-port.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

export interface SyncerParts {
  readonly port: RuntimePort;
  readonly statusManager: StatusManager;
  readonly probes: Pick<ProbeManager, 'addPod' | 'removePod' | 'stopLivenessAndStartup' | 'result' | 'containerState'>;
  readonly clock: Clock;
  readonly hostIPs: readonly string[];
  /** The life that the next run of this container has: no choice of the agent's. */
  readonly lifeOf: (pod: Pod, container: Container) => Life;
}

/** Runs pods on the simulated runtime, as a kubelet does it on a real one. */
export class NodePodSyncer implements PodSyncer {
  readonly #parts: SyncerParts;
  readonly #backoff: RestartBackoff;
  readonly #reasons = new Map<string, Map<string, WaitingReason>>();

  constructor(parts: SyncerParts) {
    this.#parts = parts;
    this.#backoff = new RestartBackoff({ clock: parts.clock });
  }

  async syncPod({ pod, runtimeStatus }: SyncPodRequest, signal: AbortSignal): Promise<SyncPodResult> {
    const status = this.#status(pod, runtimeStatus, false);
    this.#tell(pod, status);
    if (status.phase === 'Succeeded' || status.phase === 'Failed') return { isTerminal: true };
    const { port, probes } = this.#parts;
    probes.addPod(pod);
    const uid = podUIDOf(pod);
    const { sandboxes } = runtimeStatus;
    if (!sandboxes.some(({ ready }) => ready)) {
      await port.runSandbox(identityOf(pod), sandboxes.length, signal);
      signal.throwIfAborted();
    }
    const mustRestart = (id: string): boolean => probes.result('liveness', id) === 'Failure';
    const { toStop, toStart } = actionsFor(pod, runtimeStatus, mustRestart);
    const graceSeconds = Math.max(1, pod.spec?.terminationGracePeriodSeconds ?? 30);
    await this.#all(toStop.map(({ id }) => port.stopContainer(uid, id, graceSeconds, signal)));
    const waits: BackoffError[] = [];
    for (const container of toStart) {
      signal.throwIfAborted();
      await this.#start(pod, container, runtimeStatus, signal, waits);
    }
    if (waits.length > 0) throw new AggregateError(waits, 'some containers wait');
    return { isTerminal: false };
  }

  async syncTerminatingPod(request: SyncTerminatingPodRequest, signal: AbortSignal): Promise<void> {
    const { pod, runtimeStatus, gracePeriodSeconds, podStatusFn } = request;
    const { probes, port } = this.#parts;
    this.#tellWith(pod, this.#status(pod, runtimeStatus, false), podStatusFn);
    probes.stopLivenessAndStartup(pod);
    const graceSeconds = gracePeriodSeconds ?? Math.max(1, pod.spec?.terminationGracePeriodSeconds ?? 30);
    await this.#kill(runtimeStatus, graceSeconds, signal);
    probes.removePod(pod);
    const after = await port.podStatus(podUIDOf(pod), signal);
    if (runs(after)) throw new Error(`pod ${pod.metadata?.name} still runs`);
    this.#tellWith(pod, this.#status(pod, after, true), podStatusFn);
  }

  async syncTerminatingRuntimePod({ uid }: RunningPod, signal: AbortSignal): Promise<void> {
    await this.#kill(await this.#parts.port.podStatus(uid, signal), 1, signal);
    if (runs(await this.#parts.port.podStatus(uid, signal))) throw new Error(`pod ${uid} still runs`);
  }

  async syncTerminatedPod({ pod, runtimeStatus, podStatusFn }: SyncTerminatedPodRequest): Promise<void> {
    this.#tellWith(pod, this.#status(pod, runtimeStatus, true), podStatusFn);
    this.#reasons.delete(podUIDOf(pod));
    this.#parts.statusManager.terminatePod(pod);
  }

  /** Forgets what it counts of containers that have been quiet for long. */
  gc(): void {
    this.#backoff.gc();
  }

  async #start(
    pod: Pod,
    container: Container,
    runtimeStatus: RuntimePodStatus,
    signal: AbortSignal,
    waits: BackoffError[],
  ): Promise<void> {
    const { port, clock, lifeOf } = this.#parts;
    const answer = this.#backoff.tryRestart(pod, container, runtimeStatus);
    const reasons = this.#reasons.get(podUIDOf(pod)) ?? new Map<string, WaitingReason>();
    this.#reasons.set(podUIDOf(pod), reasons);
    if (answer.wait) {
      reasons.set(container.name, { reason: answer.reason, message: answer.message });
      waits.push(new BackoffError(answer.message, clock.now() + answer.remainingMs));
      return;
    }
    reasons.delete(container.name);
    const attempt = (newestOf(runtimeStatus, container.name)?.restartCount ?? -1) + 1;
    const request = { name: container.name, image: container.image ?? '', attempt };
    await port.startContainer(podUIDOf(pod), request, lifeOf(pod, container), signal);
  }

  async #kill({ podUID, containers }: RuntimePodStatus, graceSeconds: number, signal: AbortSignal): Promise<void> {
    const { port } = this.#parts;
    const running = containers.filter(({ state }) => state === 'running');
    await this.#all(running.map(({ id }) => port.stopContainer(podUID, id, graceSeconds, signal)));
    signal.throwIfAborted();
    // a container may have begun since the status was read
    const now = await port.podStatus(podUID, signal);
    if (now.containers.some(isRunning)) throw new Error(`a container of ${podUID} still runs`);
    if (now.sandboxes.some(({ ready }) => ready)) await port.stopSandboxes(podUID, signal);
  }

  /** Waits for all, then throws the first failure. */
  async #all(calls: readonly Promise<void>[]): Promise<void> {
    for (const result of await Promise.allSettled(calls)) if (result.status === 'rejected') throw result.reason;
  }

  #status(pod: Pod, runtimeStatus: RuntimePodStatus, podIsTerminal: boolean): WirePodStatus {
    const { statusManager, hostIPs, probes } = this.#parts;
    const previous = statusManager.getPodStatus(podUIDOf(pod));
    return generatePodStatus({
      pod,
      runtimeStatus,
      previous,
      podIsTerminal,
      hostIPs,
      probes,
      reasons: this.#reasons.get(podUIDOf(pod)),
    });
  }

  #tellWith(pod: Pod, status: WirePodStatus, podStatusFn: SyncTerminatingPodRequest['podStatusFn']): void {
    podStatusFn?.(status);
    this.#tell(pod, status);
  }

  #tell(pod: Pod, status: WirePodStatus): void {
    this.#parts.statusManager.setPodStatus(pod, status);
  }
}

function identityOf(pod: Pod) {
  const { name = '', namespace = '' } = pod.metadata ?? {};
  return { uid: podUIDOf(pod), name, namespace, isStatic: isStaticPod(pod) };
}

function runs({ containers, sandboxes }: RuntimePodStatus): boolean {
  return containers.some(isRunning) || sandboxes.some(({ ready }) => ready);
}

function isRunning({ state }: RuntimeContainerStatus): boolean {
  return state === 'running';
}
