import { ContainerConfigError } from './config-error.ts';
import type { ExpansionLimit } from './expansion.ts';

/** Linux takes no longer argument or variable, its name and the end mark included (MAX_ARG_STRLEN, 32 pages of 4 KiB). */
const longestText = 131_072;
/** Linux takes no more arguments and variables together, with any size of the stack (three quarters of _STK_LIM, 8 MiB). */
const mostTogether = 6_291_456;

/** The limit of one argument or of one variable's value; `what` names it in the error. */
export function textLimit(what: string, containerName: string, nameBytes = 0): ExpansionLimit {
  return {
    mostBytes: longestText - nameBytes - 1,
    tooLong: () =>
      new ContainerConfigError(
        `${what} of container "${containerName}" is longer than the ${longestText} bytes that Linux takes for one`,
      ),
  };
}

/** Counts what a container starts with, and throws where Linux could not start it. */
export class StartSize {
  readonly #containerName: string;
  #bytes = 0;

  constructor(containerName: string) {
    this.#containerName = containerName;
  }

  /** Throws {@link ContainerConfigError} once all texts together are more than Linux takes. */
  add(bytes: number): void {
    // each text has an end mark and a pointer to it
    this.#bytes += bytes + 9;
    if (this.#bytes <= mostTogether) return;
    throw new ContainerConfigError(
      `the command, the arguments and the environment of container "${this.#containerName}" take more than the ${mostTogether} bytes that Linux allows`,
    );
  }
}
