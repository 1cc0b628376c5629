import type { Pod } from '../../../../../src/index.ts';
import type { PodSource, SendPods } from '../../../../../src/node.ts';

/** The manifests of a machine, as a source that is told when to look. */
export class StaticSource implements PodSource {
  readonly #pods: () => readonly Pod[];
  #send: SendPods | undefined;
  #hasLooked = false;

  constructor(pods: () => readonly Pod[]) {
    this.#pods = pods;
  }

  start(send: SendPods): void {
    this.#send = send;
    if (this.#hasLooked) send(this.#pods());
  }

  /** Looks, and sends the full list. */
  look(): void {
    this.#hasLooked = true;
    this.#send?.(this.#pods());
  }

  stop(): void {
    this.#send = undefined;
  }
}
