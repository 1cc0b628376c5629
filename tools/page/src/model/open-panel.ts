/** What is shown beside the table, under the key that opens it: a pod by its uid, a part by its kind. */
export interface OpenPanelState<Shown> {
  readonly key: string;
  /** What was last read; undefined until the first answer. */
  readonly shown: Shown | undefined;
  /** Why the last read gave nothing; undefined when it gave something. */
  readonly failure: string | undefined;
}

export interface OpenPanelOptions<Shown> {
  /** What is read, for messages: `pod`. */
  readonly what: string;
  /** Undefined when there is nothing under this key. */
  readonly read: (key: string) => Promise<Shown | undefined>;
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  readonly onChange: () => void;
}

/** What changes all the time is read so often, and no more. */
const refreshMs = 500;

/** Reads what is open, and again after each change of it: one read at a time, the newest wish wins. */
export class OpenPanel<Shown> {
  readonly #options: OpenPanelOptions<Shown>;
  #state: OpenPanelState<Shown> | undefined;
  /** One object for each opening: an answer for one that was closed since is dropped. */
  #visit: object = {};
  #isReading = false;
  #isStale = false;
  #cancelTimer = (): void => {};

  constructor(options: OpenPanelOptions<Shown>) {
    this.#options = options;
  }

  get state(): OpenPanelState<Shown> | undefined {
    return this.#state;
  }

  open(key: string): void {
    if (this.#state?.key === key) return;
    this.close();
    this.#state = { key, shown: undefined, failure: undefined };
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

  /** What is open has changed, or the connection is new. */
  refresh(): void {
    if (this.#state === undefined) return;
    if (this.#isReading) this.#isStale = true;
    else void this.#read();
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const visit = this.#visit;
    const { what, read, onChange } = this.#options;
    const { key, shown: known } = this.#state ?? { key: '', shown: undefined };
    this.#isReading = true;
    const answer = await read(key).then(
      (shown) => ({ shown, failure: shown === undefined ? `The server knows no such ${what} any more.` : undefined }),
      (error: unknown) => ({ shown: undefined, failure: `The ${what} could not be read: ${String(error)}` }),
    );
    if (visit !== this.#visit) return;
    this.#state = { key, shown: answer.shown ?? known, failure: answer.failure };
    onChange();
    this.#cancelTimer = this.#options.setTimer(() => this.#readAgain(), refreshMs);
  }

  #readAgain(): void {
    this.#isReading = false;
    if (!this.#isStale) return;
    this.#isStale = false;
    void this.#read();
  }
}
