import { ApiError, type KubeRequest } from '../../../../src/index.ts';
import type { ResourceTransport } from '../../../../src/reflector.ts';

/** What becomes of one request: it is carried out and answered, lost before or after that, refused, or to be sent again after 7 s. */
export type Fate = 'answered' | 'lost' | 'answerLost' | 'unavailable' | 'forbidden' | 'busy';

/** An apiserver of one pod, as a transport. It binds the pod once, as the real one does. */
export class PodServer {
  readonly requests: KubeRequest[] = [];
  nodeName: string | undefined;
  uid = 'u1';
  isGone = false;
  /** The fates of the next requests; the later ones are answered. */
  fates: Fate[] = [];

  readonly transport: ResourceTransport = {
    request: async (request) => {
      this.requests.push(request);
      const fate = this.fates.shift() ?? 'answered';
      if (fate === 'lost') throw new ApiError({ reason: 'NoAnswer', message: 'the request was lost' });
      if (fate === 'unavailable') throw new ApiError({ status: 503, reason: 'ServiceUnavailable', message: 'down' });
      if (fate === 'busy') throw new ApiError({ status: 429, reason: 'TooManyRequests', message: 'no room', retryAfterMs: 7000 });
      if (fate === 'forbidden') throw new ApiError({ status: 403, reason: 'Forbidden', message: 'no right' });
      const answer = this.#answer(request);
      if (fate === 'answerLost') throw new ApiError({ reason: 'NoAnswer', message: 'the answer was lost' });
      return answer as never;
    },
    stream: () => Promise.reject(new Error('no streams')),
  };

  /** `METHOD LAST_PART_OF_THE_PATH` of each request. */
  get asked(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
  }

  #answer({ method, path, body }: KubeRequest): object {
    if (path.includes('/events')) return { metadata: { name: 'e', resourceVersion: '1' } };
    if (this.isGone) throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found' });
    const pod = { metadata: { name: 'web', uid: this.uid, resourceVersion: '1' }, spec: { nodeName: this.nodeName } };
    if (!path.endsWith('/binding')) {
      const { metadata, preconditions } = (body ?? {}) as { metadata?: { uid?: string }; preconditions?: { uid?: string } };
      const uid = metadata?.uid ?? preconditions?.uid;
      if (method !== 'GET' && uid !== this.uid) throw new ApiError({ status: 409, reason: 'Conflict', message: 'another uid' });
      return pod;
    }
    const { metadata, target } = body as { metadata: { uid: string }; target: { name: string } };
    if (this.nodeName !== undefined || metadata.uid !== this.uid)
      throw new ApiError({ status: 409, reason: 'Conflict', message: 'already assigned' });
    this.nodeName = target.name;
    return { kind: 'Status', status: 'Success' };
  }
}
