import { isIP } from 'node:net';
import type { Pod, WireNode, WireNodeAddress } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { KubeTransport } from '../../client/transport/kube-transport.ts';
import type { NodePressures, NodeReadiness } from '../../node/node-object/node-conditions.ts';
import { NodeObject } from '../../node/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../node/node-object/node-object-options.ts';
import { parseAddress } from '../../node/pod-status/pod-ips.ts';
import type { ApiServerSource } from '../../node/sources/api-server-source.ts';
import type { Admission, AdmissionLater } from '../../node/workers/pod-admissions.ts';
import {
  type AdmissionCheck,
  type AdmissionContext,
  admitPod,
  appArmorSupport,
  nodeKind,
  nodePressure,
  noShutdown,
  podSize,
  schedulerPredicates,
} from '../admission/pod-admission.ts';
import { allowedSysctls } from '../admission/sysctls.ts';
import { UserNamespaces } from '../containers/user-namespaces.ts';
import type { DeviceManager } from '../devices/device-manager.ts';
import { filesystemBytes, hasAppArmor, type Machine } from '../machine/machine.ts';
import { isUnspecified, machineNetwork, NodeAddresses } from '../machine/node-addresses.ts';
import { NodeReporter } from '../machine/node-reporter.ts';
import { type NodeResources, nodeResources, noReservations, resourcesForPods } from '../machine/node-resources.ts';
import { OomWatch } from '../machine/oom-watch.ts';
import { PodRange } from '../machine/pod-range.ts';
import { RuntimeWatch } from '../machine/runtime-watch.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import { LogindSignals } from '../shutdown/logind-signals.ts';
import { NodeShutdown, type NodeShutdownOptions } from '../shutdown/node-shutdown.ts';
import { shutdownPeriods } from '../shutdown/shutdown-groups.ts';
import type { ResolvedSettings } from './agent-settings.ts';
import { enforcementsOf } from './limit-settings.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

export interface AgentNodeOptions {
  readonly heartbeatClient: KubeTransport;
  readonly eventRecorder: Required<EventRecorder>;
  readonly pleg: Pick<PodLifecycle, 'healthy'>;
  /** Says for which pods there is no memory. */
  readonly apiServerSource: Pick<ApiServerSource, 'refusal'>;
  readonly pressures: () => NodePressures;
  /** The volumes that may be in use; undefined while it is not known. */
  readonly volumesInUse: () => readonly string[] | undefined;
  /** What device plugins have; undefined where there are none. */
  readonly devices: () => Pick<DeviceManager, 'admit' | 'allocatableFor' | 'counts'> | undefined;
  /** The pods that end before the machine shuts down, and how they do. */
  readonly pods: Pick<NodeShutdownOptions, 'activePods' | 'killPod' | 'isCleanedUp' | 'flushStatuses'>;
}

/** The node as the cluster sees it, and which pods it takes. */
export class AgentNode {
  readonly runtimeWatch: RuntimeWatch;
  readonly object: NodeObject;
  readonly resources: NodeResources;
  /** Ends the pods before the machine shuts down; undefined where it was not asked for. */
  readonly shutdown: NodeShutdown | undefined;
  /** What all pods together may use. */
  readonly forPods: ResourceQuantities;
  /** What all pods together are limited to: where the settings do not enforce `pods`, all that the machine has. */
  readonly limitForPods: ResourceQuantities;
  /** The ids of pods that have not the machine's. */
  readonly userNamespaces: UserNamespaces;
  readonly #agent: ResolvedAgentOptions;
  readonly #options: AgentNodeOptions;
  /** Those that come before a pod gets devices, and those after that. */
  readonly #checks: { readonly first: readonly AdmissionCheck[]; readonly later: readonly AdmissionCheck[] };
  readonly #reporter: NodeReporter;
  readonly #addresses: NodeAddresses;
  readonly #podRange: PodRange;
  readonly #oomWatch: OomWatch | undefined;
  #port: number;

