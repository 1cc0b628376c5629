import { isIP } from 'node:net';
import type { Pod, WireNode } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import type { NodePressures, NodeReadiness } from '../../node/node-object/node-conditions.ts';
import { NodeObject } from '../../node/node-object/node-object.ts';
import type { Admission } from '../../node/workers/sync-loop-options.ts';
import {
  type AdmissionCheck,
  admitPod,
  appArmorSupport,
  nodeKind,
  nodePressure,
  podSize,
  schedulerPredicates,
} from '../admission/pod-admission.ts';
import { allowedSysctls } from '../admission/sysctls.ts';
import { filesystemBytes, hasAppArmor } from '../machine/machine.ts';
import { machineNetwork, NodeAddresses } from '../machine/node-addresses.ts';
import { NodeReporter } from '../machine/node-reporter.ts';
import { type NodeResources, nodeResources, resourcesForPods } from '../machine/node-resources.ts';
import { OomWatch } from '../machine/oom-watch.ts';
import { RuntimeWatch } from '../machine/runtime-watch.ts';
import type { ClusterParts } from './agent-clients.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

export interface NodePartsOptions {
  readonly options: ResolvedAgentOptions;
  readonly cluster: ClusterParts;
  /** Why the node cannot take pods, in words; undefined where it can. */
  readonly notReady: () => string | undefined;
  readonly pressures: () => NodePressures;
  /** Why there is no memory for the pod; undefined where there is. */
  readonly tooLarge: (podUID: string) => string | undefined;
}

/** The node as the cluster sees it, and which pods it takes. */
export class NodeParts {
  readonly watch: RuntimeWatch;
  readonly object: NodeObject;
  readonly resources: NodeResources;
  /** What all pods together may use. */
  readonly forPods: ResourceQuantities;
  readonly #parts: NodePartsOptions;
  readonly #checks: readonly AdmissionCheck[];
  readonly #reporter: NodeReporter;
  readonly #addresses: NodeAddresses;
  readonly #ooms: OomWatch | undefined;
  #port: number;

  constructor(parts: NodePartsOptions) {
    this.#parts = parts;
    const { options, cluster, pressures } = parts;
    const { given, nodeName, settings, machine, timed, shared } = options;
    const { runtime, server, removeOnStop, network = machineNetwork } = given;
    this.#port = server === undefined ? 0 : (server.port ?? 10_250);
    this.#addresses = new NodeAddresses({ nodeName, given: settings.nodeIPs, network, ...timed });
    const size = { machine, rootBytes: filesystemBytes(settings.rootDirectory), maxPods: settings.maxPods };
    this.resources = nodeResources(size, settings);
    this.forPods = resourcesForPods(size, settings);
    this.watch = new RuntimeWatch({ runtime, ...timed, changed: () => this.object.changed() });
    this.#reporter = new NodeReporter({
      ...this.resources,
      machine,
      nodeName,
      runtime,
      addresses: this.#addresses,
      watch: this.watch,
      ...timed,
      port: () => this.#port,
      maxImages: settings.nodeStatusMaxImages,
      periodMs: settings.nodeStatusUpdateFrequencyMs,
      tell: (status) => this.object.setStatus(status),
    });
    this.object = new NodeObject({
      ...this.#reporter.status(),
      nodeName,
      transport: cluster.transport,
      ...shared,
      labels: settings.nodeLabels,
      taints: settings.registerWithTaints,
      ...(settings.providerID !== undefined && { providerID: settings.providerID }),
      registerNode: settings.registerNode,
      ...(removeOnStop !== undefined && { removeOnStop }),
      statusUpdateFrequencyMs: settings.nodeStatusUpdateFrequencyMs,
      statusReportFrequencyMs: settings.nodeStatusReportFrequencyMs,
      leaseDurationSeconds: settings.nodeLeaseDurationSeconds,
      readiness: () => this.#readiness(),
      pressures,
      eventRecorder: cluster.eventRecorder,
    });
    const nodeEvent = (reason: string, message: string): void => {
      cluster.eventRecorder.nodeEvent(nodeName, 'Warning', reason, message);
    };
    const { kernelLog } = machine;
    this.#ooms = kernelLog === undefined ? undefined : new OomWatch({ path: kernelLog, nodeEvent, ...timed });
    const isAppArmorThere = hasAppArmor();
    this.#checks = [
      podSize(parts.tooLarge),
      nodePressure,
      allowedSysctls(settings.allowedUnsafeSysctls, machine.kernelVersion),
      nodeKind,
      schedulerPredicates,
      appArmorSupport(() => isAppArmorThere),
    ];
  }

  /** The addresses of the node, the primary one first: those that were found, or else those that the apiserver has. */
  hostIPs(): readonly string[] {
    return this.#addresses.found ?? hostIPsOf(this.object.newest);
  }

  /** Whether a pod that is new on this node may run here. */
  admit(pod: Pod, others: readonly Pod[]): Admission {
    return admitPod(this.#checks, { pod, others, node: this.#node(), pressures: this.#parts.pressures() });
  }

  /** `port`: what the agent's own API has got; undefined where there is none. The cluster is told of it. */
  async start(port: number | undefined): Promise<void> {
    if (port !== undefined) this.#port = port;
    await Promise.all([this.watch.start(), this.#reporter.lookOnce()]);
    this.object.setStatus(this.#reporter.status());
    this.object.start();
    this.#reporter.start();
    this.#ooms?.start();
  }

  async stopLooking(): Promise<void> {
    await Promise.all([this.watch.stop(), this.#reporter.stop(), this.#ooms?.stop()]);
  }

  /** The node as the apiserver has it; where it has none, as the agent will create it. */
  #node(): WireNode {
    const { nodeName, settings } = this.#parts.options;
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

  #readiness(): NodeReadiness {
    const errors = [this.watch.runtimeError(), this.watch.networkError(), this.#parts.notReady()];
    const found = errors.filter((error) => error !== undefined);
    if (found.length === 0) return { ready: true };
    return { ready: false, message: found.length === 1 ? (found[0] ?? '') : `[${found.join(', ')}]` };
  }
}

/** pkg/util/node GetNodeHostIPs: at most one address of each family, those of the cluster's network first. */
function hostIPsOf(node: WireNode | undefined): string[] {
  const ofType = (type: string) => (node?.status?.addresses ?? []).filter((each) => each.type === type);
  const all = [...ofType('InternalIP'), ...ofType('ExternalIP')].map(({ address }) => address).filter((ip) => isIP(ip) !== 0);
  const second = all.find((ip) => isIP(ip) !== isIP(all[0] ?? ''));
  return [...all.slice(0, 1), ...(second === undefined ? [] : [second])];
}
