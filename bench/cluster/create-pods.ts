import { setTimeout as pause } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { WirePod } from '../../src/index.ts';
import { AdminClient } from '../../test/support/admin-client.ts';
import { podFor } from '../support/workload.ts';

const inParallel = 16;

/** Calls `act` for 0, 1, … `count - 1`, sixteen at once, with one client. Closes the client afterwards. */
async function forEach<T>(
  kubeConfig: KubeConfig,
  count: number,
  act: (admin: AdminClient, index: number) => Promise<T>,
): Promise<T[]> {
  const admin = new AdminClient(kubeConfig);
  const results: T[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      results[index] = await act(admin, index);
    }
  };
  await Promise.all(Array.from({ length: inParallel }, work));
  await admin.close();
  return results;
}

/** Makes a namespace with `count` new pods and no others. */
export async function createPods(kubeConfig: KubeConfig, namespace: string, count: number): Promise<WirePod[]> {
  await forEach(kubeConfig, 1, async (admin) => {
    await admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
    await admin.send('DELETE', `/api/v1/namespaces/${namespace}/pods`, { body: { gracePeriodSeconds: 0 } });
  });
  return forEach(kubeConfig, count, async (admin, index) => {
    for (;;) {
      const { status, body } = await admin.createPod(namespace, podFor(namespace, 'node-a', index));
      if (status === 201) return body as WirePod;
      // the apiserver accepts pods only a moment after it has created the namespace
      await pause(200);
    }
  });
}

/** Deletes pods as a user does: they get a deletionTimestamp, and the node's agent has to end them. */
export async function deleteGracefully(kubeConfig: KubeConfig, namespace: string, pods: readonly WirePod[]): Promise<void> {
  await forEach(kubeConfig, pods.length, async (admin, index) => {
    await admin.deletePod(namespace, pods[index]?.metadata?.name ?? '', { gracePeriodSeconds: 30 });
  });
}
