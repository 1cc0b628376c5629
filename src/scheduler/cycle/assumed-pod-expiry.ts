import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

export interface AssumedPodExpiryOptions {
  /** Undefined: no assumed pod expires. */
  readonly ttlMs: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gives up the assumed pods whose time is over, and returns them with their nodes. */
  readonly expire: () => readonly { readonly info: PodInfo; readonly nodeName: string }[];
  /** The place of a pod is free again. */
  readonly onExpired: (pod: PodInfo, nodeName: string) => void;
}

/** So often upstream's cache looks. */
const periodMs = 1000;

/** Gives back the places of pods that were bound and then never seen with their node. Behaviour of pkg/scheduler/internal/cache, v1.22.17. */
export class AssumedPodExpiry {
  readonly #options: AssumedPodExpiryOptions;
  #cancel: CancelTimer | undefined;

  constructor(options: AssumedPodExpiryOptions) {
    this.#options = options;
  }

  /** Looks once a second from now on, if pods expire at all. */
  start(): void {
    const { ttlMs, clock } = this.#options;
    if (ttlMs !== undefined) this.#cancel = clock.setTimer(() => this.#look(), periodMs);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #look(): void {
    const { expire, onExpired, logger } = this.#options;
    this.start();
    for (const { info, nodeName } of expire()) {
      logger.warn(
        { ...podFields(info), node: nodeName },
        'a pod was bound, and nothing shows it on its node: its place is given to others',
      );
      onExpired(info, nodeName);
    }
  }
}
