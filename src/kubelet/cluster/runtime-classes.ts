import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Pod, Wire } from '../../api/json/types.ts';
import { errorText } from '../../base/errors.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';

// Behaviour of pkg/kubelet/runtimeclass, v1.36.3.

/** Finds the runtime handlers that pods ask for by the name of a RuntimeClass. */
export class RuntimeClasses {
  readonly #classes: ResourceClient<Wire<V1RuntimeClass>>;

  constructor(transport: ResourceTransport) {
    this.#classes = new ResourceClient(transport, resources.runtimeClasses);
  }

  /** The handler's name; empty: the default one. Rejects where there is no such class. */
  async handlerOf(pod: Pod, signal: AbortSignal): Promise<string> {
    const name = pod.spec?.runtimeClassName;
    if (!name) return '';
    try {
      return (await this.#classes.get({ name }, { signal })).handler;
    } catch (cause) {
      const isGone = classifyApiError(cause) === 'gone';
      const why = isGone ? `runtimeclass.node.k8s.io "${name}" not found` : errorText(cause);
      throw new Error(`failed to get RuntimeClass: failed to find RuntimeClass ${name}: ${why}`, { cause });
    }
  }
}
