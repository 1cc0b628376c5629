import type { Pod, PodStatus } from '../../../src/api/json/types.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** A container as the recorded runtime lists it. */
export interface RecordedContainer {
  readonly id: string;
  readonly name: string;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly image?: string;
  readonly imageRef?: string;
  readonly restartCount?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly active?: boolean;
}

export interface RecordedRuntime {
  readonly ips?: readonly string[];
  readonly containers?: readonly RecordedContainer[];
  /** The newest first. */
  readonly sandboxes?: readonly { readonly ready?: boolean; readonly ip?: string; readonly hostNetwork?: boolean }[];
}

/** The status that the kubelet makes of what its runtime says. */
export interface StatusesCase extends KindCase {
  /** With the apiserver's copy of the status. */
  readonly pod: Pod;
  readonly runtime: RecordedRuntime;
  /** The status manager's copy. */
  readonly previous?: PodStatus;
  readonly podIsTerminal: boolean;
  readonly nodeIP: string;
  /** Why a container could not be started last, by its name. */
  readonly reasons?: Readonly<Record<string, { readonly reason: string; readonly message?: string }>>;
  /** Probe results by container id. */
  readonly startup?: Readonly<Record<string, boolean>>;
  readonly readiness?: Readonly<Record<string, boolean>>;
  readonly out: { readonly status: PodStatus };
}

/** What is wrong with the case; undefined when it can be played. */
export function statusesCaseProblem(value: unknown): string | undefined {
  const { pod, runtime, podIsTerminal, nodeIP, out } = value as Partial<StatusesCase>;
  if (typeof pod !== 'object' || pod === null) return 'a statuses case without a pod';
  if (typeof runtime !== 'object' || runtime === null) return 'a statuses case without a view of the runtime';
  if (typeof podIsTerminal !== 'boolean' || typeof nodeIP !== 'string') return 'a statuses case without its circumstances';
  if (typeof out?.status !== 'object' || out.status === null) return 'a statuses case without an outcome';
  return undefined;
}
