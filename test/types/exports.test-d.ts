import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { describe, expectTypeOf, it } from 'vitest';
import type * as debug from '../../src/debug.ts';
import * as index from '../../src/index.ts';
import type * as mirror from '../../src/mirror.ts';
import type * as objectManagers from '../../src/object-managers.ts';
import type * as reflector from '../../src/reflector.ts';
import type * as testing from '../../src/testing.ts';

type IsAny<T> = 0 extends 1 & T ? true : false;
/** True when the value is `any`, or a function with an `any` argument or result. */
type TakesOrGivesAny<T> =
  IsAny<T> extends true
    ? true
    : T extends (...args: infer Args) => infer Result
      ? true extends IsAny<Result> | IsAny<Awaited<Result>> | { [I in keyof Args]: IsAny<Args[I]> }[number]
        ? true
        : false
      : false;
/** The names of members that contain `any`, without those of Node's emitter. */
type Leaks<T> = { [K in Exclude<keyof T, keyof NodeJS.EventEmitter>]: TakesOrGivesAny<T[K]> extends true ? K : never }[Exclude<
  keyof T,
  keyof NodeJS.EventEmitter
>];
/** The same for each class of a module: constructor arguments and members. */
type ClassLeaks<Module> = {
  [Name in keyof Module]: Module[Name] extends abstract new (
    ...args: infer Args
  ) => infer Instance
    ? Leaks<Instance> | (true extends { [I in keyof Args]: IsAny<Args[I]> }[number] ? Name : never)
    : never;
}[keyof Module];

describe('the entry points', () => {
  it('export no any', () => {
    expectTypeOf<Leaks<typeof index>>().toBeNever();
    expectTypeOf<ClassLeaks<typeof index>>().toBeNever();
    expectTypeOf<Leaks<typeof reflector>>().toBeNever();
    expectTypeOf<ClassLeaks<typeof reflector>>().toBeNever();
    expectTypeOf<Leaks<typeof mirror>>().toBeNever();
    expectTypeOf<ClassLeaks<typeof mirror>>().toBeNever();
    expectTypeOf<Leaks<typeof objectManagers>>().toBeNever();
    expectTypeOf<ClassLeaks<typeof objectManagers>>().toBeNever();
    expectTypeOf<Leaks<typeof debug>>().toBeNever();
    expectTypeOf<ClassLeaks<typeof debug>>().toBeNever();
    expectTypeOf<Leaks<typeof testing>>().toBeNever();
    expectTypeOf<ClassLeaks<typeof testing>>().toBeNever();
  });

  it('are checked by types that find any', () => {
    class Leaky {
      take(_value: ReturnType<typeof JSON.parse>): void {}
      fine(): void {}
    }
    expectTypeOf<Leaks<Leaky>>().toEqualTypeOf<'take'>();
    expectTypeOf<ClassLeaks<{ Leaky: typeof Leaky }>>().toEqualTypeOf<'take'>();
    expectTypeOf<Leaks<{ parse: typeof JSON.parse }>>().toEqualTypeOf<'parse'>();
  });
});

describe('functions that stand alone', () => {
  const pod: V1Pod = {};
  const status: V1PodStatus = {};

  it("take client-node's classes and plain JSON", () => {
    expectTypeOf(index.isStaticPod(pod)).toEqualTypeOf<boolean>();
    expectTypeOf(index.isMirrorPod({ metadata: { annotations: {} } })).toEqualTypeOf<boolean>();
    expectTypeOf(index.isMirrorPodOf(pod, pod)).toEqualTypeOf<boolean>();
    expectTypeOf(index.generatePodReadyCondition).not.toBeAny();
    expectTypeOf(
      index.createPodStatusPatch(status, { startTime: '2025-01-01T00:00:00Z' }, { uid: 'u' }),
    ).toExtend<index.PodStatusPatch>();
  });

  it('distinguish errors', () => {
    const error: unknown = new Error('x');
    if (index.isStatusManagerError(error)) expectTypeOf(error.code).toEqualTypeOf<index.ErrorCode>();
    expectTypeOf(new index.ApiError({ reason: 'Network', message: 'reset' })).toExtend<index.StatusManagerError>();
    // @ts-expect-error there is no such code
    index.isStatusManagerError(error, 'ERR_UNKNOWN');
  });
});

describe('the managers of secrets and config maps', () => {
  type GetSecret = objectManagers.SecretManager['getSecret'];
  type GetConfigMap = objectManagers.ConfigMapManager['getConfigMap'];

  it('give read-only JSON', () => {
    expectTypeOf<Awaited<ReturnType<GetSecret>>['data']>().toEqualTypeOf<{ readonly [key: string]: string } | undefined>();
    expectTypeOf<Awaited<ReturnType<GetConfigMap>>['immutable']>().toEqualTypeOf<boolean | undefined>();
  });

  it('are what a pod manager takes', () => {
    expectTypeOf<objectManagers.SecretManager>().toExtend<index.PodRegistrar>();
    expectTypeOf<objectManagers.ConfigMapManager>().toExtend<index.PodRegistrar>();
  });
});
