/**
 * The rooms of src, from the ground up: a room imports only itself and rooms that stand before it. A single file outside
 * any folder, such as `src/errors.ts`, is a room too.
 */
export const rooms = [
  'errors',
  'checks',
  'seams',
  'concurrency',
  'wire',
  'patch',
  'client/credentials',
  'client/transport',
  'client',
  'pod',
  'sources',
  'conditions',
  'status/canonical',
  'status/events',
  'status/rules',
  'status/resize',
  'status/cache',
  'status/sync',
  'status',
] as const;

/**
 * The rooms behind the door `./testing`, in the same order. They stand on the rooms named here; of the status manager
 * they may know types only.
 */
export const testingRooms = ['testing/pods-api', 'testing/fakes', 'testing/apiserver'] as const;
export const groundOfTesting: readonly string[] = [
  'errors',
  'checks',
  'seams',
  'concurrency',
  'wire',
  'patch',
  'client/transport',
  'client',
  'pod',
];

/** The files of src that the package opens to its users: `index` is the door `.`, every other one the door `./NAME`. */
export const doors = ['index', 'testing'] as const;
