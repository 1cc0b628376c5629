import fc from 'fast-check';
import type { UpdateType } from '../../../src/node/workers/workers-options.ts';

/** What a call of the syncer does: when it ends, whether it heeds its signal, and how it ends. */
export interface Plan {
  readonly waitMs: number;
  readonly heeds: boolean;
  readonly end: 'ok' | 'terminal' | 'failed';
}

/** What the agent and the world do. Pods have the numbers from 0 up; the even ones are static pods of two full names. */
export type Operation =
  | {
      readonly op: 'update';
      readonly pod: number;
      readonly type: UpdateType;
      readonly deletion: number | undefined;
      readonly phase: 'Running' | 'Failed' | undefined;
    }
  | {
      readonly op: 'kill';
      readonly pod: number;
      readonly grace: number | undefined;
      readonly evict: boolean;
      readonly now: boolean;
    }
  | { readonly op: 'runtimeKill'; readonly pod: number }
  | { readonly op: 'known'; readonly desired: readonly number[] }
  | { readonly op: 'retry' }
  | { readonly op: 'cacheFails'; readonly times: number }
  | { readonly op: 'advance'; readonly ms: number }
  | { readonly op: 'settle' };

export const podCount = 6;

const pod = fc.integer({ min: 0, max: podCount - 1 });
const grace = fc.option(fc.constantFrom(0, 1, 5, 20, 60), { nil: undefined });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('update' as const),
      pod,
      type: fc.constantFrom<UpdateType>('create', 'create', 'update', 'sync'),
      deletion: fc.option(fc.constantFrom(0, 3, 30), { nil: undefined, freq: 6 }),
      phase: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, fc.constantFrom('Running' as const, 'Failed' as const)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('kill' as const), pod, grace, evict: fc.boolean(), now: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('runtimeKill' as const), pod }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('known' as const), desired: fc.uniqueArray(pod) }) },
  { weight: 2, arbitrary: fc.constant({ op: 'retry' as const }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('cacheFails' as const), times: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.constantFrom(1, 1000, 10_000, 100_000) }),
  },
  { weight: 3, arbitrary: fc.constant({ op: 'settle' as const }) },
);

export const workerOperations = fc.array(operation, { minLength: 5, maxLength: 60, size: 'max' });

export const plans: fc.Arbitrary<Plan[]> = fc.array(
  fc.record({
    waitMs: fc.constantFrom(0, 0, 1000, 7000, 50_000),
    heeds: fc.boolean(),
    end: fc.constantFrom('ok' as const, 'ok' as const, 'terminal' as const, 'failed' as const),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
);
