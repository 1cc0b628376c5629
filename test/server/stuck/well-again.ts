import { expect } from 'vitest';
import type { LogLine } from './stuck-node.ts';
import type { StuckRow } from './stuck-row.ts';

const runtimeReady = 'the container runtime is ready again';
const eventsWritten = 'events are written again';
const manifestsRead = 'the manifests of the path can be read again';

/** Of the lines about failures, what the log says once such failures are over. */
export const wellAgain: Readonly<Record<string, string>> = {
  'the node could not be kept in step': 'the node is kept in step again',
  'the Lease of the node could not be renewed': 'the Lease of the node is renewed again',
  'this process takes no shards of the fleet': 'this process takes shards of the fleet again',
  'shards of the fleet have no owner': 'the shards of the fleet have owners again',
  'listing or watching failed': 'listing and watching work again',
  'an event was refused: it is not written': eventsWritten,
  'an event could not be written': eventsWritten,
  'an event could not be written, and is given up': eventsWritten,
  'a pod could not be brought up to date': 'a pod is brought up to date again',
  'a pod was not synced and will be synced again': 'a pod is synced again',
  'the provider failed; it is called again later': 'the provider has done what it failed at before',
  'the provider did not delete a pod; it is asked again later': 'the provider has deleted a pod that it failed to delete before',
  'a container has ended and will be started again': 'a container that had failed is well again',
  'admitPod failed; the pod waits': 'admitPod works again',
  "nobody can say who sends a request to the node's API (TokenReview)":
    "the apiserver says again who sends a request to the node's API",
  "nobody can say what the sender of a request to the node's API may do (SubjectAccessReview)":
    "the apiserver says again what the sender of a request to the node's API may do",
  "the certificates of the node's API could not be read again; those of before stay":
    "the certificates of the node's API can be read again",
  'a probe of a container has failed as often as its threshold says': 'a probe of a container succeeds again',
  'a pod waits for what it refers to': 'a pod has what it waited for',
  'a container waits for what it refers to': 'a container has what it waited for',
  'the files of a pod could not be brought up to date': 'the files of a pod are up to date again',
  'a mirror pod could not be kept in step': 'a mirror pod is kept in step again',
  'the pods of the URL could not be read': 'the pods of the URL can be read again',
  'the path of manifests cannot be read': manifestsRead,
  'the manifest cannot be used; it is left out': manifestsRead,
  'the manifest cannot be used; the pods of its last good content stay': manifestsRead,
  'the container runtime did not say how it is; it is asked again': runtimeReady,
  'the container runtime says that it is not ready': runtimeReady,
  'the container runtime says that its network is not ready': 'the network of the container runtime is ready again',
  'the node runs short, and takes fewer pods': 'the node runs short of nothing any more',
  'unused images could not be removed': 'unused images can be removed again',
  'ended containers could not be removed': 'ended containers can be removed again',
  'the page /healthz could not be served, and is tried again': 'the page /healthz is served again',
  'what pods have left could not be cleaned up': 'what pods have left can be removed again',
  'the groups of the classes of pods could not be brought up to date; it is tried again':
    'the groups of the classes of pods are up to date again',
  'a plugin could not be registered; it is tried again': 'a plugin that could not be registered is registered',
  'the sockets of plugins cannot be looked at; plugins stay as they are': 'the sockets of plugins can be looked at again',
  'the CSINode could not be written; it is tried again': 'the CSINode is written again',
  'a shutdown of the machine would not be heard of, or not wait for the pods': 'a shutdown of the machine is heard of again',
  'the machine does not wait long enough for its pods at a shutdown: they get less time':
    'the machine waits long enough for its pods again',
  'a pod could not be placed': 'a pod has its node, which could not be placed before',
  'an extender failed and is passed over': 'an extender that was passed over has its say again',
  'the status of a pod could not be written': 'the status of a pod is written again',
  'the Lease of the leader can be neither taken nor renewed: without it this process does nothing':
    'the Lease of the leader can be taken and renewed again',
};

/** The line that the log has once this row is mended; undefined where it has none. */
export function lineOfEnd({ log, endTold }: StuckRow): string | undefined {
  return endTold === false || log === undefined ? undefined : wellAgain[log.message];
}

/** The log says once that it is over, of the same pod, and how many failures there were. */
export function requireEndTold(row: StuckRow, infos: readonly LogLine[], names: object): void {
  const message = lineOfEnd(row);
  if (message === undefined) return;
  const lines = infos.filter((line) => line.message === message);
  expect(lines.length, `${row.id}: ${infos.map((line) => line.message)}`).toBe(1);
  if (message === 'the node runs short of nothing any more') return;
  expect(lines[0]?.fields, row.id).toMatchObject({ ...names, attempt: expect.any(Number), failingForMs: expect.any(Number) });
  const { attempt, failingForMs } = lines[0]?.fields as { attempt: number; failingForMs: number };
  expect([attempt > 0, failingForMs >= 0], row.id).toEqual([true, true]);
}
