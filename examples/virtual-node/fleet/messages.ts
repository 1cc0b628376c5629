import type { PodStatus } from 'pod-status-manager';

// What the run and its members say to each other, as lines of JSON over the channel between their processes.

/** What a member's process is told at its start. */
export interface MemberSettings {
  /** The path of a kubeconfig. */
  readonly kubeconfig: string;
  readonly fleet: string;
  /** Where the Leases of the fleet lie. */
  readonly namespace: string;
  readonly id: string;
  readonly nodes: readonly string[];
  readonly shards: number;
  readonly leaseDurationMs: number;
  /** Where its debug page is served; undefined is nowhere. */
  readonly debugPort: number | undefined;
}

/** A pod as the cloud has it. */
export interface CloudPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  /** Grows with each change. The status has it in its message, so that everybody can tell which of two statuses is the newer one. */
  version: number;
  ready: boolean;
  restarts: number;
  startedAt: string;
}

/** A call of a provider. */
export type CloudCall =
  | { readonly call: 'create'; readonly pod: Pick<CloudPod, 'uid' | 'namespace' | 'name' | 'nodeName'> }
  | { readonly call: 'delete' | 'get'; readonly uid: string }
  | { readonly call: 'list'; readonly nodeName: string };

/** How a member is, a few times a second. */
export interface MemberState {
  readonly isMember: boolean;
  readonly shards: number;
  readonly moving: number;
  readonly running: number;
  readonly failed: number;
  readonly notes: readonly string[];
}

export type FromMember =
  | { readonly kind: 'call'; readonly id: number; readonly asked: CloudCall }
  | { readonly kind: 'state'; readonly state: MemberState }
  | { readonly kind: 'page'; readonly url: string }
  | { readonly kind: 'warning'; readonly text: string };

export type ToMember =
  | { readonly kind: 'answer'; readonly id: number; readonly pods: readonly CloudPod[]; readonly failure: string | undefined }
  /** Something of a pod has changed. */
  | { readonly kind: 'changed'; readonly uid: string; readonly nodeName: string };

/** The status that a pod of the cloud has. */
export function statusOfCloudPod({ version, ready, restarts, startedAt }: CloudPod): PodStatus {
  const state = { running: { startedAt } };
  const app = { name: 'app', image: 'app:1', imageID: 'app:1', ready, restartCount: restarts, started: true, state };
  return { phase: 'Running', message: `version ${version}`, containerStatuses: [app] };
}

/** The version that a status tells; 0 for one that tells none. */
export function versionOfStatus(status: { readonly message?: string | undefined } | undefined): number {
  return Number(/^version (\d+)$/.exec(status?.message ?? '')?.[1] ?? 0);
}
