import { callGuarded } from '../../base/guard.ts';
import type { ResolvedReconcilerOptions } from './reconciler-options.ts';

/** What the agent's own functions permit. Whatever else they answer, and what they throw, permits nothing. */
export class AgentAnswers {
  readonly #options: ResolvedReconcilerOptions;

  constructor(options: ResolvedReconcilerOptions) {
    this.#options = options;
  }

  /** True once the apiserver's pods of this node have been listed. */
  isListed(): boolean {
    const listedAt = this.#ask('podSource.lastListedAt', () => this.#options.podSource.lastListedAt());
    return typeof listedAt === 'number' && Number.isFinite(listedAt);
  }

  /** True when the static pod of this full name, which the pod manager does not show, is certainly gone. */
  mayDeleteOrphan(podFullName: string): boolean {
    const { staticPodsReady, isPodTerminating } = this.#options;
    if (this.#ask('staticPodsReady', () => staticPodsReady()) !== true) return false;
    return this.#ask('isPodTerminating', () => isPodTerminating(podFullName)) === false;
  }

  #ask(name: string, ask: () => unknown): unknown {
    return callGuarded(ask, (err) => this.#options.logger.error({ err, function: name }, 'a function of the agent failed'));
  }
}
