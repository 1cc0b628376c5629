import type { KubernetesObject, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { describe, expectTypeOf, it } from 'vitest';
import {
  BasicPodManager,
  type ErrorClass,
  type FlushResult,
  KubePodClient,
  type Listenable,
  type Pod,
  type PodExplanation,
  type RunStateName,
  StatusManager,
  type StatusManagerEvents,
  type StatusManagerOptions,
  type StopResult,
  type SyncedEvent,
} from '../../src/index.ts';

declare const manager: StatusManager;
declare const pod: V1Pod;
declare const status: V1PodStatus;
declare const options: StatusManagerOptions;

describe('setPodStatus', () => {
  it("accepts client-node's classes and returns whether the cache changed", () => {
    expectTypeOf(manager.setPodStatus(pod, status)).toEqualTypeOf<boolean>();
    expectTypeOf(manager.terminatePod(pod)).toEqualTypeOf<boolean>();
  });

  it('accepts plain JSON, with times as strings, null as Go writes it, or Date', () => {
    const json = { metadata: { uid: 'u', creationTimestamp: '2025-01-01T00:00:00Z', deletionTimestamp: null } };
    const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z', lastProbeTime: null };
    manager.setPodStatus(json, { phase: 'Running', startTime: new Date(), conditions: [condition] });
    manager.terminatePod(json);
  });

  it('accepts deeply frozen objects', () => {
    const frozen = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], podIPs: [{ ip: '10.0.0.1' }] } as const;
    manager.setPodStatus(pod, frozen);
  });

  it('refuses a pod or a status of another shape', () => {
    // @ts-expect-error a phase is a string
    manager.setPodStatus(pod, { phase: 1 });
    // @ts-expect-error a time is a Date, a string or null
    manager.setPodStatus(pod, { startTime: 1_700_000_000 });
    // @ts-expect-error misspelt
    manager.setPodStatus(pod, { containerStatus: [] });
    // @ts-expect-error a condition has a type
    manager.setPodStatus(pod, { conditions: [{ status: 'True' }] });
    // @ts-expect-error a pod, not its uid
    manager.terminatePod('u');
    // @ts-expect-error an API object of another kind has no such spec
    manager.setPodStatus({ spec: { replicas: 1 } } satisfies KubernetesObject & object, status);
  });
});

describe('the answers of the manager', () => {
  it("have client-node's classes as types, or undefined", () => {
    expectTypeOf(manager.getPodStatus('u')).toEqualTypeOf<V1PodStatus | undefined>();
    expectTypeOf(manager.explain('u')).toEqualTypeOf<PodExplanation>();
    expectTypeOf(manager.state).toEqualTypeOf<RunStateName>();
    expectTypeOf<RunStateName>().toEqualTypeOf<'idle' | 'running' | 'stopping' | 'stopped'>();
  });

  it('come at once, except for flush and stop', () => {
    expectTypeOf(manager.start()).toEqualTypeOf<void>();
    expectTypeOf(manager.reconcile('u')).toEqualTypeOf<void>();
    expectTypeOf(manager.setContainerReadiness('u', 'containerd://1', true)).toEqualTypeOf<boolean>();
    expectTypeOf(manager.setContainerStartup('u', 'containerd://1', true)).toEqualTypeOf<boolean>();
    expectTypeOf(manager.removeOrphanedStatuses(new Set(['u']))).toEqualTypeOf<void>();
    expectTypeOf(manager.flush()).toEqualTypeOf<Promise<FlushResult>>();
    expectTypeOf(manager.flush({ timeoutMs: 1, podUID: 'u' })).toEqualTypeOf<Promise<FlushResult>>();
    expectTypeOf(manager.stop({ drainTimeoutMs: 0 })).toEqualTypeOf<Promise<StopResult>>();
    expectTypeOf(manager).toExtend<AsyncDisposable>();
  });

  it('need arguments of the right type', () => {
    // @ts-expect-error a set, so that a lookup is cheap
    manager.removeOrphanedStatuses(['u']);
    // @ts-expect-error a number of milliseconds
    void manager.flush({ timeoutMs: '1s' });
    // @ts-expect-error misspelt
    void manager.stop({ timeoutMs: 1 });
    // @ts-expect-error started is a boolean
    manager.setContainerStartup('u', 'containerd://1', 'true');
    // @ts-expect-error read only
    manager.state = 'stopped';
  });
});

