import { setTimeout as pause } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import type { WirePod } from '../../src/index.ts';
import { podFor } from '../support/workload.ts';

const inParallel = 16;

type Send = (method: 'POST' | 'DELETE', path: string, body: unknown) => Promise<unknown>;

/** Resolves to the answer, or to undefined for a refusal. */
function sender(kubeConfig: KubeConfig): { readonly send: Send; readonly close: () => Promise<void> } {
  const origin = kubeConfig.getCurrentCluster()?.server ?? '';
  const authorization = `Bearer ${kubeConfig.getCurrentUser()?.token}`;
  const dispatcher = new Agent({ allowH2: false, connections: inParallel, connect: { rejectUnauthorized: false } });
  const send: Send = async (method, path, body) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await request(new URL(path, origin), { method, dispatcher, headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    return answer.statusCode < 300 ? JSON.parse(text) : undefined;
  };
  return { send, close: () => dispatcher.close() };
}

/** A namespace with `count` fresh pods and no others. */
export async function createPods(kubeConfig: KubeConfig, namespace: string, count: number): Promise<WirePod[]> {
  const { send, close } = sender(kubeConfig);
  await send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const path = podsPath(namespace);
  await send('DELETE', path, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
  const create = async (index: number): Promise<WirePod> => {
    for (;;) {
      const pod = await send('POST', path, podFor(namespace, 'node-a', index));
      if (pod !== undefined) return pod as WirePod;
      // a new namespace takes pods only once it has settled
      await pause(200);
    }
  };
  const pods = await Promise.all(Array.from({ length: count }, (_, index) => create(index)));
  await close();
  return pods;
}

/** What a user does: the pods get a deletionTimestamp, and the node's agent has to end them. */
export async function deleteGracefully(kubeConfig: KubeConfig, namespace: string, pods: readonly WirePod[]): Promise<void> {
  const { send, close } = sender(kubeConfig);
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 30 };
  await Promise.all(pods.map((pod) => send('DELETE', `${podsPath(namespace)}/${pod.metadata?.name}`, body)));
  await close();
}

function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}
