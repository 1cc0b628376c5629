import type { JsonObject } from '../../../src/api/json/types.ts';
import type { WirePod, WirePodCondition, WirePodStatus } from '../../../src/index.ts';

/** One step of a scenario, with what the upstream manager did. */
export interface Step {
  readonly op: string;
  readonly pod?: WirePod;
  readonly podUID?: string;
  readonly podUIDs?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  readonly status?: WirePodStatus;
  readonly containerID?: string;
  readonly value?: boolean;
  readonly seconds?: number;
  readonly verb?: 'get' | 'patch' | 'delete';
  readonly code?: number;
  readonly times?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly generation?: number;
  /** Set the status with the manager's resize conditions in front of its own. */
  readonly withResizeConditions?: boolean;
  readonly expect: Expectation;
}

export interface Expectation {
  readonly changed?: boolean;
  /** What an operation other than setPodStatus answered. */
  readonly result?: unknown;
  readonly calls?: readonly Call[];
  readonly notifications?: readonly Notification[];
  /** Left out where it is as after the step before. */
  readonly cache?: Readonly<Record<string, WirePodStatus>>;
  readonly server?: Readonly<Record<string, ServerPod>>;
  readonly resizeConditions?: ResizeConditions;
}

/** By pod uid; a pod without one is not in it. */
export type ResizeConditions = Readonly<Record<string, readonly WirePodCondition[]>>;

export interface Call {
  readonly verb: 'get' | 'patch' | 'delete';
  readonly namespace: string;
  readonly name: string;
  readonly patch?: JsonObject;
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
  readonly error?: number;
}

export interface Notification {
  readonly type: 'updated' | 'removed';
  readonly podUID: string;
  readonly isAdded?: boolean;
}

export interface ServerPod {
  readonly uid: string;
  readonly deleting?: boolean;
  readonly status: WirePodStatus;
}

/** A write that changed something on the server, by what it does. */
export type Write =
  | { readonly verb: 'patch'; readonly pod: string; readonly status: WirePodStatus }
  | { readonly verb: 'delete'; readonly pod: string; readonly uid: string; readonly gracePeriodSeconds: number };

export interface Scenario {
  readonly name: string;
  readonly start: string;
  readonly steps: readonly Step[];
}

export interface TableCase {
  readonly fn: string;
  readonly in: JsonObject;
  readonly out: unknown;
}
