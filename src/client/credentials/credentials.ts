import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';

/** What an authenticator adds to a request. Two requests made with the same credentials carry the same object. */
export interface Credentials {
  /** The whole value of the header, `Bearer …`. */
  readonly authorization?: string | undefined;
  /** The client certificate and its key, as PEM. Both or none. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** One request that waits for credentials. */
export interface Waiter {
  /** Settles when the request no longer waits. */
  readonly left: Promise<unknown>;
  /** How long the request may wait, in milliseconds. */
  readonly limitMs: number;
}

export interface SourceOptions {
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Where the credentials of one user come from. */
export interface CredentialSource {
  /** The credentials for one more request. Rejects with a {@link CredentialsFailure}. */
  get(waiter: Waiter): Promise<Credentials>;
  /** The apiserver refused a request made with these. They are not given out again where others can be had. */
  refuse(credentials: Credentials): void;
  /** Ends what is under way; the requests that wait are rejected with the reason. Resolves when nothing of it is left. */
  close(reason: CredentialsFailure): Promise<void>;
}

/** Why a request got no credentials. Holds nothing that an authenticator, a file or a plugin said. */
export class CredentialsFailure extends Error {
  readonly reason: 'NoCredentials' | 'Timeout' | 'Aborted';

  constructor(reason: CredentialsFailure['reason'], message: string) {
    super(message);
    this.name = 'CredentialsFailure';
    this.reason = reason;
  }
}

/** The name and the code of an error. Its message is left out: it can quote a token. */
export function kindOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}
