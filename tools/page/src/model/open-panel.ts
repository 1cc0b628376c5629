import type { DebugPod } from '../../../../src/observe/debug/debug-api.ts';

/** The pod whose timeline is shown. */
export interface OpenPodState {
  readonly podUID: string;
  /** What was last read; undefined until the first answer. */
  readonly pod: DebugPod | undefined;
  /** Why the last read gave nothing; undefined when it gave the pod. */
  readonly problem: string | undefined;
}

export interface OpenPodOptions {
  /** Reads a pod; undefined when there is none of that UID. */
  readonly read: (podUID: string) => Promise<DebugPod | undefined>;
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  readonly onChange: () => void;
}

/** A pod that changes all the time is read so often, and no more. */
const refreshMs = 500;

/** Reads one pod, and again after each change of it: one read at a time, the newest wish wins. */
export class OpenPod {
  readonly #options: OpenPodOptions;
  #state: OpenPodState | undefined;
  /** One object for each pod that is opened: an answer for one that was closed since is dropped. */
  #visit: object = {};
  #isReading = false;
  #isStale = false;
  #cancelTimer = (): void => {};

  constructor(options: OpenPodOptions) {
    this.#options = options;
  }

  get state(): OpenPodState | undefined {
    return this.#state;
  }

  open(podUID: string): void {
    if (this.#state?.podUID === podUID) return;
    this.close();
    this.#state = { podUID, pod: undefined, problem: undefined };
    void this.#read();
  }

  close(): void {
    this.#cancelTimer();
    this.#visit = {};
    this.#isReading = false;
    this.#isStale = false;
    this.#state = undefined;
    this.#options.onChange();
  }

  /** The pod has changed, or the connection is new. */
  refresh(): void {
    if (this.#state === undefined) return;
    if (this.#isReading) this.#isStale = true;
    else void this.#read();
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const visit = this.#visit;
    const { podUID, pod: known } = this.#state ?? { podUID: '', pod: undefined };
    this.#isReading = true;
    const answer = await this.#options.read(podUID).then(
      (pod) => ({ pod, problem: pod === undefined ? 'The server knows no such pod any more.' : undefined }),
      (error: unknown) => ({ pod: undefined, problem: `The pod could not be read: ${String(error)}` }),
    );
    if (visit !== this.#visit) return;
    this.#state = { podUID, pod: answer.pod ?? known, problem: answer.problem };
    this.#options.onChange();
    this.#cancelTimer = this.#options.setTimer(() => this.#readAgain(), refreshMs);
  }

  #readAgain(): void {
    this.#isReading = false;
    if (!this.#isStale) return;
    this.#isStale = false;
    void this.#read();
  }
}
