import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { NodeObject } from '../node-object/node-object.ts';

/** So long a node that was ready before stays ready while its pods are listed. */
const patienceMs = 30_000;

export interface NodeTakeOverOptions {
  readonly nodeObject: Pick<NodeObject, 'newest' | 'changed'>;
  readonly clock: SteadyClock;
}

/**
 * The first moments of a node whose object is there already: another run of the agent, or another process, has just left it. One that the
 * cluster shows as ready is not called anything else only because the pods are not listed yet.
 */
export class NodeTakeOver {
  readonly #options: NodeTakeOverOptions;
  /** When patience is over, by `clock.elapsed()`; undefined before the start and once the pods are known. */
  #until: number | undefined;
  #cancelTimer: CancelTimer | undefined;

  constructor(options: NodeTakeOverOptions) {
    this.#options = options;
  }

  /** The node starts. When patience is over its readiness is looked at again. */
  begin(): void {
    const { clock, nodeObject } = this.#options;
    this.#until = clock.elapsed() + patienceMs;
    // without a timer the next look of the node's object finds it out
    this.#cancelTimer = callGuarded(() => clock.setTimer(() => nodeObject.changed(), patienceMs), ignoreFailure);
  }

  /** The pods are known, or the node has ended. */
  end(): void {
    this.#until = undefined;
    this.#cancelTimer?.();
  }

  /** True while the node was ready when it was seen last, and nobody has waited too long for its pods. */
  get staysReady(): boolean {
    const { clock, nodeObject } = this.#options;
    if (this.#until === undefined || clock.elapsed() >= this.#until) return false;
    return nodeObject.newest?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  }
}
