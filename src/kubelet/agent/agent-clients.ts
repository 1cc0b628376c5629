import type { Failing } from '../../base/failure-run.ts';
import { ApiEventRecorder } from '../../client/events/api-event-recorder.ts';
import { type EventRecorder, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';
import { RequestLanes } from './request-lanes.ts';

/** Whoever reaches the agent's API, also without credentials, makes it ask for a review. */
const mostReviewsWaiting = 200;
/** What client-go does where nothing is said. */
const defaultEventQPS = 5;

/** The agent's ways to the apiserver: what leaves over one of them never waits for all that waits on another. */
export class AgentClients {
  /** Without a limit, as the kubelet's: for the node and its Lease. */
  readonly heartbeatClient: KubeTransport;
  /** Pods of the node, mirror pods, services, classes. */
  readonly kubeClient: ResourceTransport;
  readonly statusClient: ResourceTransport;
  /** What pods refer to: there may be much of it. */
  readonly objectClient: ResourceTransport;
  /** Who may use the agent's own API. */
  readonly reviewClient: ResourceTransport;
  readonly eventRecorder: Required<EventRecorder>;
  readonly #lanes: RequestLanes;
  readonly #eventLanes: RequestLanes;
  readonly #ownTransport: KubeTransport | undefined;
  readonly #ownEvents: ApiEventRecorder | undefined;

  constructor({ given, nodeName, settings, clock, logger, random }: ResolvedAgentOptions) {
    const { kubeConfig, transport, eventRecorder } = given;
    this.#ownTransport =
      transport === undefined ? new KubeTransport(kubeConfig as NonNullable<typeof kubeConfig>, { clock, logger }) : undefined;
    this.heartbeatClient = transport ?? (this.#ownTransport as KubeTransport);
    const limit = { qps: settings.kubeAPIQPS, burst: settings.kubeAPIBurst };
    this.#lanes = new RequestLanes(this.heartbeatClient, limit, clock);
    this.kubeClient = this.#lanes.lane();
    this.statusClient = this.#lanes.lane();
    this.objectClient = this.#lanes.lane();
    this.reviewClient = this.#lanes.lane(mostReviewsWaiting);
    const ofEvents = { qps: settings.eventRecordQPS || defaultEventQPS, burst: settings.eventBurst };
    this.#eventLanes = new RequestLanes(this.heartbeatClient, ofEvents, clock);
    const events = { transport: this.#eventLanes.lane(), nodeName, component: 'kubelet', clock, logger, random };
    this.#ownEvents = eventRecorder === undefined ? new ApiEventRecorder(events) : undefined;
    this.eventRecorder = safeEventRecorder(eventRecorder ?? (this.#ownEvents as ApiEventRecorder));
  }

  /** Why events are not written; undefined while all is well, and for a recorder of somebody else's. */
  eventsFailing(): Failing | undefined {
    return this.#ownEvents?.failing;
  }

  /** Writes the events that wait. What was given to the agent stays open. */
  async close(): Promise<void> {
    await this.#ownEvents?.stop();
    this.#lanes.close();
    this.#eventLanes.close();
    await this.#ownTransport?.close();
  }
}
