import type { WirePod } from '../../../src/index.ts';
import { agentsTypes } from './plain-status.ts';

/** What one other writer made of one member of a pod, one write after the other; undefined: it took it away. */
export type Steps = (string | undefined)[];

/** What others wrote to pods, step by step. */
export class ForeignSteps {
  readonly #keys = new Set<string>();
  readonly #steps = new Map<string, Steps>();

  /** Every member somebody else has written, of whatever pod. */
  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  /** Before the write is sent. Returns how to take the step back when the server refuses it. */
  add(podUID: string, key: string, content: string | undefined): () => void {
    this.#keys.add(key);
    const steps = this.of(podUID, key);
    steps.push(content);
    return () => steps.pop();
  }

  /** Begins with the member absent. */
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
