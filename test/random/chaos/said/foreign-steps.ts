import type { WirePod } from '../../../../src/index.ts';
import { agentsTypes } from './plain-status.ts';

/** The contents that one other writer gave one member of a pod, in order; undefined: the writer took it away. */
export type Steps = (string | undefined)[];

/** What others wrote to pods, step by step. */
export class ForeignSteps {
  readonly #keys = new Set<string>();
  readonly #steps = new Map<string, Steps>();

  /** The members that other writers have written, over all pods. */
  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  /** To be called before the write is sent. Returns a function that takes the step back, for a write that is refused. */
  add(podUID: string, key: string, content: string | undefined): () => void {
    this.#keys.add(key);
    const steps = this.of(podUID, key);
    steps.push(content);
    return () => steps.pop();
  }

  /** The steps of this member; the first is its absence. */
  of(podUID: string, key: string): Steps {
    const place = `${podUID} ${key}`;
    const steps = this.#steps.get(place) ?? [undefined];
    this.#steps.set(place, steps);
    return steps;
  }
}

/** Everything in a pod that may be another writer's: conditions, labels and finalizers, each with all it says. */
export function foreignParts({ metadata = {}, status }: WirePod): Map<string, string> {
  const parts = new Map<string, string>();
  for (const { type, status: value, reason, message } of status?.conditions ?? []) {
    if (!agentsTypes.has(type)) parts.set(`condition ${type}`, `${value} ${reason ?? ''} ${message ?? ''}`);
  }
  for (const [label, value] of Object.entries(metadata.labels ?? {})) parts.set(`label ${label}`, value);
  for (const finalizer of metadata.finalizers ?? []) parts.set(`finalizer ${finalizer}`, 'held');
  return parts;
}
