import { join } from 'node:path';
import type { Pod } from '../../../../src/api/json/types.ts';
import { safeClock } from '../../../../src/base/clock.ts';
import { noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { KeptClaims } from '../../../../src/kubelet/dra/kept-claims.ts';
import { ResourceClaims } from '../../../../src/kubelet/dra/resource-claims.ts';
import type { DraClaim, DraDriver, PreparedClaim } from '../../../../src/kubelet.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';

export const driverName = 'gpu.example.com';

/** A pod that uses claims by their names, and whose container `app` uses all of them. */
export function podOf(name: string, claims: readonly string[], more: object = {}): Pod {
  const resourceClaims = claims.map((claim) => ({ name: claim, resourceClaimName: claim }));
  const resources = { claims: claims.map((claim) => ({ name: claim })) };
  const containers = [{ name: 'app', image: 'app:1', resources }];
  return buildPod({ metadata: { name, uid: name }, spec: { containers, resourceClaims, ...more } } as object) as Pod;
}

/** A claim that is allocated and reserved for pods. */
export function claimOf(name: string, podUIDs: readonly string[], more: object = {}, drivers: readonly string[] = [driverName]) {
  const results = drivers.map((driver) => ({ driver, pool: 'node-1', device: `${name}-device`, request: 'all' }));
  const reservedFor = podUIDs.map((uid) => ({ resource: 'pods', name: uid, uid }));
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '1', ...more },
    spec: {},
    status: { allocation: { devices: { results } }, reservedFor },
  };
}

/** A driver in this process. Its answers are those of a good one unless the test gives others. */
export class TestDriver implements DraDriver {
  readonly name: string;
  /** `prepare a b`, `unprepare a`, in the order of the calls. */
  readonly calls: string[] = [];
  /** The uids of the claims that are ready. */
  readonly ready = new Set<string>();
  onPrepare: ((claims: readonly DraClaim[]) => Promise<ReadonlyMap<string, PreparedClaim>> | undefined) | undefined;
  onUnprepare: ((claims: readonly DraClaim[]) => Promise<ReadonlyMap<string, string>> | undefined) | undefined;

  constructor(name: string = driverName) {
    this.name = name;
  }

  async prepare(claims: readonly DraClaim[]): Promise<ReadonlyMap<string, PreparedClaim>> {
    this.calls.push(`prepare ${claims.map(({ name }) => name).join(' ')}`);
    const given = this.onPrepare?.(claims);
    if (given !== undefined) return given;
    for (const { uid } of claims) this.ready.add(uid);
    return new Map(claims.map(({ uid, name }) => [uid, { devices: [this.deviceOf(name)], error: '' }]));
  }

  deviceOf(claim: string, requestNames: readonly string[] = ['all']) {
    const cdiDeviceIDs = [`${this.name}/device=${claim}`];
    return { poolName: 'node-1', deviceName: `${claim}-device`, requestNames, cdiDeviceIDs };
  }

  async unprepare(claims: readonly DraClaim[]): Promise<ReadonlyMap<string, string>> {
    this.calls.push(`unprepare ${claims.map(({ name }) => name).join(' ')}`);
    const given = this.onUnprepare?.(claims);
    if (given !== undefined) return given;
    for (const { uid } of claims) this.ready.delete(uid);
    return new Map(claims.map(({ uid }) => [uid, '']));
  }

  async *watchHealth(): AsyncGenerator<never, void> {}
  watchConnection(): void {}
  close(): void {}
}

/** Claims on a server that is an object, and drivers of this process. */
export async function setUp() {
  const path = join(await tempDir(), 'root', 'dra_manager_state');
  const clock = new FakeClock();
  const objects = new Map<string, ReturnType<typeof claimOf>>();
  const drivers = new Map<string, TestDriver>([[driverName, new TestDriver()]]);
  const inUse = new Set<string>();
  const logs: string[] = [];
  const reads: string[] = [];
  const state = { arePodsKnown: true, mayUse: async (podUID: string) => inUse.has(podUID) };
  const transport = {
    request: async ({ path: asked }: { readonly path: string }) => {
      reads.push(asked);
      const object = objects.get(asked.split('/').at(-1) ?? '');
      if (object !== undefined) return structuredClone(object);
      throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found', isStatus: true } as never);
    },
    stream: async () => {},
  };
  const note = (fields: { err?: unknown }, message: string): void => void logs.push(`${message} ${fields.err ?? ''}`);
  const logger = { debug: () => {}, info: note, warn: note, error: note };
  const restarted = () => {
    const kept = new KeptClaims({ path, clock: safeClock(clock), logger });
    const claims = new ResourceClaims({
      kept,
      drivers: {
        driver(name) {
          const found = drivers.get(name);
          if (found === undefined) throw new Error(`DRA driver ${name} is not registered`);
          return found;
        },
      },
      transport: transport as never,
      arePodsKnown: () => state.arePodsKnown,
      mayUse: (podUID) => state.mayUse(podUID),
      metrics: noMetrics,
      clock: safeClock(clock),
      logger,
    });
    return { kept, claims };
  };
  const driver = drivers.get(driverName) as TestDriver;
  return { path, clock, objects, drivers, driver, inUse, logs, reads, state, restarted, ...restarted() };
}

/** Never aborts. */
export const going = new AbortController().signal;
