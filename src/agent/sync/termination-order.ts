// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_termination_order.go, v1.36.3.
import { isRestartableInitContainer } from '../../pod/sidecar.ts';
import type { Pod } from '../../wire/types.ts';

/**
 * Sidecars end after all regular containers, and among themselves in the reverse order of the spec. `runningNames`: the
 * containers that are to be ended; nobody waits for another one.
 */
export class TerminationOrder {
  /** What each sidecar waits for. */
  readonly #waitsFor = new Map<string, readonly string[]>();
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  constructor({ spec }: Pod, runningNames: readonly string[]) {
    const regular = (spec?.containers ?? []).map(({ name }) => name);
    let later: string | undefined;
    for (const container of (spec?.initContainers ?? []).toReversed()) {
      if (!isRestartableInitContainer(container)) continue;
      this.#waitsFor.set(container.name, later === undefined ? regular : [...regular, later]);
      later = container.name;
    }
    for (const name of runningNames) this.#ends.set(name, Promise.withResolvers());
  }

  /** Resolves when it is the container's turn to end. */
  async turn(name: string): Promise<void> {
    for (const other of this.#waitsFor.get(name) ?? []) await this.#ends.get(other)?.promise;
  }

  /** The container has ended, or nobody can end it: nobody waits for it any more. */
  ended(name: string): void {
    this.#ends.get(name)?.resolve();
  }
}
