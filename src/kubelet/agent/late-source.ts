// Behaviour of NewSourceApiserver in pkg/kubelet/config/apiserver.go, v1.36.3.
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { ApiServerSource } from '../../node/sources/api-server-source.ts';
import type { PodSource, SendPods } from '../../node/sources/pod-source.ts';

/** A source of pods that asks for nothing before `ready` has resolved. Where that rejects, it never asks. */
export class LateSource implements PodSource {
  readonly #source: Pick<ApiServerSource, 'start' | 'stop' | 'lastObservedAt' | 'lastFailure'>;
  readonly #ready: () => Promise<void>;
  readonly #stopping = new AbortController();
  #start: Promise<void> = Promise.resolve();

  constructor(source: Pick<ApiServerSource, 'start' | 'stop' | 'lastObservedAt' | 'lastFailure'>, ready: () => Promise<void>) {
    this.#source = source;
    this.#ready = ready;
  }

  start(send: SendPods): void {
    this.#start = untilAborted(this.#ready(), this.#stopping.signal).then(() => this.#source.start(send), ignoreFailure);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#start;
    await this.#source.stop();
  }

  lastObservedAt(): ReturnType<ApiServerSource['lastObservedAt']> {
    return this.#source.lastObservedAt();
  }

  lastFailure(): ReturnType<ApiServerSource['lastFailure']> {
    return this.#source.lastFailure();
  }
}
