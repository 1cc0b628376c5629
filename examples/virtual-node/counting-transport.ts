import { ApiError, type KubeRequest, KubeTransport } from '../../src/index.ts';

export type Verb = 'get' | 'patch' | 'delete';

/** One pod, or its status; a list of pods is another path. */
const podPath = /\/namespaces\/[^/]+\/pods\/[^/]+(\/status)?$/;
const verbs: Readonly<Record<string, Verb>> = { GET: 'get', PATCH: 'patch', DELETE: 'delete' };

/** Counts the requests on single pods: those of a status manager. The refusals are counted by HTTP status. */
export class CountingTransport extends KubeTransport {
  readonly requests: Record<Verb, number> = { get: 0, patch: 0, delete: 0 };
  /** The number of refusals by HTTP status, or by reason where no answer came. */
  readonly refusals = new Map<number | string, number>();

  override async request(request: KubeRequest): ReturnType<KubeTransport['request']> {
    const verb = podPath.test(request.path) ? verbs[request.method] : undefined;
    if (verb === undefined) return super.request(request);
    this.requests[verb]++;
    try {
      return await super.request(request);
    } catch (error) {
      const what = error instanceof ApiError ? (error.status ?? error.reason) : 'unknown';
      this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1);
      throw error;
    }
  }
}
