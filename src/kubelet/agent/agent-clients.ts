import type { Pod } from '../../api/json/types.ts';
import { settledAtOnce, untilAborted } from '../../base/concurrency/aborts.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { ApiEventRecorder } from '../../client/events/api-event-recorder.ts';
import { type EventRecorder, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import { ConfigMapManager } from '../../node/object-managers/config-map-manager.ts';
import { SecretManager } from '../../node/object-managers/secret-manager.ts';
import type { ApiServerSource } from '../../node/sources/api-server-source.ts';
import type { PodSource, SendPods } from '../../node/sources/pod-source.ts';
import { ClusterServices } from '../cluster/cluster-services.ts';
import { RuntimeClasses } from '../machine/node-reporter.ts';
import { TokenManager } from '../volumes/token-manager.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';
import { RequestLanes } from './request-lanes.ts';

/** So many pull secrets of a pod are read at once. */
const pullSecretsAtOnce = 8;

/** Whoever reaches the agent's API, also without credentials, makes it ask for a review. */
const mostReviewsWaiting = 200;

/** The agent's ways to the apiserver: what leaves over one of them never waits for all that waits on another. */
interface AgentLanes {
  /** Pods of the node, mirror pods, services, classes. */
  readonly own: ResourceTransport;
  readonly statuses: ResourceTransport;
  /** What pods refer to: there may be much of it. */
  readonly objects: ResourceTransport;
  readonly events: ResourceTransport;
  /** Who may use the agent's own API. */
  readonly reviews: ResourceTransport;
}

/** What the agent has to do with its cluster beside its pods and its node: what pods refer to, and where events go. */
export class ClusterParts {
  /** Without a limit, as the kubelet's for heartbeats: for the node and its Lease. */
  readonly transport: KubeTransport;
  readonly lanes: AgentLanes;
  readonly eventRecorder: Required<EventRecorder>;
  readonly secrets: SecretManager;
  readonly configMaps: ConfigMapManager;
  readonly tokens: TokenManager;
  readonly services: ClusterServices;
  readonly runtimeClasses: RuntimeClasses;
  readonly #requests: RequestLanes;
  readonly #ownTransport: KubeTransport | undefined;
  readonly #ownEvents: ApiEventRecorder | undefined;

  constructor({ given, nodeName, settings, timed, shared, objectBudget }: ResolvedAgentOptions) {
    const { kubeConfig, transport, eventRecorder } = given;
    this.#ownTransport =
      transport === undefined ? new KubeTransport(kubeConfig as NonNullable<typeof kubeConfig>, timed) : undefined;
    this.transport = transport ?? (this.#ownTransport as KubeTransport);
    const limit = { qps: settings.kubeAPIQPS, burst: settings.kubeAPIBurst };
    const requests = new RequestLanes(this.transport, limit, timed.clock);
    this.#requests = requests;
    this.lanes = {
      own: requests.lane(),
      statuses: requests.lane(),
      objects: requests.lane(),
      events: requests.lane(),
      reviews: requests.lane(mostReviewsWaiting),
    };
    const events = { transport: this.lanes.events, nodeName, component: 'kubelet', ...timed, random: shared.random };
    this.#ownEvents = eventRecorder === undefined ? new ApiEventRecorder(events) : undefined;
    this.eventRecorder = safeEventRecorder(eventRecorder ?? (this.#ownEvents as ApiEventRecorder));
    const asking = { transport: this.lanes.objects, budget: objectBudget };
    const reading = { ...asking, resyncIntervalMs: settings.syncFrequencyMs, ...shared };
    this.secrets = new SecretManager(reading);
    this.configMaps = new ConfigMapManager(reading);
    this.tokens = new TokenManager({ transport: this.lanes.objects, ...timed, random: shared.random });
    this.services = new ClusterServices({ transport: this.lanes.own, ...shared });
    this.runtimeClasses = new RuntimeClasses(this.lanes.own);
  }

  start(): void {
    this.services.start();
  }

  /** What the pod refers to is read, and watched, until it has ended. */
  podStarting(pod: Pod): void {
    this.secrets.registerPod(pod);
    this.configMaps.registerPod(pod);
  }

  podEnded(pod: Pod): void {
    for (const manager of [this.secrets, this.configMaps]) callGuarded(() => manager.unregisterPod(pod), ignoreFailure);
  }

  /** Throws ERR_OVER_BUDGET for a pod that names more secrets and config maps than the node holds for one. */
  requireWithinBudget(pod: Pod): void {
    const refusal = this.secrets.refusalOf(pod) ?? this.configMaps.refusalOf(pod);
    if (refusal !== undefined) throw refusal;
  }

  /**
   * The secrets that the pod pulls images with, in their order. One that cannot be read is left out, and an event says so. None
   * are read of a pod that names too many.
   */
  async pullSecretsOf(pod: Pod): Promise<readonly Awaited<ReturnType<SecretManager['getSecret']>>[]> {
    const namespace = pod.metadata?.namespace ?? '';
    if (this.secrets.refusalOf(pod) !== undefined) return [];
    const named = (pod.spec?.imagePullSecrets ?? []).flatMap((reference) => (reference.name ? [reference.name] : []));
    const names = [...new Set(named)];
    const read = await settledAtOnce(names, pullSecretsAtOnce, (name) => this.secrets.getSecret(namespace, name));
    const found = read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const missing = names.filter((_, index) => read[index]?.status === 'rejected');
    if (missing.length > 0) {
      const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
      this.eventRecorder.event(pod, 'Warning', 'FailedToRetrieveImagePullSecret', message);
    }
    return found;
  }

  /** The transport stays open for what is still to be written: {@link close} ends it. */
  async stop(): Promise<void> {
    await Promise.all([this.services.stop(), this.secrets.stop(), this.configMaps.stop(), this.tokens.stop()]);
  }

  async close(): Promise<void> {
    await this.#ownEvents?.stop();
    this.#requests.close();
    await this.#ownTransport?.close();
  }
}

// Behaviour of NewSourceApiserver in pkg/kubelet/config/apiserver.go, v1.36.3.

/** A source of pods that asks for nothing before `ready` has resolved. Where that rejects, it never asks. */
export class LateSource implements PodSource {
  readonly #source: Pick<ApiServerSource, 'start' | 'stop' | 'lastObservedAt' | 'lastFailure'>;
  readonly #ready: () => Promise<void>;
  readonly #stopping = new AbortController();
  #start: Promise<void> = Promise.resolve();

  constructor(source: Pick<ApiServerSource, 'start' | 'stop' | 'lastObservedAt' | 'lastFailure'>, ready: () => Promise<void>) {
    this.#source = source;
    this.#ready = ready;
  }

  start(send: SendPods): void {
    this.#start = untilAborted(this.#ready(), this.#stopping.signal).then(() => this.#source.start(send), ignoreFailure);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#start;
    await this.#source.stop();
  }

  lastObservedAt(): ReturnType<ApiServerSource['lastObservedAt']> {
    return this.#source.lastObservedAt();
  }

  lastFailure(): ReturnType<ApiServerSource['lastFailure']> {
    return this.#source.lastFailure();
  }
}
