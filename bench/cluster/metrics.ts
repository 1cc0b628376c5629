import type { KubeConfig } from '@kubernetes/client-node';
import { AdminClient } from '../../test/support/admin-client.ts';

/** Requests for pods by verb, as the apiserver counts them. */
export type PodRequests = Readonly<Record<'GET' | 'PATCH' | 'DELETE', number>>;

const line = /^apiserver_request_total\{([^}]*)\} (\S+)$/;

function countsIn(text: string): PodRequests {
  const counts = { GET: 0, PATCH: 0, DELETE: 0 };
  for (const row of text.split('\n')) {
    const [, labels = '', value = '0'] = line.exec(row) ?? [];
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const verb = label('verb');
    if (label('resource') !== 'pods' || !(verb in counts)) continue;
    counts[verb as keyof typeof counts] += Number(value);
  }
  return counts;
}

/** Reads the counters. The benchmark's own requests are POST and DELETECOLLECTION, which are not counted here. */
export async function podRequests(kubeConfig: KubeConfig): Promise<PodRequests> {
  const admin = new AdminClient(kubeConfig);
  const { status, body } = await admin.send('GET', '/metrics');
  await admin.close();
  if (status !== 200) throw new Error(`The apiserver answered /metrics with ${status}`);
  return countsIn(String(body));
}

export function difference(after: PodRequests, before: PodRequests): PodRequests {
  return { GET: after.GET - before.GET, PATCH: after.PATCH - before.PATCH, DELETE: after.DELETE - before.DELETE };
}

export function total({ GET, PATCH, DELETE }: PodRequests): number {
  return GET + PATCH + DELETE;
}
