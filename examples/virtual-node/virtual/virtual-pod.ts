import type { Pod, PodStatus, WirePodStatus } from 'pod-status-manager';
import { podStatusFromContainers } from 'pod-status-manager/node';
import { Random } from '../random.ts';
import { kindOf, type PodKind, seedAnnotation } from './pod-template.ts';
import { VirtualContainer } from './virtual-container.ts';

/** What the provider knows of one pod. */
export class VirtualPod {
  readonly uid: string;
  readonly kind: PodKind;
  readonly restartPolicy: string;
  readonly random: Random;
  readonly initContainers: readonly VirtualContainer[];
  readonly containers: readonly VirtualContainer[];
  /** Undefined until the sandbox is up. */
  ip: string | undefined;
  /** Ends the pod's own life; a stop of its containers may follow. */
  readonly life = new AbortController();
  isStopping = false;

  constructor(pod: Pod) {
    const { metadata, spec } = pod;
    this.uid = metadata?.uid ?? '';
    this.kind = kindOf(pod);
    this.restartPolicy = spec?.restartPolicy ?? 'Always';
    this.random = new Random(Number(metadata?.annotations?.[seedAnnotation] ?? 0));
    this.initContainers = (spec?.initContainers ?? []).map((container) => new VirtualContainer(container, true));
    this.containers = (spec?.containers ?? []).map((container) => new VirtualContainer(container, false));
  }

  get allContainers(): readonly VirtualContainer[] {
    return [...this.initContainers, ...this.containers];
  }

  get isRunning(): boolean {
    return this.allContainers.some(({ isRunning }) => isRunning);
  }

  /** The status that follows from the containers; `previous` is the one before. */
  statusOf(pod: Pod, previous: PodStatus | undefined): WirePodStatus {
    const containers = this.allContainers.map(({ given }) => given);
    const podIPs = this.ip === undefined ? undefined : [this.ip];
    return podStatusFromContainers(pod, containers, { previous, podIPs, podIsTerminal: this.isStopping && !this.isRunning });
  }
}
