import type { ExpansionLimit } from '../../api/pod/expansion.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { ContainerConfigError } from './config-error.ts';

/** Linux takes no longer argument or variable, its name and the end mark included (MAX_ARG_STRLEN, 32 pages of 4 KiB). */
const longestText = 131_072;
/** Linux takes no more arguments and variables together, with any size of the stack (three quarters of _STK_LIM, 8 MiB). */
const mostTogether = 6_291_456;
/** Each variable costs the agent some memory of its own, however short it is. */
const mostVariables = 100_000;
/** Linux takes no longer path (PATH_MAX). */
const longestPath = 4096;

/** The limit of one argument or of one variable's value; `what` names it in the error. */
export function textLimit(what: () => string, containerName: string, nameBytes = 0): ExpansionLimit {
  return {
    mostBytes: longestText - nameBytes - 1,
    tooLong: () =>
      new ContainerConfigError(
        `${what()} of container "${containerName}" is longer than the ${longestText} bytes that Linux takes for one`,
      ),
  };
}

/** The limit of one path that is made from variables. */
export function pathLimit(containerName: string): ExpansionLimit {
  return {
    mostBytes: longestPath - 1,
    tooLong: () =>
      new ContainerConfigError(
        `a subPathExpr of container "${containerName}" is longer than the ${longestPath} bytes that Linux takes for a path`,
      ),
  };
}

/** A variable as an error names it. */
export function variableText(name: string): string {
  return `the environment variable ${JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)}`;
}

/**
 * What starts with no more, the memory that variables cost included, is made at once: also the variables of some 250 services.
 * What is larger waits for its turn.
 */
const smallStart = 262_144;
/** About what the agent needs for a variable beside its text. */
const variableCost = 100;

/** A container starts with so much that it must wait for its turn. */
export class LargeStart extends Error {
  override readonly name = 'LargeStart';
}

/** So many containers with long texts are made at once on the node. Each takes about 20 MB at most while it is made. */
const mostLargeAtOnce = 2;

/** Makes what containers start with: what is small at once, and of what is large a few at a time. */
export class StartTurns {
  readonly #large = new Semaphore(mostLargeAtOnce);

  /**
   * What `make` makes; it is called again, with true, where it throws {@link LargeStart}, once there is room. The room is taken until
   * `held` has settled as well. Rejects as `make` does, and with the signal's reason.
   */
  async make<T>(make: (isTurn: boolean) => Promise<T>, signal: AbortSignal, held?: Promise<unknown>): Promise<T> {
    try {
      return await make(false);
    } catch (error) {
      if (!(error instanceof LargeStart)) throw error;
    }
    const { promise: room, resolve, reject } = Promise.withResolvers<void>();
    const making = Promise.withResolvers<void>();
    const hold = async (): Promise<void> => {
      resolve();
      await making.promise;
      await held;
    };
    this.#large.run(hold, signal).catch(reject);
    await room;
    try {
      return await make(true);
    } finally {
      making.resolve();
    }
  }
}

/** Counts what a container starts with, and throws where Linux could not start it. */
export class StartSize {
  readonly #containerName: string;
  readonly #isTurn: boolean;
  #bytes = 0;
  #variables = 0;

  /** `isTurn`: what is large may be made now; else {@link LargeStart} is thrown for it. */
  constructor(containerName: string, isTurn: boolean) {
    this.#containerName = containerName;
    this.#isTurn = isTurn;
  }

  /** Throws {@link ContainerConfigError} once all texts together are more than Linux takes. */
  add(bytes: number): void {
    // each text has an end mark and a pointer to it
    this.#bytes += bytes + 9;
    if (!this.#isTurn && this.#bytes + this.#variables * variableCost > smallStart) throw new LargeStart();
    if (this.#bytes <= mostTogether) return;
    throw new ContainerConfigError(
      `the command, the arguments and the environment of container "${this.#containerName}" take more than the ${mostTogether} bytes that Linux allows`,
    );
  }

  /** The same for a variable. Throws also for too many of them. */
  addVariable(name: string, value: string | Uint8Array): void {
    this.#variables += 1;
    if (this.#variables > mostVariables) {
      throw new ContainerConfigError(`container "${this.#containerName}" has more than ${mostVariables} environment variables`);
    }
    this.add(variableBytes(name, value));
  }
}

/** What a variable takes, without its end mark. */
export function variableBytes(name: string, value: string | Uint8Array): number {
  return Buffer.byteLength(name) + 1 + (typeof value === 'string' ? Buffer.byteLength(value) : value.byteLength);
}
