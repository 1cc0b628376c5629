import type { JsonObject } from '../../../src/api/json/types.ts';
import type { AdminClient } from '../../support/admin-client.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';

export interface PodJsonOptions {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
}

/** A pod of one container, bound to a node that need not exist. `spec: { nodeName: null }` makes it unbound. */
export function podJson(name: string, { metadata = {}, spec = {} }: PodJsonOptions = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { nodeName: 'node-a', containers: [{ name: 'main', image: 'example.test/main:1' }], ...spec },
  };
}

export const startedAt = '2026-01-02T03:04:05Z';

/** The status of a pod whose one container runs. */
export function runningStatus(status: JsonObject = {}): JsonObject {
  return {
    phase: 'Running',
    startTime: startedAt,
    hostIP: '192.0.2.1',
    hostIPs: [{ ip: '192.0.2.1' }],
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }],
    conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: startedAt }],
    containerStatuses: [containerStatus('main', { running: { startedAt } })],
    ...status,
  };
}

export function containerStatus(name: string, state: JsonObject): JsonObject {
  return { name, state, lastState: {}, ready: 'running' in state, restartCount: 0, image: 'example.test/main:1', imageID: '' };
}

export function terminatedState(exitCode = 0): JsonObject {
  return { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt: startedAt } };
}

/** Creates the pod of {@link podJson}, and resolves to the server's copy. */
export async function createPod(
  admin: AdminClient,
  namespace: string,
  name: string,
  options?: PodJsonOptions,
): Promise<ServedPod> {
  return podOf(await admin.createPod(namespace, podJson(name, options)));
}

/** Creates the pod of {@link podJson} with {@link runningStatus}, and resolves to the server's copy. */
export async function createRunningPod(
  admin: AdminClient,
  namespace: string,
  name: string,
  options?: PodJsonOptions,
): Promise<ServedPod> {
  await createPod(admin, namespace, name, options);
  return podOf(await admin.patchPodStatus(namespace, name, { status: runningStatus() }));
}
