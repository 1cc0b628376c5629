import { randomUUID } from 'node:crypto';
import type { GivenContainer, GivenEnd } from 'pod-status-manager/node';

interface ContainerSpec {
  readonly name: string;
  readonly image?: string | undefined;
  readonly restartPolicy?: string | undefined;
}

/** A container that runs no process. The demo sets its state; `given` shows it in the form that the library makes a status of. */
export class VirtualContainer {
  readonly name: string;
  readonly isSidecar: boolean;
  readonly #image: string;
  #id: string | undefined;
  #state: GivenContainer['state'] = 'waiting';
  #startedAt = new Date(0);
  #end: GivenEnd | undefined;
  /** How the run before ended. */
  #lastEnd: GivenEnd | undefined;
  #restarts = 0;
  /** The last probe results. */
  started = false;
  ready = false;

  constructor(spec: ContainerSpec, isInit: boolean) {
    this.name = spec.name;
    this.isSidecar = isInit && spec.restartPolicy === 'Always';
    this.#image = spec.image ?? '';
  }

  /** Of the last run; empty before the first. */
  get id(): string {
    return this.#id ?? '';
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Runs, for the first time or again. */
  start(): void {
    if (this.#id !== undefined) this.#restarts++;
    this.#lastEnd = this.#end;
    this.#id = `virtual://${randomUUID()}`;
    this.#startedAt = new Date();
    this.#state = 'running';
  }

  exit(exitCode: number): void {
    this.#end = { exitCode, startedAt: this.#startedAt, finishedAt: new Date(), id: this.#id };
    this.#state = 'exited';
    this.started = false;
    this.ready = false;
  }

  /** Makes an ended container wait to run again. */
  backOff(): void {
    this.#lastEnd = this.#end;
    this.#state = 'waiting';
  }

  get given(): GivenContainer {
    const common = {
      name: this.name,
      state: this.#state,
      restartCount: this.#restarts,
      id: this.#id,
      imageID: this.#id === undefined ? '' : `${this.#image}@sha256:${'0'.repeat(64)}`,
      lastState: this.#lastEnd,
    };
    if (this.isRunning) return { ...common, startedAt: this.#startedAt, ready: this.ready, started: this.started };
    if (this.#state === 'exited') return { ...common, ...this.#end };
    if (this.#end === undefined) return common;
    return { ...common, reason: 'CrashLoopBackOff', message: `back-off restarting failed container ${this.name}` };
  }
}
