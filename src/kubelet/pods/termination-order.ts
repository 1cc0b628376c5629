// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_termination_order.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isRestartableInitContainer } from '../../api/pod/pod-containers.ts';

/**
 * Sidecars end after all regular containers, and among themselves in the reverse order of the spec. `runningNames`: the
 * containers that are to be ended; nobody waits for another one.
 */
export class TerminationOrder {
  /** The sidecar that each sidecar waits for, beside all regular containers. */
  readonly #later = new Map<string, string | undefined>();
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  readonly #regularEnds: Promise<unknown>;

  constructor({ spec }: Pod, runningNames: readonly string[]) {
    let later: string | undefined;
    for (const container of (spec?.initContainers ?? []).toReversed()) {
      if (!isRestartableInitContainer(container)) continue;
      this.#later.set(container.name, later);
      later = container.name;
    }
    for (const name of runningNames) this.#ends.set(name, Promise.withResolvers());
    this.#regularEnds = Promise.all((spec?.containers ?? []).map(({ name }) => this.#ends.get(name)?.promise));
  }

  /** Resolves when it is the container's turn to end. */
  async turn(name: string): Promise<void> {
    if (!this.#later.has(name)) return;
    await this.#regularEnds;
    await this.#ends.get(this.#later.get(name) ?? '')?.promise;
  }

  /** The container has ended, or nobody can end it: nobody waits for it any more. */
  ended(name: string): void {
    this.#ends.get(name)?.resolve();
  }
}
