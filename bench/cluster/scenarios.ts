// Counts one manager's requests in scenarios that are not a storm:
// node bench/cluster/scenarios.ts --mode churn|churnTwice|lifecycle|quiet|urgency …
import { setTimeout as pause } from 'node:timers/promises';
import type { PodClient, PodDeletionSafety, PodStatus } from '../../src/index.ts';
import { withWrites } from '../support/clients.ts';
import { statusFor, wholeSecondNow } from '../support/workload.ts';
import { startAgent, workerOptions } from './agent.ts';
import { churn } from './churn.ts';
import { deleteGracefully } from './create-pods.ts';
import { difference, type PodRequests, podRequests, total } from './metrics.ts';

const options = workerOptions();
const counters = (): Promise<PodRequests> => podRequests(options.kubeConfig);
const now = wholeSecondNow();

/** Takes each pod from Pending to the object's removal: four statuses and a DELETE for each pod. */
async function lifecycle() {
  const reclaimed: PodDeletionSafety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true };
  const { pods, podManager, manager, stop } = await startAgent(options, { podDeletionSafety: reclaimed });
  const before = await counters();
  let changes = 0;
  const setAll = async (status: (index: number) => PodStatus): Promise<void> => {
    for (const [index, pod] of pods.entries()) {
      const newest = podManager.getPodByUID(pod.metadata?.uid ?? '') ?? pod;
      if (manager.setPodStatus(newest, status(index))) changes++;
    }
    await manager.flush({ timeoutMs: 120_000 });
  };
  await setAll((index) => ({ ...statusFor(index, 1, now), phase: 'Pending', containerStatuses: [] }));
  await setAll((index) => statusFor(index, 1, now));
  await setAll((index) => statusFor(index, 0, now));
  await deleteGracefully(options.kubeConfig, options.namespace, pods);
  for (const pod of pods) {
    while (!podManager.getPodByUID(pod.metadata?.uid ?? '')?.metadata?.deletionTimestamp) await pause(5);
  }
  // the end of a pod is two changes: the last status, and the object's removal
  changes += pods.length;
  await setAll((index) => ended(index));
  for (const pod of pods) while (podManager.getPodByUID(pod.metadata?.uid ?? '') !== undefined) await pause(5);
  const after = difference(await counters(), before);
  await stop();
  // the graceful DELETEs are the user's, not the manager's
  const requests = { ...after, DELETE: after.DELETE - pods.length };
  return { changes, requests, requestsAChange: total(requests) / changes };
}

function ended(index: number): PodStatus {
  const status = statusFor(index, 1, now);
  const terminated = { exitCode: 0, startedAt: now, finishedAt: now, reason: 'Completed' };
  return {
    ...status,
    phase: 'Succeeded',
    containerStatuses:
      status.containerStatuses?.map((container) => ({ ...container, started: false, state: { terminated } })) ?? [],
  };
}

/** Runs batches while nothing changes. Some statuses lack the values that the server fills in. */
async function quiet() {
  const { pods, manager, stop } = await startAgent(options, { manager: { syncPeriodMs: 1000 } });
  for (const [index, pod] of pods.entries()) {
    const { qosClass, podIPs, ...rest } = statusFor(index, 0, now);
    manager.setPodStatus(pod, index % 2 === 0 ? ({ qosClass, podIPs, ...rest } as PodStatus) : rest);
  }
  await manager.flush({ timeoutMs: 120_000 });
  await pause(1500);
  const before = await counters();
  await pause(options.rounds * 1000);
  const requests = difference(await counters(), before);
  await stop();
  return { batches: options.rounds, requests, total: total(requests) };
}

/** A pod becomes Ready behind a backlog of all the others, under a rate limit. */
async function urgency() {
  const order: string[] = [];
  const recorded = (client: PodClient): PodClient =>
    withWrites(client, (namespace, name, ...rest) => {
      order.push(name);
      return client.patchPodStatus(namespace, name, ...rest);
    });
  const { pods, manager, stop } = await startAgent(options, { wrapClient: recorded });
  for (const [index, pod] of pods.entries()) manager.setPodStatus(pod, statusFor(index, 1, now));
  // until the burst is used up and there is a backlog
  await pause(2000);
  const [slots, delaysMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < options.rounds; round++) {
    const index = pods.length - 1 - round;
    const pod = pods[index];
    if (pod === undefined) break;
    const [sentBefore, start] = [order.length, performance.now()];
    manager.setPodStatus(pod, statusFor(index, 0, now));
    await manager.flush({ podUID: pod.metadata?.uid ?? '' });
    delaysMs.push(performance.now() - start);
    slots.push(order.indexOf(pod.metadata?.name ?? '', sentBefore) - sentBefore + 1);
    await pause(300);
  }
  const backlog = pods.length - order.length;
  await stop();
  return { backlogAtEnd: backlog, slots, delaysMs };
}

const scenarios = {
  churn: () => churn(options),
  churnTwice: () => churn(options, { brokenly: true }),
  lifecycle,
  quiet,
  urgency,
};
const scenario = scenarios[options.mode as keyof typeof scenarios];
if (scenario === undefined) throw new Error(`--mode must be one of ${Object.keys(scenarios).join(', ')}`);
console.log(JSON.stringify({ mode: options.mode, pods: options.count, ...(await scenario()) }));
