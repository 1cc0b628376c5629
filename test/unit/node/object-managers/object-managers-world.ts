import { Buffer } from 'node:buffer';
import type { MetricsSink, Pod } from '../../../../src/index.ts';
import { type FrozenSecret, type ObjectManagerOptions, SecretManager } from '../../../../src/object-managers.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ObjectServer, type ObjectServerOptions } from '../../../support/object-server.ts';
import { podPullingWith } from '../../../support/pods.ts';

/** A pod of namespace `d` that names these secrets. */
export function podWith(uid: string, secrets: readonly string[], members: { namespace?: string; phase?: string } = {}): Pod {
  const { namespace = 'd', phase } = members;
  return podPullingWith(secrets, { uid, namespace }, phase);
}

export const textOf = (secret: FrozenSecret): string => Buffer.from(secret.data?.v ?? '', 'base64').toString();

/** A secret manager over a server in memory, in virtual time. */
export function secretWorld(options: ObjectManagerOptions = {}, serverOptions: ObjectServerOptions = {}) {
  const clock = new FakeClock();
  const server = new ObjectServer({ clock, ...serverOptions });
  const gauges = new Map<string, number>();
  const metrics: MetricsSink = { increment: () => {}, observe: () => {}, set: (name, value) => void gauges.set(name, value) };
  const manager = new SecretManager({ logger: null, transport: server, clock, metrics, random: () => 0.5, ...options });
  const getSecret = (name: string, namespace = 'd') => manager.getSecret(namespace, name);
  return {
    clock,
    server,
    manager,
    getSecret,
    /** The value of a secret that can be read at once. */
    read: async (name: string, namespace = 'd'): Promise<string> => textOf(await settled(clock, getSecret(name, namespace))),
    requests: (verb?: string): number => server.requests.filter((request) => verb === undefined || request.verb === verb).length,
    watchesGauge: () => gauges.get('pod_status_manager_object_watches') ?? 0,
    referencedGauge: () => gauges.get('pod_status_manager_referenced_objects') ?? 0,
  };
}

/** Lets no more time pass than a timer of no length needs. */
export async function settled<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await settle();
  await clock.advance(0);
  return promise;
}

/** What a read fails with. */
export async function failureOf(clock: FakeClock, read: Promise<unknown>, waitMs = 0): Promise<Error & { code?: string }> {
  const failure = read.then(
    () => new Error('it did not fail'),
    (error: unknown) => error as Error,
  );
  await clock.advance(waitMs);
  return failure;
}