  constructor(agent: ResolvedAgentOptions, options: AgentNodeOptions) {
    this.#agent = agent;
    this.#options = options;
    const { given, nodeName, settings, machine, clock, logger } = agent;
    const { runtime, server, network = machineNetwork } = given;
    this.#port = server === undefined ? 0 : (server.port ?? 10_250);
    const rootBytes = settings.localStorageCapacityIsolation ? filesystemBytes(settings.rootDirectory) : undefined;
    const size = { machine, rootBytes, maxPods: mostPods(settings, machine) };
    this.resources = nodeResources(size, settings);
    this.forPods = resourcesForPods(size, settings);
    const isEnforced = enforcementsOf(settings).includes('pods');
    this.limitForPods = isEnforced ? this.forPods : resourcesForPods(size, noReservations);
    this.#addresses = new NodeAddresses({ nodeName, given: settings.nodeIPs, network, clock, logger });
    this.runtimeWatch = new RuntimeWatch({ runtime, clock, logger, changed: () => this.object.changed() });
    this.userNamespaces = new UserNamespaces({
      rootDirectory: settings.rootDirectory,
      idsPerPod: settings.userNamespaceIDsPerPod,
      maxPods: settings.maxPods,
      handlerKnows: (handler) => this.runtimeWatch.health?.handlers.find(({ name }) => name === handler)?.userNamespaces,
    });
    this.#reporter = new NodeReporter({
      resources: () => this.#resourcesNow(),
      machine,
      nodeName,
      runtime,
      addresses: this.#addresses,
      watch: this.runtimeWatch,
      clock,
      logger,
      port: () => this.#port,
      keepsAddresses: settings.externalCloudProvider,
      maxImages: settings.nodeStatusMaxImages,
      periodMs: settings.nodeStatusUpdateFrequencyMs,
      volumesInUse: options.volumesInUse,
      tell: (status) => this.object.setStatus(status),
    });
    this.object = this.#makeObject();
    this.#podRange = new PodRange({ runtime, range: () => this.#range(), nodeName, clock, logger });
    const nodeEvent = (reason: string, message: string): void => {
      options.eventRecorder.nodeEvent(nodeName, 'Warning', reason, message);
    };
    const { kernelLog: path } = machine;
    this.#oomWatch = path === undefined ? undefined : new OomWatch({ path, nodeEvent, clock, logger });
    this.shutdown = this.#makeShutdown();
    const isAppArmorThere = hasAppArmor();
    this.#checks = {
      first: [
        podSize((podUID) => options.apiServerSource.refusal(podUID)),
        nodePressure,
        allowedSysctls(settings.allowedUnsafeSysctls, machine.kernelVersion),
      ],
      later: [
        nodeKind,
        schedulerPredicates,
        appArmorSupport(() => isAppArmorThere),
        noShutdown(() => this.shutdown?.isShuttingDown === true),
      ],
    };
  }

  /** The addresses of the node, the primary one first: those that were found, or else those that the apiserver has. */
  hostIPs(): readonly string[] {
    const ofCloud = this.#agent.settings.externalCloudProvider ? hostIPsOf(this.object.newest) : [];
    return ofCloud.length > 0 ? ofCloud : (this.#addresses.found ?? hostIPsOf(this.object.newest));
  }

  /** All addresses and names of the node, as its status has them: those of the apiserver, or else those that were found. */
  addresses(): readonly WireNodeAddress[] {
    return this.object.newest?.status?.addresses ?? this.#reporter.status().addresses ?? [];
  }

  /** Whether a pod may run here that has its devices. */
  admit(pod: Pod, others: readonly Pod[]): Admission {
    const { first, later } = this.#checks;
    return admitPod([...first, ...later], this.#context(pod, others));
  }

  /** Whether a pod that is new on this node may run here. It gets its devices meanwhile. */
  admitNew(pod: Pod, others: readonly Pod[]): Admission | AdmissionLater {
    const { first, later } = this.#checks;
    const early = admitPod(first, this.#context(pod, others));
    if (!early.admit) return early;
    const devices = this.#options.devices()?.admit(pod);
    if (devices?.state === 'refused') return { admit: false, ...devices.refusal };
    if (devices?.state === 'asked') return { admit: 'later', until: devices.until, message: devices.message };
    return admitPod(later, this.#context(pod, others));
  }

  /** What the node has has changed: the cluster is told. */
  resourcesChanged(): void {
    this.#reporter.report();
  }

  /** What may be in use of volumes is told at once. */
  volumesChanged(): void {
    this.#reporter.volumesChanged();
  }

  /** `port`: what the agent's own API has got; undefined where there is none. The cluster is told of it. */
  async start(port: number | undefined): Promise<void> {
    if (port !== undefined) this.#port = port;
    await Promise.all([this.runtimeWatch.start(), this.#reporter.lookOnce()]);
    this.object.setStatus(this.#reporter.status());
    this.object.start();
    this.#reporter.start();
    this.#podRange.start();
    this.#oomWatch?.start();
    this.shutdown?.start();
  }

  async stopLooking(): Promise<void> {
    await Promise.all([this.runtimeWatch.stop(), this.#reporter.stop(), this.#podRange.stop(), this.#oomWatch?.stop()]);
  }

  #makeShutdown(): NodeShutdown | undefined {
    const { given, nodeName, settings, clock, logger, metrics } = this.#agent;
    const periods = shutdownPeriods(settings);
    if (periods.length === 0) return undefined;
    const { eventRecorder, pods } = this.#options;
    return new NodeShutdown({
      ...pods,
      nodeName,
      periods,
      rootDirectory: settings.rootDirectory,
      signals: given.shutdownSignals ?? new LogindSignals(),
      nodeChanged: () => this.object.changed(),
      isNotReadyTold: () => isNotReady(this.object.newest),
      nodeEvent: (reason, message) => eventRecorder.nodeEvent(nodeName, 'Normal', reason, message),
      clock,
      logger,
      metrics,
    });
  }

  #makeObject(): NodeObject {
    const { given, nodeName, settings, shared } = this.#agent;
    const { heartbeatClient, eventRecorder, pressures } = this.#options;
    return new NodeObject({
      ...this.#reporter.status(),
      nodeName,
      transport: heartbeatClient,
      ...shared,
      labels: settings.nodeLabels,
      ...identityOf(settings),
      ...(settings.providerID !== undefined && { providerID: settings.providerID }),
      registerNode: settings.registerNode,
      removeOnStop: given.removeOnStop ?? false,
      statusUpdateFrequencyMs: settings.nodeStatusUpdateFrequencyMs,
      statusReportFrequencyMs: settings.nodeStatusReportFrequencyMs,
      leaseDurationSeconds: settings.nodeLeaseDurationSeconds,
      readiness: () => this.#readiness(),
      pressures,
      eventRecorder,
    });
  }

  #context(pod: Pod, others: readonly Pod[]): AdmissionContext {
    const known = this.known();
    // a pod that has its devices is compared with as much as all pods have of them
    const allocatable = { ...known.status?.allocatable, ...this.#options.devices()?.allocatableFor(podUIDOf(pod)) };
    const node = { ...known, status: { ...known.status, allocatable } };
    return { pod, others, node, pressures: this.#options.pressures() };
  }

  /** What the machine has, and what device plugins have. */
  #resourcesNow(): NodeResources {
    const { capacity, allocatable } = this.#options.devices()?.counts() ?? {};
    return {
      capacity: { ...this.resources.capacity, ...capacity },
      allocatable: { ...this.resources.allocatable, ...allocatable },
    };
  }

  /** The node as the apiserver has it; where it has none, as the agent will create it. */
  known(): WireNode {
    const { nodeName, settings } = this.#agent;
    const known: WireNode = this.object.newest ?? {
      metadata: {
        name: nodeName,
        labels: { 'kubernetes.io/hostname': nodeName, 'kubernetes.io/os': 'linux', ...settings.nodeLabels },
      },
      status: this.#reporter.status() as WireNode['status'] & object,
    };
    // resources that others have set count, the agent's own are as the agent says
    const allocatable = { ...known.status?.allocatable, ...this.resources.allocatable };
    return { ...known, status: { ...known.status, allocatable } };
  }

  /** That of the Node, or else the one that was given. */
  #range(): string {
    const { podCIDR, podCIDRs } = this.object.newest?.spec ?? {};
    const ofNode = podCIDRs?.length ? podCIDRs.join(',') : podCIDR;
    return ofNode || this.#agent.settings.podCIDR;
  }

  #readiness(): NodeReadiness {
    const { ok, message } = this.#options.pleg.healthy();
    const { runtimeWatch } = this;
    const silent = ok ? undefined : `PLEG is not healthy: ${message}`;
    const errors = [runtimeWatch.runtimeError(), runtimeWatch.networkError(), silent, this.shutdown?.notReady()];
    const found = errors.filter((error) => error !== undefined);
    if (found.length === 0) return { ready: true };
    return { ready: false, message: found.length === 1 ? (found[0] ?? '') : `[${found.join(', ')}]` };
  }
}

/** pkg/kubelet/nodestatus/setters.go MachineInfo. */
function mostPods({ maxPods, podsPerCore }: ResolvedSettings, { cpus }: Machine): number {
  return podsPerCore > 0 ? Math.min(cpus * podsPerCore, maxPods) : maxPods;
}

function isNotReady(node: WireNode | undefined): boolean {
  return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True';
}

/** Behaviour of initialNode in pkg/kubelet/kubelet_node_status.go and of NodeAddress in pkg/kubelet/nodestatus, v1.36.3. */
function identityOf(settings: ResolvedSettings): Pick<NodeObjectOptions, 'taints' | 'annotations'> {
  const { registerWithTaints, externalCloudProvider, nodeIPs } = settings;
  if (!externalCloudProvider) return { taints: registerWithTaints };
  const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
  const specified = nodeIPs.filter((address) => !isUnspecified(parseAddress(address)?.text ?? address));
  const annotations = { 'alpha.kubernetes.io/provided-node-ip': specified.join(',') };
  return { taints: [...registerWithTaints, taint], ...(specified.length > 0 && { annotations }) };
}

/** pkg/util/node GetNodeHostIPs: at most one address of each family, those of the cluster's network first. */
function hostIPsOf(node: WireNode | undefined): string[] {
  const ofType = (type: string) => (node?.status?.addresses ?? []).filter((each) => each.type === type);
  const all = [...ofType('InternalIP'), ...ofType('ExternalIP')].map(({ address }) => address).filter((ip) => isIP(ip) !== 0);
  const second = all.find((ip) => isIP(ip) !== isIP(all[0] ?? ''));
  return [...all.slice(0, 1), ...(second === undefined ? [] : [second])];
}
