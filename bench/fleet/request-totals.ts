import type { AdminClient } from '../../test/support/admin-client.ts';

/** Requests that the apiserver has answered so far, by what they did, such as `PATCH pods/status`. A watch counts when it ends. */
export type RequestTotals = ReadonlyMap<string, number>;

/** Reads the apiserver's own counters, which cost it nothing while requests come. Requests for no resource, as this one, do not count. */
export async function requestTotals(admin: AdminClient): Promise<RequestTotals> {
  const { body } = await admin.send('GET', '/metrics');
  const totals = new Map<string, number>();
  for (const line of String(body).split('\n')) {
    const labels = /^apiserver_request_total\{(.*)\} /.exec(line)?.[1];
    if (labels === undefined) continue;
    const of = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    if (of('resource') === '') continue;
    const kind = `${of('verb')} ${of('resource')}${of('subresource') === '' ? '' : `/${of('subresource')}`}`;
    totals.set(kind, (totals.get(kind) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
  }
  return totals;
}

/** Between two times, without what the benchmark itself has sent: `POST pods`. */
export function requestsBetween(before: RequestTotals, after: RequestTotals): Record<string, number> {
  const kinds = [...after]
    .map(([kind, total]): [string, number] => [kind, total - (before.get(kind) ?? 0)])
    .filter(([kind, count]) => count > 0 && kind !== 'POST pods')
    .sort(([, a], [, b]) => b - a);
  return Object.fromEntries(kinds);
}
