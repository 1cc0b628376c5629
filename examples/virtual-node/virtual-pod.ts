import type { WirePod } from '../../src/index.ts';
import { kindLabel, type PodKind, seedAnnotation } from './pod-template.ts';
import { Random } from './random.ts';
import { VirtualContainer } from './virtual-container.ts';

/** What the runtime knows of one pod. */
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

  constructor({ metadata, spec }: WirePod) {
    this.uid = metadata?.uid ?? '';
    this.kind = (metadata?.labels?.[kindLabel] as PodKind | undefined) ?? 'web';
    this.restartPolicy = spec?.restartPolicy ?? 'Always';
    this.random = new Random(Number(metadata?.annotations?.[seedAnnotation] ?? 0));
    const hasInit = (spec?.initContainers ?? []).length > 0;
    this.initContainers = (spec?.initContainers ?? []).map((container) => new VirtualContainer(container, true, hasInit));
    this.containers = (spec?.containers ?? []).map((container) => new VirtualContainer(container, false, hasInit));
  }

  get allContainers(): readonly VirtualContainer[] {
    return [...this.initContainers, ...this.containers];
  }

  get isRunning(): boolean {
    return this.allContainers.some(({ isRunning }) => isRunning);
  }

  /** Every regular container has ended for good. */
  get isCompleted(): boolean {
    return this.containers.every(({ exitCode }) => exitCode !== undefined);
  }
}
