import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeStream } from '../../../../src/client/transport/kube-transport.ts';

/** The watch of one object is not closed when its reader has gone. */
export function leavingWatchesOpen(transport: ResourceTransport): ResourceTransport {
  return {
    request: (request) => transport.request(request),
    stream: (request) => {
      const { signal, ...rest } = request;
      if (signal === undefined || !request.query?.has('fieldSelector') || !/secrets/.test(request.path))
        return transport.stream(request);
      const aborted = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => aborted.reject(new ApiError({ reason: 'Aborted', message: 'aborted' })));
      const left = transport.stream({ ...rest, onChunk: (chunk) => (signal.aborted ? undefined : request.onChunk(chunk)) });
      return Promise.race([left, aborted.promise]);
    },
  };
}

/** A watch that is answered 410 goes on from the newest version: what happened in between is never told. */
export function forgettingExpiry(transport: ResourceTransport): ResourceTransport {
  const newest = async ({ path, query, signal }: KubeStream): Promise<string> => {
    const selection = new URLSearchParams();
    for (const key of ['labelSelector', 'fieldSelector']) if (query?.has(key)) selection.set(key, query.get(key) ?? '');
    const { metadata } = await transport.request({ method: 'GET', path, query: selection, signal });
    return (metadata as { resourceVersion: string }).resourceVersion;
  };
  const goOn = async (request: KubeStream): Promise<void> => {
    const query = new URLSearchParams(request.query);
    for (const key of ['sendInitialEvents', 'resourceVersionMatch']) query.delete(key);
    query.set('resourceVersion', await newest(request));
    return stream({ ...request, query });
  };
  let hasSkipped = false;
  const stream = async (request: KubeStream): Promise<void> => {
    if (!request.query?.has('labelSelector')) return transport.stream(request);
    const expired = new Error('expired');
    const onChunk = (chunk: Buffer): void => {
      if (/"type":"ERROR".*"code":410/.test(chunk.toString())) throw expired;
      request.onChunk(chunk);
    };
    try {
      await transport.stream({ ...request, onChunk });
    } catch (error) {
      const isExpired = error === expired || (error instanceof ApiError && error.status === 410);
      const isSilence = error instanceof ApiError && error.reason === 'Timeout';
      if (!isExpired && !(hasSkipped && isSilence)) throw error;
      hasSkipped = true;
      return goOn(request);
    }
  };
  return { request: (request) => transport.request(request), stream };
}
