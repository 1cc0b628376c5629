import { pause } from './pause.ts';

/** Reads again and again until it is stopped. A read that fails, or ends, is followed by the next one after a pause. */
export class ReadingLoop {
  readonly #read: () => Promise<void>;
  readonly #pauseMs: number;
  #isEnding = false;
  #running: Promise<void> | undefined;

  constructor(read: () => Promise<void>, pauseMs: number) {
    this.#read = read;
    this.#pauseMs = pauseMs;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** `interrupt` ends a read that is under way. */
  async stop(interrupt: () => Promise<void>): Promise<void> {
    this.#isEnding = true;
    await interrupt();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      await this.#read().catch(() => {});
      if (!this.#isEnding) await pause(this.#pauseMs);
    }
  }
}
