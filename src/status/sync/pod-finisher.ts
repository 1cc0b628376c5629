import type { Logger } from '../../base/logging/logger.ts';
import type { StatusCache } from '../cache/status-cache.ts';
import { type FinishContext, finishingChange } from './finish-when-reclaimed.ts';

export interface PodFinisherOptions {
  readonly context: FinishContext;
  readonly cache: StatusCache;
  readonly logger: Logger;
  readonly terminateWhenReclaimed: boolean;
}

/** Finishes deleted pods of which nothing is left, until the agent calls `terminatePod` for the first time. */
export class PodFinisher {
  readonly #options: PodFinisherOptions;
  #isOn: boolean;

  constructor(options: PodFinisherOptions) {
    this.#options = options;
    this.#isOn = options.terminateWhenReclaimed;
  }

  /** The agent ends its pods itself from now on: two must not finish one pod. */
  leaveToAgent(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#options.logger.info({}, 'the agent calls terminatePod: the manager finishes no pod by itself any more');
  }

  finishIfDue(podUID: string): void {
    if (!this.#isOn) return;
    const change = finishingChange(this.#options.context, podUID);
    if (change !== undefined) this.#options.cache.update(change);
  }
}