describe('events', () => {
  it('carry typed values', () => {
    manager.on('synced', (event) => expectTypeOf(event).toEqualTypeOf<SyncedEvent>());
    manager.once('podUpdated', (event) => {
      expectTypeOf(event.pod).toEqualTypeOf<Pod>();
      expectTypeOf(event.status).toEqualTypeOf<V1PodStatus>();
      expectTypeOf(event.isAdded).toEqualTypeOf<boolean>();
    });
    manager.on('podRemoved', (event) => {
      expectTypeOf(event.pod).toEqualTypeOf<Pod>();
      expectTypeOf(event.status).toEqualTypeOf<V1PodStatus>();
    });
    manager.on('syncError', (event) => {
      expectTypeOf(event.errorClass).toEqualTypeOf<ErrorClass>();
      expectTypeOf(event.error).toBeUnknown();
    });
    manager.on('illegalTransition', ({ reason }) => expectTypeOf(reason).toBeString()).off('synced', () => {});
    manager.on('synced', async () => {});
  });

  it('have these names and no others', () => {
    // @ts-expect-error there is no bare `error` event
    manager.on('error', () => {});
    // @ts-expect-error misspelt
    manager.once('sync', () => {});
    // @ts-expect-error misspelt
    manager.off('Synced', () => {});
    // @ts-expect-error a synced event has no pod
    manager.on('synced', ({ pod: of }) => of);
  });

  it('can be listened to, but only the manager emits them', () => {
    expectTypeOf(manager).toExtend<Listenable<StatusManagerEvents>>();
    // @ts-expect-error only the manager emits
    manager.emit('synced');
  });
});

describe('the options', () => {
  const needed = { podManager: new BasicPodManager(), podDeletionSafety: options.podDeletionSafety };

  it('may have a null client, and need the three injected parts', () => {
    new StatusManager({ ...needed, podClient: null });
    expectTypeOf<{ podClient: null } & Omit<StatusManagerOptions, 'podClient'>>().toExtend<StatusManagerOptions>();
    expectTypeOf(KubePodClient.fromKubeConfig).returns.toExtend<StatusManagerOptions['podClient']>();
    // @ts-expect-error null must be given, not left out
    new StatusManager(needed);
    // @ts-expect-error no pod manager
    new StatusManager({ podClient: null, podDeletionSafety: needed.podDeletionSafety });
    // @ts-expect-error no podDeletionSafety
    new StatusManager({ podClient: null, podManager: needed.podManager });
  });

  it('accept pino, console and Math.random', () => {
    new StatusManager({ ...needed, podClient: null, random: Math.random, podSource: { lastObservedAt: () => undefined } });
    const pinoLike = (fields: object, message?: string, ...rest: unknown[]): void => void [fields, message, rest];
    new StatusManager({
      ...needed,
      podClient: null,
      logger: { debug: pinoLike, info: pinoLike, warn: pinoLike, error: pinoLike },
    });
    new StatusManager({ ...needed, podClient: null, logger: console });
  });

  it('refuse values of another type', () => {
    const base = { ...needed, podClient: null };
    // @ts-expect-error milliseconds are a number
    new StatusManager({ ...base, syncPeriodMs: '10s' });
    // @ts-expect-error strategic or json
    new StatusManager({ ...base, patchFormat: 'merge' });
    // @ts-expect-error when-unknown or always
    new StatusManager({ ...base, fetchBeforePatch: true });
    // @ts-expect-error both qps and burst
    new StatusManager({ ...base, rateLimiter: { qps: 5 } });
    // @ts-expect-error misspelt
    new StatusManager({ ...base, syncPeriod: 10_000 });
    // @ts-expect-error a list
    new StatusManager({ ...base, ownedConditionTypes: 'example.com/Ready' });
    // @ts-expect-error a sink has three methods
    new StatusManager({ ...base, metrics: { increment: () => {} } });
  });
});
