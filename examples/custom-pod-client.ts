// A PodClient of your own: the manager's three requests over Node's own https, with the credentials that client-node finds.
// Run it: node examples/custom-pod-client.ts [KUBECONFIG]
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import {
  ApiError,
  BasicPodManager,
  type DeletePodOptions,
  KubeTransport,
  loadClientConfig,
  type PodClient,
  type PodMetadata,
  type PodStatusPatch,
  type RequestOptions,
  StatusManager,
  type WirePod,
} from 'pod-status-manager';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

interface Question {
  readonly method: string;
  /** Below `/api/v1/namespaces/`. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly body?: unknown;
  readonly type?: string;
}

class HttpsPodClient implements PodClient {
  readonly #server: string;
  readonly #access: https.RequestOptions;

  /** `access`: the certificates and credentials. */
  constructor(server: string, access: https.RequestOptions) {
    this.#server = server;
    this.#access = access;
  }

  getPod(namespace: string, name: string, { signal }: RequestOptions): Promise<WirePod> {
    return this.#send<WirePod>({ method: 'GET', path: `${namespace}/pods/${name}`, signal });
  }

  async patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, { signal }: RequestOptions): Promise<PodMetadata> {
    const path = `${namespace}/pods/${name}/status`;
    const { metadata } = await this.#send<{ metadata: PodMetadata }>({ method: 'PATCH', path, signal, ...patch });
    return metadata;
  }

  async deletePod(namespace: string, name: string, options: DeletePodOptions): Promise<PodMetadata | undefined> {
    const { signal, gracePeriodSeconds, uid } = options;
    const body = { gracePeriodSeconds, preconditions: { uid } };
    const question = { method: 'DELETE', path: `${namespace}/pods/${name}`, signal, body };
    const { metadata } = await this.#send<{ metadata?: PodMetadata }>(question);
    return metadata;
  }

  /** Sends one request. The error of a refusal carries its HTTP status and `Retry-After`: the manager decides what follows. */
  async #send<T>({ method, path, signal, body, type = 'application/json' }: Question): Promise<T> {
    const { request } = this.#server.startsWith('https:') ? https : http;
    const options = { ...this.#access, method, signal, headers: { ...this.#access.headers, 'content-type': type } };
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    request(`${this.#server}/api/v1/namespaces/${path}`, options, resolve)
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
    const response = await promise;
    const answer = JSON.parse(await text(response));
    const { statusCode = 0 } = response;
    if (statusCode < 300) return answer;
    const seconds = Number(response.headers['retry-after']);
    throw new ApiError({
      status: statusCode,
      // only a Status object comes from the apiserver itself: a proxy may answer 404 too
      reason: answer.kind === 'Status' ? answer.reason : 'NoStatus',
      message: `${method} ${path}: ${answer.message}`,
      ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
    });
  }
}

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });
const transport = new KubeTransport(kubeConfig);
const pods = new ResourceClient(transport, resources.pods);
const target = { namespace: 'default', name: `own-client-${process.pid}` };
const spec = { nodeName: 'my-node', containers: [{ name: 'app', image: 'registry.example/app:1' }] };
const pod = await pods.create({ metadata: target, spec });

const podManager = new BasicPodManager();
podManager.addPod(pod);
const access: https.RequestOptions = {};
if (server === undefined) await kubeConfig.applyToHTTPSOptions(access);
const manager = new StatusManager({
  podClient: new HttpsPodClient(kubeConfig.getCurrentCluster()?.server ?? '', access),
  podManager,
  podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
  logger: null, // the failure below is asked for
});
manager.on('syncError', ({ errorClass, retryInMs }) => console.log(`Refused (${errorClass}), again in ${retryInMs} ms.`));
manager.start();

// The manager sends a refused request again by itself.
server?.fail({ verb: 'patch', times: 1, fault: { kind: 'status', code: 503 } });
manager.setPodStatus(pod, { phase: 'Running' });
await manager.flush();
console.log(`The apiserver says ${(await pods.get(target)).status?.phase}.`);

await manager.stop();
await pods.delete(target, { gracePeriodSeconds: 0 });
await transport.close();
await server?.stop();
