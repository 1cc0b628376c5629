// The PodClient seam: the manager's three requests over the platform's own fetch, for an apiserver behind `kubectl proxy`
// or a sidecar that adds the credentials. Run it: npm run example examples/custom-pod-client.ts
import {
  ApiError,
  BasicPodManager,
  type DeletePodOptions,
  type PodClient,
  type PodMetadata,
  type PodStatusPatch,
  type RequestOptions,
  StatusManager,
  type WirePod,
} from 'pod-status-manager';
import { InMemoryApiServer } from 'pod-status-manager/testing';

class FetchPodClient implements PodClient {
  readonly #server: string;

  constructor(server: string) {
    this.#server = server;
  }

  getPod(namespace: string, name: string, { signal }: RequestOptions): Promise<WirePod> {
    return this.#send<WirePod>('GET', `${namespace}/pods/${name}`, signal);
  }

  async patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, options: RequestOptions): Promise<PodMetadata> {
    const path = `${namespace}/pods/${name}/status`;
    const { metadata } = await this.#send<{ metadata: PodMetadata }>('PATCH', path, options.signal, patch.body, patch.type);
    return metadata;
  }

  async deletePod(namespace: string, name: string, options: DeletePodOptions): Promise<PodMetadata | undefined> {
    const { signal, gracePeriodSeconds, uid } = options;
    const body = { gracePeriodSeconds, preconditions: { uid } };
    const answer = await this.#send<{ metadata?: PodMetadata }>('DELETE', `${namespace}/pods/${name}`, signal, body);
    return answer.metadata;
  }

  /** Sends one request. The error of a refusal carries its HTTP status and `Retry-After`: the manager decides what follows. */
  async #send<T>(method: string, path: string, signal: AbortSignal, body?: unknown, type = 'application/json'): Promise<T> {
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } };
    const response = await fetch(`${this.#server}/api/v1/namespaces/${path}`, { method, signal, ...init });
    const answer: unknown = await response.json();
    if (response.ok) return answer as T;
    const seconds = Number(response.headers.get('retry-after'));
    // only a Status object comes from the apiserver itself: a proxy may answer 404 too
    const { kind, reason = 'Unknown', message = 'no message' } = answer as { kind?: string; reason?: string; message?: string };
    throw new ApiError({
      status: response.status,
      reason: kind === 'Status' ? reason : 'NoStatus',
      message: `${method} ${path}: ${message}`,
      ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
    });
  }
}

await using server = await InMemoryApiServer.start();
const pod = server.store.create({
  metadata: { name: 'web', namespace: 'default' },
  spec: { nodeName: 'my-node', containers: [{ name: 'app', image: 'registry.example/app:1' }] },
});

const podManager = new BasicPodManager();
podManager.addPod(pod);
await using manager = new StatusManager({
  podClient: new FetchPodClient(server.url),
  podManager,
  podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
  logger: null, // the failure below is asked for
});
manager.on('syncError', ({ errorClass, retryInMs }) => console.log(`Refused (${errorClass}), again in ${retryInMs} ms.`));
manager.start();

// The manager sends a refused request again by itself.
server.fail({ verb: 'patch', times: 1, fault: { kind: 'status', code: 503 } });
manager.setPodStatus(pod, { phase: 'Running' });
await manager.flush();
console.log(`The apiserver says ${server.store.get('default', 'web').status?.phase}.`);
