import type { WireLease } from '../../../../src/api/json/types.ts';
import { ApiError, type KubeRequest } from '../../../../src/index.ts';
import type { ResourceTransport } from '../../../../src/reflector.ts';

/** What becomes of a request: it is answered, lost before or after it was carried out, or never settles. */
export type Fate = 'answered' | 'lost' | 'answerLost' | 'silent';

/** An apiserver of one Lease, as a transport for each candidate. */
export class LeaseServer {
  lease: WireLease | undefined;
  /** `IDENTITY METHOD` of each request. */
  readonly requests: string[] = [];
  fate: (identity: string, method: string) => Fate = () => 'answered';
  #version = 0;

  transportOf(identity: string): ResourceTransport {
    const request = async ({ method, body, signal }: KubeRequest) => {
      this.requests.push(`${identity} ${method}`);
      const fate = this.fate(identity, method);
      if (fate === 'lost') throw new ApiError({ reason: 'NoAnswer', message: 'lost' });
      if (fate === 'silent') return silence(signal);
      const answer = this.#answer(method, body as WireLease);
      if (fate === 'answerLost') throw new ApiError({ reason: 'NoAnswer', message: 'the answer was lost' });
      return structuredClone(answer) as never;
    };
    return { request, stream: () => Promise.reject(new Error('no streams')) };
  }

  #answer(method: string, body: WireLease): WireLease {
    if (method === 'GET') {
      if (this.lease === undefined) throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found' });
      return this.lease;
    }
    if (method === 'POST' && this.lease !== undefined) throw new ApiError({ status: 409, reason: 'AlreadyExists', message: '' });
    if (method === 'PUT' && body.metadata?.resourceVersion !== this.lease?.metadata?.resourceVersion)
      throw new ApiError({ status: 409, reason: 'Conflict', message: 'another version' });
    this.#version += 1;
    const metadata = { ...body.metadata, uid: 'lease-1', resourceVersion: String(this.#version) };
    this.lease = { ...body, metadata };
    return this.lease;
  }
}

function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(new ApiError({ reason: 'Aborted', message: '' }))),
  );
}
