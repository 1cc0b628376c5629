import { describe, expectTypeOf, it } from 'vitest';
import {
  type PodSyncer,
  PodWorkers,
  type PodWorkersOptions,
  type RetryQueue,
  type RuntimeStatusCache,
  type SyncLoopOptions,
  WorkQueue,
} from '../../src/node.ts';

declare const podSyncer: PodSyncer;
declare const runtimeStatusCache: RuntimeStatusCache;

describe('the work queue of PodWorkers', () => {
  it('is a WorkQueue where none is given, which a SyncLoop takes as it is', () => {
    const workers = () => new PodWorkers({ podSyncer, runtimeStatusCache });
    expectTypeOf(workers).returns.toEqualTypeOf<PodWorkers>();
    expectTypeOf<PodWorkers['workQueue']>().toEqualTypeOf<WorkQueue>();
    expectTypeOf<PodWorkers['workQueue']>().toExtend<SyncLoopOptions['workQueue']>();
  });

  it('is what was given', () => {
    const own = { enqueue: (_podUID: string, _delayMs: number): void => {}, pods: [''] };
    const workers = () => new PodWorkers({ podSyncer, runtimeStatusCache, workQueue: own });
    expectTypeOf(workers).returns.toHaveProperty('workQueue').toEqualTypeOf<typeof own>();
    const usual = () => new PodWorkers({ podSyncer, runtimeStatusCache, workQueue: new WorkQueue() });
    expectTypeOf(usual).returns.toEqualTypeOf<PodWorkers>();
  });

  it('is no more than a RetryQueue where the options say no more', () => {
    const workers = (options: PodWorkersOptions) => new PodWorkers(options);
    expectTypeOf(workers).returns.toHaveProperty('workQueue').toEqualTypeOf<RetryQueue>();
  });
});
