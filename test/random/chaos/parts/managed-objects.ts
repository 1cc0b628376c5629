import type { Pod } from '../../../../src/api/json/types.ts';
import type { Clock } from '../../../../src/base/clock.ts';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import { ConfigMapManager } from '../../../../src/node/object-managers/config-map-manager.ts';
import type { ObjectStrategy } from '../../../../src/node/object-managers/object-manager.ts';
import { SecretManager } from '../../../../src/node/object-managers/secret-manager.ts';
import type { ObjectKind } from './object-truth.ts';

/** A manager of secrets or of config maps: what agent, readers and checks need of it. */
export interface ManagedObjects {
  readonly kind: ObjectKind;
  readonly strategy: ObjectStrategy;
  read(namespace: string, name: string): Promise<ApiObject>;
  registerPod(pod: Pod): void;
  unregisterPod(pod: Pod): void;
  stop(): Promise<void>;
}

export interface ManagerParts {
  readonly transport: ResourceTransport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly streamLists: boolean;
}

/** Secrets and config maps, each by watch and by cache. */
export function allManagers(parts: ManagerParts): ManagedObjects[] {
  return (['watch', 'cache'] as const).flatMap((strategy) => {
    const options = { ...parts, strategy, ttlMs: 5000 };
    const secrets = new SecretManager(options);
    const configMaps = new ConfigMapManager(options);
    return [
      managed('secrets', strategy, secrets, (namespace, name) => secrets.getSecret(namespace, name)),
      managed('configmaps', strategy, configMaps, (namespace, name) => configMaps.getConfigMap(namespace, name)),
    ];
  });
}

function managed(
  kind: ObjectKind,
  strategy: ObjectStrategy,
  manager: Omit<ManagedObjects, 'kind' | 'strategy' | 'read'>,
  read: (namespace: string, name: string) => Promise<unknown>,
): ManagedObjects {
  return {
    kind,
    strategy,
    read: (namespace, name) => read(namespace, name) as Promise<ApiObject>,
    registerPod: (pod) => manager.registerPod(pod),
    unregisterPod: (pod) => manager.unregisterPod(pod),
    stop: () => manager.stop(),
  };
}
