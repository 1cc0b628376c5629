import type { FairTurns } from '../../base/concurrency/fair-turns.ts';
import type { JsonMembers } from './api-answer.ts';
import { abortedBy } from './api-error.ts';
import type { KubeRequest, KubeStream, KubeTransport } from './kube-transport.ts';

export interface TurnTransportOptions {
  readonly turns: FairTurns;
  /** Whose requests they are, such as a node's. */
  readonly key: string;
  /** Which requests go before others. Default: none. */
  readonly isUrgent?: (request: KubeRequest) => boolean;
}

/**
 * A transport whose requests have their turns beside those of other keys. The wait counts against no `timeoutMs`: the limit of a request
 * begins with its turn, and so does what a transport within finds out for it. Its signal ends the wait. Streams do not wait.
 */
export class TurnTransport implements Pick<KubeTransport, 'request' | 'stream'> {
  readonly #transport: Pick<KubeTransport, 'request' | 'stream'>;
  readonly #options: TurnTransportOptions;

  constructor(transport: Pick<KubeTransport, 'request' | 'stream'>, options: TurnTransportOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  async request(request: KubeRequest): Promise<JsonMembers> {
    const { turns, key, isUrgent } = this.#options;
    const { signal, method, path } = request;
    let hasTurn = false;
    try {
      return await turns.run({ key, isUrgent: isUrgent?.(request), signal }, () => {
        hasTurn = true;
        return this.#transport.request(request);
      });
    } catch (error) {
      if (hasTurn || signal?.aborted !== true) throw error;
      throw abortedBy(signal, `${method} ${path}`, 'while it waited for its turn');
    }
  }

  stream(stream: KubeStream): Promise<void> {
    return this.#transport.stream(stream);
  }
}
