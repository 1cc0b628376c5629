import type { V1Node } from '@kubernetes/client-node';
import type { Loose } from '../../api/json/types.ts';

/** Set by the node controller: the larger the cluster, the longer the time in seconds. */
const ttlAnnotationKey = 'node.alpha.kubernetes.io/ttl';

/**
 * How long the cluster wants this node to cache secrets and config maps, in milliseconds, for the option `getTtlMs`;
 * undefined when the node does not say it in whole seconds.
 *
 * @example
 * ```ts
 * import { nodeTtlMs } from 'pod-status-manager/object-managers';
 *
 * console.log(nodeTtlMs({ metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': '15' } } })); // 15000
 * ```
 */
export function nodeTtlMs(node: Loose<V1Node> | undefined): number | undefined {
  const annotations = node?.metadata?.annotations;
  const seconds = annotations != null && Object.hasOwn(annotations, ttlAnnotationKey) ? annotations[ttlAnnotationKey] : undefined;
  return typeof seconds === 'string' && /^[+-]?\d{1,15}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
