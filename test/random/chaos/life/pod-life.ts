import { isStaticPod, type WirePod, type WirePodStatus } from '../../../../src/index.ts';
import type { Prng } from '../prng.ts';
import { ContainerLife } from './container-life.ts';
import { type PodShape, shapeOf } from './pod-shape.ts';

export type TerminalPhase = 'Succeeded' | 'Failed';

/** Said of a pod as a whole when something other than a container ended it. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

const termination = 'the last words of a container; ';

/**
 * What is true of one pod on the node, which may not be what was said of it. It outlives the manager's process, as
 * containers do. Only the agent changes it.
 */
export class PodLife {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly isStatic: boolean;
  readonly shape: PodShape;
  readonly initContainers: readonly ContainerLife[];
  readonly containers: readonly ContainerLife[];
  /** False: the agent leaves it to the manager, or to `terminatePod`, to say that the pod is over. */
  readonly saysHowItEnded: boolean;
  ip = '';
  /** The terminal phase that the agent says while containers may still stop. */
  saysPhase: TerminalPhase | undefined;
  failure: Failure | undefined;
  /** The newest status has an address that no apiserver takes. */
  misspoke = false;
  deletionSeen = false;
  /** Nothing of it is left on the node: volumes, cgroup. */
  reclaimed = false;
  /** `terminatePod` was called for it, by this process of the agent or one before. */
  finished = false;
  /** Nothing of it is to run any more: a user has deleted it, or it failed. */
  #isEnding = false;

  constructor(pod: WirePod, prng: Prng) {
    const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
    this.uid = uid;
    this.namespace = namespace;
    this.name = name;
    this.isStatic = isStaticPod(pod);
    this.shape = shapeOf(pod);
    this.initContainers = this.shape.initContainers.map((c) => new ContainerLife(c.name, c.isSidecar ? 'sidecar' : 'init', uid));
    this.containers = this.shape.containers.map((container) => new ContainerLife(container, 'regular', uid));
    this.saysHowItEnded = prng.chance(0.6);
    this.move(prng);
  }

  /** Names the pod in the ledger: by its uid, or a static pod by its name, since its mirror pods come and go. */
  get owner(): string {
    return this.isStatic ? ownerOfStatic(this.namespace, this.name) : this.uid;
  }

  get all(): readonly ContainerLife[] {
    return [...this.initContainers, ...this.containers];
  }

  /** Containers with a probe: they run, and are meant to go on. */
  get probed(): readonly ContainerLife[] {
    return this.all.filter(({ kind, isRunning }) => kind !== 'init' && isRunning);
  }

  /** Containers run, or are about to. */
  get couldRun(): boolean {
    return this.all.some(({ isRunning }) => isRunning) || (!this.isOver && this.all.some(({ hasRun }) => hasRun));
  }

  /** Nothing runs, and nothing will. */
  get isOver(): boolean {
    if (this.all.some(({ isRunning }) => isRunning)) return false;
    return this.#isEnding || (this.containers.every(({ hasRun }) => hasRun) && !this.containers.some((c) => this.#mayRun(c)));
  }

  get isInitialized(): boolean {
    return this.initContainers.every((c) => (c.kind === 'sidecar' ? c.started : c.exitCode === 0));
  }

  get phase(): string {
    if (this.saysPhase !== undefined) return this.saysPhase;
    if (this.isOver && this.saysHowItEnded && !this.isStatic)
      return this.containers.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
    return this.containers.some(({ hasRun }) => hasRun) ? 'Running' : 'Pending';
  }

  /** Another address, and every third time one of each family. */
  move(prng: Prng): void {
    this.ip = `10.${prng.int(0, 250)}.${prng.int(0, 250)}.${prng.int(1, 250)}`;
  }

  get ips(): readonly string[] {
    const last = Number(this.ip.split('.')[3]);
    return last % 3 === 0 ? [this.ip, `fd00::${last.toString(16)}`] : [this.ip];
  }

