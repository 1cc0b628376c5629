import { ApiError, type Logger } from 'pod-status-manager';

/** A logger that keeps the last warning, to say why something does not come about. */
export class NodeLog implements Logger {
  /** The last warning, with its error where there is one. */
  lastWarning = '';
  /** Rejects when the server has refused a request for want of rights: to try again is of no use. */
  readonly refused: Promise<never>;
  readonly #refuse: (error: Error) => void;

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.refused = promise;
    this.#refuse = reject;
    // it counts only while somebody waits
    promise.catch(() => {});
  }

  debug(): void {}

  info(): void {}

  warn(fields: object, message: string): void {
    const err = 'err' in fields ? fields.err : undefined;
    this.lastWarning = err instanceof Error ? `${message}: ${err.message}` : message;
    if (err instanceof ApiError && (err.status === 401 || err.status === 403)) this.#refuse(new Error(this.lastWarning));
  }

  error(fields: object, message: string): void {
    this.warn(fields, message);
  }
}
