import type { WireContainerStatus } from '../../../../src/index.ts';
import { image } from './pod-shape.ts';

export type ContainerKind = 'init' | 'sidecar' | 'regular';

/** How one run of a container ended. */
export type ContainerEnd = NonNullable<NonNullable<WireContainerStatus['state']>['terminated']>;

/** What is true of one container on the node: its runs, one after another, and how the last ones ended. */
export class ContainerLife {
  readonly name: string;
  readonly kind: ContainerKind;
  ready = false;
  started = false;
  readonly #podUID: string;
  #runs = 0;
  #startedAt: string | undefined;
  /** How the present run ended; undefined before that. */
  #end: ContainerEnd | undefined;
  /** How the run before ended. */
  #lastEnd: ContainerEnd | undefined;
  #waitsFor = 'ContainerCreating';

  constructor(name: string, kind: ContainerKind, podUID: string) {
    this.name = name;
    this.kind = kind;
    this.#podUID = podUID;
  }

  get isRunning(): boolean {
    return this.#startedAt !== undefined && this.#end === undefined;
  }

  get hasRun(): boolean {
    return this.#runs > 0;
  }

  /** Undefined unless the present run is over. */
  get exitCode(): number | undefined {
    return this.#end?.exitCode;
  }

  /** Each run has an id of its own. */
  get containerID(): string {
    return `containerd://${this.name}-${this.#runs}-of-${this.#podUID}`;
  }

  start(now: string): void {
    this.#lastEnd = this.#end ?? this.#lastEnd;
    this.#end = undefined;
    this.#startedAt = now;
    this.#runs++;
    this.ready = false;
    this.started = this.kind === 'init';
  }

  end(now: string, exitCode: number, message: string | undefined): void {
    if (this.#startedAt === undefined) return;
    const reason = exitCode === 0 ? 'Completed' : exitCode === 137 ? 'OOMKilled' : 'Error';
    const times = { startedAt: this.#startedAt, finishedAt: now };
    this.#end = { exitCode, reason, ...(message === undefined ? {} : { message }), ...times, containerID: this.containerID };
    this.ready = this.kind === 'init' && exitCode === 0;
    this.started = false;
  }

  /** The agent did not see it end, and it was said to be over. */
  giveUp(end: ContainerEnd): void {
    this.#end = end;
  }

  /** It has ended and waits to be started again. */
  backOff(): void {
    this.#lastEnd = this.#end ?? this.#lastEnd;
    this.#end = undefined;
    this.#startedAt = undefined;
    this.#waitsFor = 'CrashLoopBackOff';
  }

  status(): WireContainerStatus {
    return {
      name: this.name,
      ready: this.ready,
      started: this.started,
      restartCount: Math.max(0, this.#runs - 1),
      image,
      imageID: this.hasRun ? `${image}@sha256:0` : '',
      ...(this.hasRun ? { containerID: this.containerID, user: { linux: { uid: 1000, gid: 1000 } } } : {}),
      state: this.#state(),
      lastState: this.#lastEnd === undefined ? {} : { terminated: this.#lastEnd },
    };
  }

  #state(): NonNullable<WireContainerStatus['state']> {
    if (this.#end !== undefined) return { terminated: this.#end };
    if (this.#startedAt !== undefined) return { running: { startedAt: this.#startedAt } };
    return { waiting: { reason: this.#waitsFor } };
  }
}
