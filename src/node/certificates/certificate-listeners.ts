import { callGuarded, type OnFailure } from '../../base/guard.ts';

/** Those who hear that a source has another certificate. */
export class CertificateListeners {
  readonly #listeners = new Set<() => void>();
  readonly #failed: OnFailure;

  /** `failed` gets what a listener throws. */
  constructor(failed: OnFailure) {
    this.#failed = failed;
  }

  add(listener: () => void): () => void {
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  tell(): void {
    for (const listener of [...this.#listeners]) callGuarded(listener, this.#failed);
  }

  clear(): void {
    this.#listeners.clear();
  }
}
