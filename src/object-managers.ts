/**
 * The secrets and config maps that an agent's pods refer to, by watch, by cache, or by plain reads.
 *
 * @module pod-status-manager/object-managers
 */
import './base/node-version.ts';

export { podConfigMapNames, podSecretNames } from './api/pod/pod-references.ts';
export { ConfigMapManager, type FrozenConfigMap } from './node/object-managers/config-map-manager.ts';
export {
  type ObjectBudget,
  type ObjectBudgetOptions,
  type ObjectBudgetUse,
  objectBudget,
} from './node/object-managers/object-budget.ts';
export type { ObjectManagerOptions, ObjectStrategy } from './node/object-managers/object-manager.ts';
export { nodeTtlMs } from './node/object-managers/object-manager.ts';
export type { Frozen } from './node/object-managers/object-reader.ts';
export { type FrozenSecret, SecretManager } from './node/object-managers/secret-manager.ts';
