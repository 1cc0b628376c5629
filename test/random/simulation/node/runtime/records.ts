import type { RuntimeContainerStatus } from '../../../../../src/node.ts';
import type { Life } from './lives.ts';

export interface PodIdentity {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly isStatic: boolean;
}

export class SandboxRecord {
  readonly id: string;
  readonly pod: PodIdentity;
  readonly attempt: number;
  readonly ip: string;
  isReady = true;

  constructor(id: string, pod: PodIdentity, attempt: number, ip: string) {
    this.id = id;
    this.pod = pod;
    this.attempt = attempt;
    this.ip = ip;
  }
}

/** How a container has ended. */
export interface ContainerEnd {
  readonly exitCode: number;
  readonly reason: string;
  /** By the machine's clock. */
  readonly finishedAt: number;
  /** By the simulation's clock. */
  readonly endedMs: number;
}

export interface ContainerStart {
  readonly sandboxID: string;
  readonly pod: PodIdentity;
  readonly name: string;
  readonly image: string;
  readonly attempt: number;
  readonly life: Life;
  /** By the machine's clock. */
  readonly startedAt: number;
  /** By the simulation's clock. */
  readonly startedMs: number;
}

/** One run of a container. */
export class ContainerRecord {
  readonly id: string;
  readonly start: ContainerStart;
  readonly ended: Promise<void>;
  /** When the runtime kills it, by the simulation's clock. */
  killMs = Number.POSITIVE_INFINITY;
  isToldToEnd = false;
  readonly #noteEnd: () => void;
  #end: ContainerEnd | undefined;

  constructor(id: string, start: ContainerStart) {
    this.id = id;
    this.start = start;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#noteEnd = resolve;
  }

  get pod(): PodIdentity {
    return this.start.pod;
  }

  get name(): string {
    return this.start.name;
  }

  get attempt(): number {
    return this.start.attempt;
  }

  get sandboxID(): string {
    return this.start.sandboxID;
  }

  get life(): Life {
    return this.start.life;
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  get endOfRun(): ContainerEnd | undefined {
    return this.#end;
  }

  end(end: ContainerEnd): void {
    this.#end = end;
    this.#noteEnd();
  }

  /** As an agent sees it. */
  shown(isActive: boolean): RuntimeContainerStatus {
    const { name, image, attempt, startedAt } = this.start;
    const common = { id: this.id, name, image, imageRef: `${image}@sha256:0`, restartCount: attempt, active: isActive };
    const times = { createdAt: startedAt, startedAt };
    if (this.#end === undefined) return { ...common, ...times, state: 'running' };
    const { exitCode, reason, finishedAt } = this.#end;
    return { ...common, ...times, state: 'exited', exitCode, reason, finishedAt };
  }

  toString(): string {
    return `${this.pod.name}/${this.name}#${this.attempt} (${this.id}, pod ${this.pod.uid})`;
  }
}
