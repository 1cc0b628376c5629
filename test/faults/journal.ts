import type { WirePod } from '../../src/wire/types.ts';

/** What another controller made of its condition on one pod, one write after the other; undefined: it took it away. */
export type ForeignSteps = (string | undefined)[];

/** Condition types of other controllers begin so. */
export const foreignPrefix = 'example.test/';

/** What everybody meant to do: the agent what it set, the others what they wrote and deleted. The checker reads it. */
export class Journal {
  updates = 0;
  /** The mark of the newest status of each owner. */
  readonly newest = new Map<string, number>();
  /** Every condition type somebody else has written. */
  readonly foreignTypes = new Set<string>();
  readonly #ownerOfMark: string[] = [''];
  readonly #foreign = new Map<string, ForeignSteps>();
  readonly #mayVanish = new Set<string>();

  /** A mark larger than all before. */
  nextMark(owner: string): number {
    const mark = this.#ownerOfMark.push(owner) - 1;
    this.newest.set(owner, mark);
    return mark;
  }

  ownerOf(mark: number): string | undefined {
    return this.#ownerOfMark[mark];
  }

  /** Before the write is sent. */
  foreignStep(podUID: string, type: string, content: string | undefined): void {
    this.foreignTypes.add(type);
    this.foreignSteps(podUID, type).push(content);
  }

  /** Begins with the condition absent. */
  foreignSteps(podUID: string, type: string): ForeignSteps {
    const key = `${podUID} ${type}`;
    const steps = this.#foreign.get(key) ?? [undefined];
    this.#foreign.set(key, steps);
    return steps;
  }

  /** Before somebody else than the manager removes this pod. */
  allowRemoval(podUID: string): void {
    this.#mayVanish.add(podUID);
  }

  mayVanish(podUID: string): boolean {
    return this.#mayVanish.has(podUID);
  }
}

/** Whose status a pod of the apiserver shows: a mirror pod its static pod's, whatever its uid. */
export function ownerOfPod({ metadata }: WirePod): string {
  if (metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined) return `static ${metadata.name}`;
  return metadata?.uid ?? '';
}

/** The mark in a pod's status; undefined while none was set. */
export function markOf({ status }: WirePod): number | undefined {
  const mark = /^mark (\d+)$/.exec(status?.message ?? '')?.[1];
  return mark === undefined ? undefined : Number(mark);
}

/** The foreign conditions of a pod, by type, with all they say. */
export function foreignConditions({ status }: WirePod): Map<string, string> {
  const foreign = (status?.conditions ?? []).filter(({ type }) => type.startsWith(foreignPrefix));
  return new Map(foreign.map(({ type, status, reason, message }) => [type, `${status} ${reason} ${message}`]));
}
