/**
 * The secrets and config maps that an agent's pods refer to, by watch, by cache, or by plain reads.
 *
 * @module pod-status-manager/object-managers
 */
import './node-version.ts';

export { ConfigMapManager, type FrozenConfigMap } from './object-managers/config-map-manager.ts';
export type { Frozen } from './object-managers/frozen.ts';
export { nodeTtlMs } from './object-managers/node-ttl.ts';
export {
  type ObjectBudget,
  type ObjectBudgetOptions,
  type ObjectBudgetUse,
  objectBudget,
} from './object-managers/object-budget.ts';
export type { ObjectManagerOptions, ObjectStrategy } from './object-managers/object-manager-options.ts';
export { type FrozenSecret, SecretManager } from './object-managers/secret-manager.ts';
export { podConfigMapNames, podSecretNames } from './pod/pod-references.ts';
