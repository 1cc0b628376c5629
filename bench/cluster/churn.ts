import { setTimeout as pause } from 'node:timers/promises';
import type { PodClient } from '../../src/index.ts';
import { AdminClient } from '../../test/support/admin-client.ts';
import { podListOf } from '../../test/support/answers.ts';
import { writingTwice } from '../support/clients.ts';
import { statusFor, wholeSecondNow } from '../support/workload.ts';
import { WriteLedger } from '../support/write-ledger.ts';
import { startAgent, type workerOptions } from './agent.ts';
import { difference, type PodRequests, podRequests, total } from './metrics.ts';

export interface Churn {
  readonly changes: number;
  readonly requests: PodRequests;
  readonly neededWrites: number;
  /** 1 when each write is the first with its pod's newest change, and there are no other requests. */
  readonly requestsANeededWrite: number;
  /** Pods whose last change is on the apiserver at the end. */
  readonly podsUpToDate: number;
}

/** Changes every pod again and again, faster than it can be written. `brokenly`: each write is made twice. */
export async function churn(options: ReturnType<typeof workerOptions>, { brokenly = false } = {}): Promise<Churn> {
  const ledger = new WriteLedger();
  const wrapClient = (client: PodClient): PodClient => {
    const observed = ledger.observe(client);
    return brokenly ? writingTwice(observed) : observed;
  };
  const { pods, manager, stop } = await startAgent(options, { wrapClient });
  const before = await podRequests(options.kubeConfig);
  const now = wholeSecondNow();
  let changes = 0;
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, pod] of pods.entries()) {
      const status = ledger.change(pod.metadata?.name ?? '', round, statusFor(index, round, now));
      if (manager.setPodStatus(pod, status)) changes++;
    }
    await pause(20);
  }
  await manager.flush({ timeoutMs: 120_000 });
  const requests = difference(await podRequests(options.kubeConfig), before);
  await stop();
  const admin = new AdminClient(options.kubeConfig);
  const { items } = podListOf(await admin.listPods(options.namespace));
  await admin.close();
  return {
    changes,
    requests,
    neededWrites: ledger.needed,
    requestsANeededWrite: total(requests) / ledger.needed,
    podsUpToDate: items.filter(({ metadata, status }) => status.message === ledger.newest(metadata.name)).length,
  };
}