  /** The next thing that happens to its containers. */
  advance(prng: Prng, now: string): void {
    if (this.#isEnding) {
      this.#endOne(prng, now);
      return;
    }
    const blocked = this.initContainers.find((c) => (c.kind === 'sidecar' ? !c.hasRun : c.exitCode !== 0));
    if (blocked !== undefined) this.#advanceInit(blocked, prng, now);
    else if (this.containers.some(({ hasRun }) => !hasRun)) for (const c of this.containers) c.start(now);
    else if (this.containers.some((c) => c.isRunning || this.#mayRun(c))) this.#advanceContainer(prng, now);
    else this.#isEnding = true;
  }

  /** It fails as a whole; its containers stop later. */
  fail(failure: Failure): void {
    this.saysPhase = 'Failed';
    this.failure = failure;
    this.#isEnding = true;
  }

  /** From now on no container starts; those that run will end. */
  beginToEnd(): void {
    this.#isEnding = true;
  }

  /** All that runs is killed at once. */
  endAll(now: string): void {
    this.#isEnding = true;
    for (const container of this.all) if (container.isRunning) container.end(now, 137, undefined);
  }

  /** What was said of containers whose end the agent did not see is true from now on. */
  giveUp(said: WirePodStatus): void {
    const statuses = [...(said.containerStatuses ?? []), ...(said.initContainerStatuses ?? [])];
    for (const container of this.all) {
      const end = statuses.find(({ name }) => name === container.name)?.state?.terminated;
      if (container.exitCode === undefined && end !== undefined) container.giveUp(end);
    }
  }

  #advanceInit(container: ContainerLife, prng: Prng, now: string): void {
    if (container.isRunning) container.end(now, prng.chance(0.7) ? 0 : 1, messageOf(prng));
    else if (!container.hasRun) container.start(now);
    else if (this.shape.restartPolicy === 'Never') this.#isEnding = true;
    else if (container.exitCode !== undefined && prng.chance(0.5)) container.backOff();
    else container.start(now);
    if (container.isRunning && container.kind === 'sidecar') container.started = true;
  }

  #advanceContainer(prng: Prng, now: string): void {
    const sidecars = this.initContainers.filter(({ kind }) => kind === 'sidecar');
    const container = prng.pick([...this.containers, ...sidecars]);
    if (container === undefined) return;
    if (container.isRunning) {
      const exitCode = prng.pick([0, 1, 137]) ?? 0;
      // most containers go on running
      if (exitCode !== 0 || this.shape.restartPolicy === 'Always' || prng.chance(0.3))
        container.end(now, exitCode, messageOf(prng));
    } else if (!this.#mayRun(container)) return;
    else if (container.exitCode !== undefined && prng.chance(0.5)) container.backOff();
    else container.start(now);
  }

  /** May a container that does not run be started (again)? */
  #mayRun({ kind, exitCode }: ContainerLife): boolean {
    const { restartPolicy } = this.shape;
    if (exitCode === undefined || kind === 'sidecar' || restartPolicy === 'Always') return true;
    return restartPolicy === 'OnFailure' && exitCode !== 0;
  }

  #endOne(prng: Prng, now: string): void {
    const running = this.all.filter(({ isRunning }) => isRunning);
    for (const container of prng.chance(0.5) ? running : running.slice(0, 1)) {
      container.end(now, prng.pick([0, 137, 143]) ?? 0, messageOf(prng));
    }
  }
}

export function ownerOfStatic(namespace: string, name: string): string {
  return `static:${namespace}/${name}`;
}

/** Most containers leave no message; a few leave one that is longer than a pod may have. */
function messageOf(prng: Prng): string | undefined {
  if (!prng.chance(0.3)) return undefined;
  return termination.repeat(prng.chance(0.02) ? 420 : prng.int(1, 3));
}
