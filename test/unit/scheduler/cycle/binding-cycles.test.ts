import { describe, expect, it } from 'vitest';
import { BindingCycles, type BindingCyclesOptions } from '../../../../src/scheduler/cycle/binding-cycles.ts';
import type { PlacedPod } from '../../../../src/scheduler/cycle/scheduling-cycle.ts';
import { steadyTime } from '../../../../src/scheduler/queue/backoff-queue.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

describe('a binding', () => {
  it('tells once that its pod is permitted, before anything is done for it', async () => {
    const clock = new FakeClock();
    const told: string[] = [];
    const { promise: ready, resolve: makeReady } = Promise.withResolvers<undefined>();
    const binding = {
      preBindersOf: () => [{ name: 'My' }],
      preBind: () => {
        told.push('preBind');
        return ready;
      },
      bind: async () => void told.push('bind'),
    };
    const options: Partial<BindingCyclesOptions> = {
      writes: { has: () => false, write: () => {} } as never,
      ...{ clock, time: steadyTime(clock), mostBindings: 1, bindTimeoutMs: 1000 },
      onPermitted: ({ nodeName }) => told.push(`permitted ${nodeName}`),
      onEnd: (_placed, { isBound }) => told.push(`end ${isBound}`),
      onFree: () => {},
    };
    const cycles = new BindingCycles(options as BindingCyclesOptions);
    const placed = { podInfo: { uid: 'u', pod: {} }, framework: { binding, extenders: { size: 0 } }, nodeName: 'n1', state: {} };
    cycles.begin(placed as unknown as PlacedPod, new Map([['Gate', 1000]]));
    await settle();
    expect([told, cycles.isFull]).toEqual([[], false]);
    cycles.permits.allow('u', 'Gate');
    await settle();
    expect([told, cycles.isFull]).toEqual([['permitted n1', 'preBind'], false]);
    makeReady(undefined);
    await cycles.flush();
    expect(told).toEqual(['permitted n1', 'preBind', 'bind', 'end true']);
    expect(clock.pendingTimers).toBe(0);
  });
});
