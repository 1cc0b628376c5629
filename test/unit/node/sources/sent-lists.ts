import type { Pod } from '../../../../src/api/json/types.ts';
import type { SendPods } from '../../../../src/node/sources/pod-source.ts';

/** Takes what a source sends, and lets a test wait for it. */
export class SentLists {
  readonly lists: (readonly Pod[])[] = [];
  readonly send: SendPods = (pods) => {
    this.lists.push(pods);
    for (const wake of this.#waiters.splice(0)) wake();
  };
  readonly #waiters: (() => void)[] = [];

  /** The names of each list's pods. */
  names(): string[] {
    return this.lists.map(namesOf);
  }

  latest(): readonly Pod[] {
    return this.lists.at(-1) ?? [];
  }

  /** Resolves once `count` lists were sent. */
  async reached(count: number): Promise<void> {
    while (this.lists.length < count) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Resolves once a list has been sent for which the condition holds, from the latest one on. */
  async until(holds: (pods: readonly Pod[]) => boolean): Promise<void> {
    while (this.lists.length === 0 || !holds(this.latest())) await this.reached(this.lists.length + 1);
  }
}

export function namesOf(pods: readonly Pod[]): string {
  return pods.map(({ metadata }) => metadata?.name).join(' ');
}

/** The messages of a logger. */
export function recordedLog() {
  const lines: string[] = [];
  const log =
    (level: string) =>
    (_fields: object, message: string): void =>
      void lines.push(`${level}: ${message}`);
  return { lines, logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') } };
}
