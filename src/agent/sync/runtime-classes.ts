// Behaviour of pkg/kubelet/runtimeclass, v1.36.3, by requests in place of an informer.
import { resources } from '../../client/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resource-client.ts';
import { type Clock, safeClock } from '../../seams/clock.ts';
import type { Pod } from '../../wire/types.ts';

/** So long a class counts as being there: its handler never changes. */
const keptMs = 60_000;
/** So many classes are remembered. */
const mostKept = 100;

/** The runtime handlers that pods ask for by the name of a RuntimeClass. */
export class RuntimeClasses {
  readonly #client: ResourceClient<{ metadata?: object; handler?: string }>;
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly handler: string; readonly until: number }>();

  constructor({ transport, clock }: { readonly transport: ResourceTransport; readonly clock: Clock }) {
    this.#client = new ResourceClient(transport, resources.runtimeClasses);
    this.#clock = safeClock(clock);
  }

  /** The handler; empty: the default one. Rejects, in the kubelet's words, for a class that is not there or cannot be read. */
  async handlerOf({ spec }: Pod, signal: AbortSignal): Promise<string> {
    const name = spec?.runtimeClassName;
    if (!name) return '';
    const now = this.#clock.now();
    const kept = this.#kept.get(name);
    if (kept !== undefined && now < kept.until) return kept.handler;
    const { handler = '' } = await this.#client.get({ name }, { signal });
    this.#kept.delete(name);
    this.#kept.set(name, { handler, until: now + keptMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return handler;
  }
}
