import type { Pod, PodStatus } from '../../../src/api/json/types.ts';
import type { ThresholdSettings } from '../../../src/kubelet/eviction/thresholds.ts';
import type { ContainerUsage, NodeUsage, PodUsage, Supply } from '../../../src/kubelet/eviction/usage.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** Something that an event says of the node or of a pod. */
export interface RecordedEvent {
  /** `node`, or the pod's name. */
  readonly about: string;
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What one step has led to. What is absent did not happen. */
export interface EvictionOutcome {
  /** True: the configuration breaks a rule. */
  readonly refused?: boolean;
  readonly evicted?: readonly string[];
  readonly killed?: readonly { readonly pod: string; readonly gracePeriodSeconds: number; readonly status: PodStatus }[];
  readonly events?: readonly RecordedEvent[];
  readonly reclaimed?: readonly string[];
  readonly pressures?: readonly string[];
  readonly admission?: { readonly admit: boolean; readonly reason?: string; readonly message?: string };
}

type RecordedNode = Omit<NodeUsage, 'hasDedicatedImagefs' | 'hasSplitContainerfs'>;
export type RecordedUsage = Omit<PodUsage, 'containers'> & {
  readonly containers: readonly (ContainerUsage & { readonly name: string })[];
};

/** What is freed when ended containers or unused images go: what becomes available, by file system. */
export interface Frees {
  readonly containers?: Readonly<Record<string, Supply>>;
  readonly images?: Readonly<Record<string, Supply>>;
  readonly containersFail?: boolean;
  readonly imagesFail?: boolean;
}

interface LookStep {
  readonly op: 'look';
  readonly seconds?: number;
  readonly node?: RecordedNode;
  readonly pods?: readonly Pod[];
  readonly usage?: Readonly<Record<string, RecordedUsage>>;
  readonly frees?: Frees;
}

interface AdmitStep {
  readonly op: 'admit';
  readonly seconds?: number;
  readonly pod: Pod;
}

export type EvictionStep = (LookStep | AdmitStep) & { readonly expect: EvictionOutcome };

/** A recording of what the kubelet's eviction manager does while the numbers of a node change. */
export interface EvictionCase extends KindCase {
  readonly config: Pick<ThresholdSettings, 'evictionHard' | 'evictionSoft' | 'evictionMinimumReclaim'> & {
    readonly softGraceSeconds?: Readonly<Record<string, number>>;
    readonly maxPodGraceSeconds: number;
    readonly transitionSeconds: number;
    readonly allocatable: boolean;
    readonly dedicatedImagefs: boolean;
    readonly splitContainerfs: boolean;
    readonly localStorageCapacityIsolation: boolean;
  };
  readonly steps: readonly EvictionStep[];
}

/** What is wrong with the case; undefined when it can be played. */
export function evictionCaseProblem(value: unknown): string | undefined {
  const { config, steps } = value as Partial<EvictionCase>;
  if (typeof config !== 'object' || config === null) return 'an eviction case without a configuration';
  if (!Array.isArray(steps)) return 'an eviction case without steps';
  for (const [index, step] of steps.entries()) {
    if (step?.op !== 'look' && step?.op !== 'admit') return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    if (step.op === 'admit' && !step.pod) return `step ${index}: no pod`;
    if (typeof step.expect !== 'object' || step.expect === null) return `step ${index}: no expectation`;
  }
  return undefined;
}
