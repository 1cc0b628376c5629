import fc from 'fast-check';
import type { PodVerb } from '../../../src/testing/fakes/fake-pod-client.ts';
import type { Trouble } from './unruly-client.ts';

const shapes = ['pending', 'running', 'ready', 'failed', 'succeeded'] as const;
export type Shape = (typeof shapes)[number];

/** What users and other controllers do to a pod on the server. */
export type ServerOperation =
  | { readonly op: 'condition'; readonly slot: number; readonly type: string; readonly status: string }
  | { readonly op: 'revert' | 'delete' | 'vanish' | 'recreate'; readonly slot: number };

/** What the agent, the cluster and the network do. `slot` is the index of a pod name, whichever pod has that name now. */
export type Operation =
  | { readonly op: 'set'; readonly slot: number; readonly shape: Shape; readonly gate?: string | undefined }
  | { readonly op: 'again' | 'terminate' | 'reconcile' | 'orphan' | 'deliver' | 'die'; readonly slot: number }
  | { readonly op: 'probe'; readonly slot: number; readonly kind: 'Readiness' | 'Startup'; readonly result: boolean }
  | { readonly op: 'running' | 'reclaimed'; readonly slot: number; readonly value: boolean }
  | ServerOperation
  | { readonly op: 'hold' | 'release'; readonly verb: PodVerb }
  | ({ readonly op: 'trouble' } & Trouble)
  | { readonly op: 'late' | 'settle' }
  | { readonly op: 'advance'; readonly ms: number };

export const foreignTypes = ['example.com/gate', 'example.com/load-balancer'] as const;

const slot = fc.nat(3);
const verb = fc.constantFrom<PodVerb>('get', 'patch', 'delete');
const truth = fc.constantFrom('True', 'False');
const op = <const T extends string>(...names: T[]): fc.Arbitrary<T> => fc.constantFrom(...names);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ op: op('set'), slot, shape: fc.constantFrom(...shapes), gate: fc.option(truth, { nil: undefined }) }),
  },
  { weight: 3, arbitrary: fc.record({ op: op('again', 'again', 'again', 'terminate', 'die', 'reconcile', 'orphan'), slot }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: op('probe'), slot, kind: op('Readiness', 'Startup'), result: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ op: op('running', 'reclaimed'), slot, value: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ op: op('condition'), slot, type: fc.constantFrom(...foreignTypes), status: truth }) },
  {
    weight: 6,
    arbitrary: fc.record({ op: op('deliver', 'deliver', 'deliver', 'revert', 'delete', 'vanish', 'recreate'), slot }),
  },
  { weight: 3, arbitrary: fc.record({ op: op('hold', 'release', 'release'), verb }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: op('trouble'),
      verb,
      how: fc.constantFrom<Trouble['how']>('network', 'lost', 401, 403, 409, 429, 500, 503),
    }),
  },
  { weight: 6, arbitrary: fc.record({ op: op('settle', 'settle', 'late') }) },
  { weight: 4, arbitrary: fc.record({ op: op('advance'), ms: fc.constantFrom(300, 2000, 10_000, 12_000) }) },
);

export const operations: fc.Arbitrary<Operation[]> = fc.array(operation, { minLength: 1, maxLength: 40, size: 'max' });

export interface WorldOptions {
  readonly patchFormat: 'strategic' | 'json';
  readonly fetchBeforePatch: 'when-unknown' | 'always';
  readonly concurrency: number;
  readonly channelCapacity: number;
  readonly terminateWhenReclaimed: boolean;
  /** The first answer of `podResourcesAreReclaimed`, for every pod. */
  readonly reclaimed: boolean;
  /** The server validates and fills in, as a kube-apiserver does. */
  readonly strictServer: boolean;
}

export const worldOptions: fc.Arbitrary<WorldOptions> = fc.record({
  patchFormat: fc.constantFrom('strategic', 'json'),
  fetchBeforePatch: fc.constantFrom('when-unknown', 'when-unknown', 'always'),
  concurrency: fc.constantFrom(1, 2, 16),
  channelCapacity: fc.constantFrom(0, 1, 1000),
  terminateWhenReclaimed: fc.boolean(),
  reclaimed: fc.boolean(),
  strictServer: fc.boolean(),
});
