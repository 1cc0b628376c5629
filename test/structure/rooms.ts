/**
 * The rooms of src, in order: a room imports only itself and rooms before it. A single file outside any folder, such as
 * `src/errors.ts`, is a room too.
 */
export const rooms = [
  'errors',
  'node-version',
  'checks',
  'seams',
  'metrics',
  'prometheus',
  'opentelemetry',
  'concurrency',
  'wire',
  'patch',
  'client/credentials',
  'client/transport',
  'client',
  'pod',
  'runtime',
  'container-logs',
  'files',
  'reflector',
  'manifest/text',
  'manifest/types',
  'manifest/defaults',
  'manifest/rules',
  'manifest',
  'sources',
  'mirror',
  'object-managers',
  'conditions',
  'status/canonical',
  'status/events',
  'status/rules',
  'status/resize',
  'status/cache',
  'status/sync',
  'status',
  'config',
  'runtime-status',
  'backoff',
  'workers',
  'probes',
  'node-object',
  'sync-loop',
  'events',
  'pleg',
  'volumes',
  'kubelet-api',
  'provider',
  'debug/page',
  'debug',
] as const;

/**
 * The rooms behind the door `./testing`, in the same order. They may also import the rooms of `groundOfTesting`, and only
 * types of the status manager.
 */
export const testingRooms = [
  'testing/objects',
  'testing/kinds',
  'testing/pods-api',
  'testing/fakes',
  'testing/apiserver',
] as const;
export const groundOfTesting: readonly string[] = [
  'errors',
  'checks',
  'seams',
  'metrics',
  'concurrency',
  'wire',
  'patch',
  'client/transport',
  'client',
  'pod',
  'runtime',
];

/** The doors: the files of src that users import. `index` is the entry point `.`, every other one is `./NAME`. */
export const doors = [
  'index',
  'reflector',
  'mirror',
  'object-managers',
  'node',
  'debug',
  'prometheus',
  'opentelemetry',
  'testing',
] as const;
