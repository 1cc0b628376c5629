import type { WireLease } from '../../../../src/api/json/types.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';

/** Another view of a Lease; undefined: it is shown as it is. */
export type LeaseView = (lease: WireLease) => WireLease | undefined;

/** A member that sees other Leases than there are: in its watch, its lists, and what it reads. */
export function seeing(transport: ResourceTransport, view: LeaseView): ResourceTransport {
  const shown = (value: unknown): unknown => {
    const { metadata, items } = value as { metadata?: unknown; items?: readonly unknown[] };
    if (Array.isArray(items)) return { ...(value as object), items: items.map(shown) };
    return metadata === undefined ? value : (view(value as WireLease) ?? value);
  };
  return {
    request: async (request) => {
      const answer = await transport.request(request);
      return request.method === 'GET' ? (shown(answer) as JsonMembers) : answer;
    },
    stream: (stream) => {
      const onChunk = (chunk: Buffer): void => stream.onChunk(Buffer.from(chunk.toString().split('\n').map(seen).join('\n')));
      const seen = (line: string): string => {
        // a line that was cut off is no event
        if (!line.endsWith('}')) return line;
        const { type, object } = JSON.parse(line);
        return JSON.stringify({ type, object: type === 'ERROR' ? object : shown(object) });
      };
      return transport.stream({ ...stream, onChunk });
    },
  };
}

/** What becomes of a request. */
export type RequestChange = (request: KubeRequest, send: ResourceTransport['request']) => Promise<JsonMembers>;

/** A member whose requests for Leases become others. */
export function requesting(transport: ResourceTransport, change: RequestChange): ResourceTransport {
  const send: ResourceTransport['request'] = (request) => transport.request(request);
  return { request: (request) => change(request, send), stream: (stream) => transport.stream(stream) };
}

export function roleOfLease(lease: WireLease): string | undefined {
  return lease.metadata?.labels?.['pod-status-manager/fleet-role'];
}

/** The number of the shard whose Lease a path names. */
export function shardInPath(path: string): number | undefined {
  const number = /-shard-(\d+)$/.exec(path)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** A write that is refused for its version is sent again with the version that is there. */
export async function takingAnyVersion(...[request, send]: Parameters<RequestChange>): Promise<JsonMembers> {
  try {
    return await send(request);
  } catch (error) {
    if (request.method !== 'PUT' || (error as { status?: number }).status !== 409) throw error;
    const { metadata } = (await send({ ...request, method: 'GET', body: undefined })) as WireLease;
    const lease = request.body as WireLease;
    const body = { ...lease, metadata: { ...lease.metadata, resourceVersion: metadata?.resourceVersion } };
    return send({ ...request, body });
  }
}

/** What gives a Lease up is answered, and never sent. */
export async function notGivingUp(...[request, send]: Parameters<RequestChange>): Promise<JsonMembers> {
  const lease = request.body as WireLease | undefined;
  const isRelease = request.method === 'PUT' && lease?.spec?.holderIdentity === '';
  return isRelease ? (lease as JsonMembers) : send(request);
}
