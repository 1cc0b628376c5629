import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { exec, failure, ProbeWorld, podOf, running, success } from './probe-world.ts';

const types = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 8000 }) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('container' as const), number: fc.nat(2), started: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('add' as const, 'remove' as const, 'ask' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('ending' as const, 'cleanup' as const, 'none' as const) }) },
);

/** How the prober behaves: it settles after a while, or never, and heeds its signal or not. */
const manner = fc.record({
  afterMs: fc.option(fc.integer({ min: 0, max: 6000 }), { nil: undefined }),
  heeds: fc.boolean(),
  end: fc.constantFrom('success', 'failure', 'error', 'garbage'),
});

describe('whatever the prober and the agent do', () => {
  it('no container has two calls of one probe at once, none is made after its end, and no timer is left', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...types),
        fc.array(step, { minLength: 5, maxLength: 25 }),
        fc.array(manner, { minLength: 1, maxLength: 6 }),
        async (type, steps, manners) => {
          const world = new ProbeWorld();
          let pod = podOf({ [type]: exec({ periodSeconds: 2, timeoutSeconds: 1, failureThreshold: 2 }) });
          let isProbed = false;
          let strays = 0;
          let epoch = 0;
          world.answer = (_, signal) => {
            if (!isProbed) strays += 1;
            const { afterMs, heeds, end } = manners[world.calls.length % manners.length] as (typeof manners)[number];
            const { promise, resolve, reject } = Promise.withResolvers<unknown>();
            const settleIt = (): void => {
              if (end === 'error') reject(new Error('mistake'));
              else resolve(end === 'success' ? success : end === 'failure' ? failure : 7);
            };
            const cancel = afterMs === undefined ? undefined : world.clock.setTimer(settleIt, afterMs);
            if (heeds) {
              signal.addEventListener('abort', () => {
                cancel?.();
                settleIt();
              });
            }
            return promise;
          };
          for (const one of steps) {
            if (one.op === 'advance') await world.clock.advance(one.ms);
            else if (one.op === 'container')
              world.status = running({ containerID: `x://${epoch}-${one.number}`, started: one.started });
            else if (one.op === 'none') world.status = undefined;
            else if (one.op === 'ask') world.manager.updatePodStatus(pod, world.status ?? {});
            else if (one.op === 'ending') {
              world.manager.stopLivenessAndStartup(pod);
              if (type !== 'readinessProbe') isProbed = false;
            } else if (one.op === 'add' && !isProbed) {
              // a pod that comes again has containers of its own
              epoch += 1;
              pod = { ...pod, metadata: { ...pod.metadata, uid: `u${epoch}` } };
              world.status = running({ containerID: `x://${epoch}-0`, started: type !== 'startupProbe' });
              isProbed = true;
              world.manager.addPod(pod);
            } else if (one.op === 'remove' || one.op === 'cleanup') {
              isProbed = false;
              if (one.op === 'remove') world.manager.removePod(pod);
              else world.manager.cleanupPods(new Set(['another']));
              expect(world.manager.result('readiness', `x://${epoch}-0`)).toBeUndefined();
            }
            await settle();
          }
          isProbed = false;
          const stopped = world.manager.stop();
          await world.clock.advance(30_000);
          await stopped;
          const told = world.updates.length;
          await world.clock.advance(30_000);
          expect([strays, world.clock.pendingTimers, world.updates.length]).toEqual([0, 0, told]);
          expect(world.mostAtOnce).toBeLessThanOrEqual(1);
        },
      ),
      { seed: 11, numRuns: 200 },
    );
  });
});
