import type { WrittenDefinition } from './metric-definition.ts';

const part = 'Reflector';
const reflector = { help: 'the name of the reflector; by default its resource, such as `pods`' } as const;
const resource = { help: 'the resource: `secrets` or `configmaps`' } as const;

/** What reflectors measure, and the managers of secrets and config maps. */
export const reflectorMetricDefinitions = {
  pod_status_manager_reflector_lists_total: {
    type: 'counter',
    help: 'Full lists that were taken.',
    unit: '{list}',
    labels: { reflector },
    part,
    origin: 'own',
  },
  pod_status_manager_reflector_restarts_total: {
    type: 'counter',
    help: 'Watches and lists that had to begin again, by what ended them.',
    unit: '{restart}',
    labels: {
      reflector,
      reason: {
        help: '`ended`: by the server in good order, as every few minutes; `expired`: the server has forgotten the version; `silent`: nothing came for too long; `stale`: the answer was older than what is known; `refused`: the server answered with another status of 300 or more',
        values: ['ended', 'expired', 'silent', 'throttled', 'stale', 'refused', 'broken-answer', 'network'],
      },
    },
    part,
    origin: 'own',
  },
  pod_status_manager_reflector_silence_seconds: {
    type: 'gauge',
    help: 'How long ago the apiserver was last heard from: a list, an event or a bookmark, which comes about every minute.',
    unit: 's',
    labels: { reflector },
    part,
    origin: 'own',
  },
  pod_status_manager_reflector_synced: {
    type: 'gauge',
    help: '1 while a full list is in the store, else 0.',
    unit: '1',
    labels: { reflector },
    part,
    origin: 'own',
  },
  pod_status_manager_reflector_objects: {
    type: 'gauge',
    help: 'Objects in the store.',
    unit: '{object}',
    labels: { reflector },
    part,
    origin: 'own',
  },
  pod_status_manager_object_watches: {
    type: 'gauge',
    help: 'Secrets or config maps that are watched.',
    unit: '{watch}',
    labels: { resource },
    part: 'SecretManager, ConfigMapManager',
    origin: 'own',
  },
  pod_status_manager_referenced_objects: {
    type: 'gauge',
    help: 'Secrets or config maps that registered pods name.',
    unit: '{object}',
    labels: { resource },
    part: 'SecretManager, ConfigMapManager',
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;
