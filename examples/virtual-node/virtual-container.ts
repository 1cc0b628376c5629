import { randomUUID } from 'node:crypto';
import type { WirePodStatus } from '../../src/index.ts';

export type ContainerStatus = NonNullable<WirePodStatus['containerStatuses']>[number];
type ContainerState = NonNullable<ContainerStatus['state']>;

const now = (): string => new Date().toISOString();

/** A container that runs no process. The demo sets its state; `status` shows it in the API's form. */
export class VirtualContainer {
  readonly name: string;
  readonly image: string;
  readonly isInit: boolean;
  readonly isSidecar: boolean;
  #id = '';
  #state: ContainerState;
  #lastState: ContainerState = {};
  #restarts = 0;
  /** The last probe results. */
  started = false;
  ready = false;

  constructor(spec: { name: string; image?: string; restartPolicy?: string }, isInit: boolean, hasInit: boolean) {
    this.name = spec.name;
    this.image = spec.image ?? '';
    this.isInit = isInit;
    this.isSidecar = isInit && spec.restartPolicy === 'Always';
    this.#state = { waiting: { reason: hasInit ? 'PodInitializing' : 'ContainerCreating' } };
  }

  get id(): string {
    return this.#id;
  }

  get isRunning(): boolean {
    return this.#state.running !== undefined;
  }

  /** The exit code of a container that has ended and does not wait to run again. */
  get exitCode(): number | undefined {
    return this.#state.terminated?.exitCode;
  }

  get hasRun(): boolean {
    return this.#id !== '';
  }

  /** Runs, for the first time or again. */
  start(): void {
    if (this.hasRun) this.#restarts++;
    if (this.#state.terminated !== undefined) this.#lastState = this.#state;
    this.#id = `virtual://${randomUUID()}`;
    this.#state = { running: { startedAt: now() } };
  }

  exit(exitCode: number): void {
    const startedAt = this.#state.running?.startedAt;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    const times = { finishedAt: now(), ...(startedAt !== undefined && { startedAt }) };
    this.#state = { terminated: { exitCode, reason, containerID: this.#id, ...times } };
    this.started = false;
    // an init container that has done its work counts as ready
    this.ready = this.isInit && !this.isSidecar && exitCode === 0;
  }

  /** Makes an ended container wait to run again. */
  backOff(): void {
    this.#lastState = this.#state;
    this.#state = { waiting: { reason: 'CrashLoopBackOff', message: `back-off restarting failed container ${this.name}` } };
  }

  get status(): ContainerStatus {
    return {
      name: this.name,
      image: this.image,
      imageID: this.hasRun ? `${this.image}@sha256:${'0'.repeat(64)}` : '',
      ...(this.hasRun && { containerID: this.#id }),
      state: this.#state,
      lastState: this.#lastState,
      ready: this.ready,
      started: this.started,
      restartCount: this.#restarts,
    };
  }
}
